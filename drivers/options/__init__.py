"""Command-line options as dataclasses: their declaration, tables of help texts (*.toml), types and output files.

Every program uses `declaration` and `output_files`. Options of comparisons and reproductions belong in
`drivers.experiments`.
"""
