"""Programs of `python -m cluster` that run a workload or read records: the rank measurement and the cluster model.

`cluster.programs` starts `check` and `model` by name. Launching, communicators and the model's formulas belong in
`cluster`.
"""
