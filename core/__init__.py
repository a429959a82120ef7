"""Computations: the kernel language, a room for each algorithm and problem, and what these share.

A room has an algorithm's kernels, the host's part, and its problem; `run`, `instances` and `tours` serve several rooms.
Others import `lang`, the rooms, `arguments`, `program_parser`, `errors`, `standard_output`, `atomic_files`.
Devices, MPI ranks, result files and reports do not belong here.
"""
