"""Declaration of a workload, the registry of all workloads, and code that several workloads share.

Other packages mostly use `declaration`, `registry` and `run_time`. Execution of a workload belongs in `drivers.runs`,
its command line in `drivers.options`.
"""
