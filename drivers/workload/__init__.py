"""Declaration of a workload, the registry of all workloads, and code that several workloads share.

Used from outside: all modules, most of all `declaration`, `registry` and `run_time`.
Execution of a workload belongs in `drivers.runs`, its command line in `drivers.options`.
"""
