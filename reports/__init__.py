"""Reports from records of runs (JSON Lines): statistics, comparisons, papers' exhibits, plots and Markdown pages.

Other packages import from its subpackages and `reports.runs`; `python -m reports` is the command line.
Nothing here runs a search or imports a device: that belongs to `drivers` and `backends`.
"""
