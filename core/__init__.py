"""Computations: the kernel language, kernels, problems and searches; also argument checks and the command-line parser.

Others import `lang`, `problems`, `search`, `arguments`, `program_parser`, `errors`, `standard_output`, `atomic_files`.
Devices, MPI ranks, result files and reports do not belong here.
"""
