"""Runs of equal work compared for papers, overviews and ranks: speed-ups over one core, and cautions.

`ComparedRuns` has a `ComparedRun` for each device. Comparisons have rates instead (`reports.rates`), and a table of
reference solvers.
"""
