"""Failures of a job of ranks: a rank that fails, ends early, is killed or never starts, and a host that is cut off.

`docs/design/ranks.md` ("End and failure") says which event ends what, who notices it, after how long, and with which
exit code. `abort` ends a job, `liveness` notices ranks that are missing, `lost_hosts` hosts, and `survivors` continues
without killed ranks. Every rank imports the first three; waiting without a failure belongs to `cluster.mpi`.
"""
