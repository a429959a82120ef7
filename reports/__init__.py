"""Reports from records of runs (JSON Lines): rates, papers' exhibits, plots and Markdown pages.

A `Record` is a run. `records` reads and joins them, `statistics` has medians with intervals, `rates` the rates of
measured runs and their ratios, `papers` the published figures, and `pages` and `plots` show the result.
`python -m reports` is the command line. Nothing here runs a search or imports a device: `drivers` and `backends` do.
"""
