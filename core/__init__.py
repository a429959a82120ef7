"""What is computed: the kernel language, kernels, problems and searches; knows no device and no rank."""
