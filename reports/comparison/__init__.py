"""Runs of equal work compared: speed-ups over one core, cautions, scaling, hybrid configurations, reference solvers.

`split_by_instance` sorts records, and `compare_section` makes a `ComparedSection` of each instance: `ComparedRuns` with
a `ComparedRun` for each device, `Caution`s, `ScalingCurve`s and a `SolverComparison`. Text, tables and files of a
report belong in `reports.pages`.
"""
