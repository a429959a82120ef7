"""Program of `python -m cluster` that runs a workload: the measurement of ranks, which `cluster.programs` starts."""
