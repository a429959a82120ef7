"""Execution of one workload on this process and its ranks: device, repetitions, records, checkpoints and profiles."""
