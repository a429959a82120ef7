"""Problems: data that kernels read, the cost of a move in the kernel language, and a plain NumPy scorer for checks.

A `Problem` has an `Encoding` of its solutions, `Neighbourhood`s, a bundle of data and an `Evaluation`, whose functions
kernels call. Readers make instances from files, and problems take an instance.

Others import `problem`, `encodings`, `signatures`, `neighbourhood_checks`, `problem_errors` and all packages.
Searches, devices and ranks do not belong here. `python -m core.problems` fetches, lists and shows instances.
"""
