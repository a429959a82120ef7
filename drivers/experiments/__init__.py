"""Plans of many runs, and their execution in separate processes, for comparisons and reproductions.

`compare`, `overview`, `reproduce`, `bench` and `drivers.library` (only `comparison_options`) use this package.
Statistics and pages belong in `reports`, a single run in `drivers.runs`.
"""
