"""Runs of equal work compared: speed-ups over one core, cautions, scaling, hybrid configurations, reference solvers.

Imported by drivers: `speedups` (`compare`, `NotRun`), `sections`, `overview` and `modelled_runs`.
The text, tables and files of a report do not belong here: see `reports.pages`.
"""
