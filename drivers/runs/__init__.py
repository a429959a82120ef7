"""Execution of one workload on this process and its ranks: device, repetitions, records, checkpoints and profiles.

Used from outside: `workload_main`, `repetitions`, `checkpointing`, `device_selection`, `parallel_benefit`, profiles.
Plans of many runs belong in `drivers.experiments`.
"""
