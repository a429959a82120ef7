"""Communication between the ranks of a job: communicators, shared words, argument consistency and failures.

`Communicator` is the interface: `Mpi` over MPI, `Solo` for one process, `Rehearsal` and `TimedCommunicator` around
another one. Searches call collectives on it, and take work from a `SharedCounter`.

Other packages import `proxies`, `launcher`, `affinity` and `failures`; `cluster` exports communicators.
Every rank imports it, so MPI is imported inside functions. Starting jobs and timing messages do not belong here.
"""
