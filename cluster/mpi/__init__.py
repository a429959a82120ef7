"""Communication between the ranks of a job: communicators, shared words, argument consistency and failures.

Other packages import `proxies`, `launcher`, `affinity` and `failures`; `cluster` exports communicators.
Every rank imports it, so MPI is imported inside functions. Starting jobs and timing messages do not belong here.
"""
