"""The command `onekernel`, and how every program acts on a terminal: exit codes, interrupts, messages, progress."""
