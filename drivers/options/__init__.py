"""Command-line options as dataclasses: their declaration, output files, and the options of each family of workloads.

Used from outside: all modules; `declaration` and `output_files` by every program.
Options of comparisons and reproductions belong in `drivers.experiments`.
"""
