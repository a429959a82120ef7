"""Command-line options as dataclasses: their declaration, output files, and the options of each family of workloads."""
