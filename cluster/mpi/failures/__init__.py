"""Failures of a job of ranks: a rank that fails, ends early, is killed or never starts, and a host that is cut off.

`docs/design/ranks.md` ("End and failure") lists the events with their detection, delay and exit code. `abort` ends a
job, `liveness` detects missing ranks, `lost_hosts` detects lost hosts, and `survivors` continues without killed ranks.
Every rank imports the first three; waiting without a failure belongs to `cluster.mpi`.
"""
