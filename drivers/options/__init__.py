"""Command-line options as dataclasses: their declaration, tables of help texts (*.toml), types and output files.

Used from outside: all modules; `declaration` and `output_files` by every program.
Options of comparisons and reproductions belong in `drivers.experiments`.
"""
