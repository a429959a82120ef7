"""Runs of equal work compared: speed-ups over one core, cautions, scaling, hybrid configurations, reference solvers.

Imported by drivers: `speedups` (`compare`, `NotRun`), `sections` and `overview`.
The text, tables and files of a report do not belong here: see `reports.pages`.
"""
