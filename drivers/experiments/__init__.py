"""Plans of many runs, and their execution in separate processes: comparisons, overviews and reproductions.

`compare`, `overview`, `reproduce` and `drivers.library` (only `comparison_options`) use this package. Statistics and
pages belong in `reports`, a single run in `drivers.runs`.
"""
