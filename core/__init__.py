"""Computations: the kernel language, a package for each algorithm and problem, and what these share.

An algorithm's package has its kernels, the host's part, and its problem; `run`, `instances` and `tours` are shared.
Others import the packages, `arguments`, `program_parser`, `errors`, `standard_output`, `atomic_files`.
Devices, MPI ranks, result files and reports do not belong here.
"""
