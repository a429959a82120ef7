"""Plans of many runs, and their execution in processes of their own: comparisons, overviews and reproductions.

Used by the programs `compare`, `overview` and `reproduce`, and by `drivers.library` (`comparison_options` alone).
Statistics and pages belong in `reports`, a single run in `drivers.runs`.
"""
