"""Communication between the ranks of a job: communicators, shared words, liveness, consistency and fault tolerance.

Other packages import `proxies`, `launcher`, `abort`, `affinity`, `fault_tolerance`; `cluster` exports communicators.
Every rank imports it, so MPI is imported inside functions. Starting jobs and timing messages do not belong here.
"""
