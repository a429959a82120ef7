"""Plans of many runs, and their execution in separate processes: comparisons, overviews, reproductions,
and the benchmark.

`compare`, `overview`, `reproduce`, `bench` and `drivers.library` (only `comparison_options`) use this package. Statistics and
pages belong in `reports`, a single run in `drivers.runs`.
"""
