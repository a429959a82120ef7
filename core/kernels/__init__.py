"""The logic of the algorithms, written once in the kernel language; no kernel knows what device it runs on."""
