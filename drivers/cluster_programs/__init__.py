"""Programs of `python -m cluster` that run a workload or read records: the rank measurement and the cluster model.

`cluster.programs` starts `check` and `model` by name. Nothing else is imported from outside.
Launching, communicators and the formulas of the model belong in the top-level package `cluster`.
"""
