"""Programs of `python -m cluster` that run a workload or read records: the rank measurement and the cluster model."""
