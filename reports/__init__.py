"""Reports from records of runs (JSON Lines): statistics, comparisons, papers' exhibits, plots and Markdown pages.

A `Record` is a run. `records` reads and joins them, `statistics` summarises repetitions and seeds, `rates` has the
rates of measured runs, `comparison` puts times of equal work side by side, and `pages` and `plots` show the result.
`python -m reports` is the command line. Nothing here runs a search or imports a device: `drivers` and `backends` do.
"""
