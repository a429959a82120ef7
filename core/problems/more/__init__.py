"""Further problems for local search, a package for each: instances with reader and generator, and the problem.

Others import `problem` of each package, and `max_cut.graphs` and `max_cut.k_cut`. Problems of the papers do not belong
here: each has its package in `core.problems`.
"""
