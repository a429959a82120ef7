"""Declaration of a workload, the registry of all workloads, and code that several workloads share."""
