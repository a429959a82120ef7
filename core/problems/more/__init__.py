"""Further problems for local search, each in a folder: instances, their reader and generator, and the kernels.

Others import `problem` of a folder (and `max_cut.k_cut`, `max_cut.qubo`); commands are rows of `drivers.workload.more`.
Problems that a paper measures have packages of their own beside this one.
"""
