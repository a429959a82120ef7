"""Problems: data that kernels read, the cost of a move in the kernel language, and a plain NumPy scorer for checks.

Others import `problem`, `encodings`, `signatures`, `neighbourhood_checks`, `problem_errors` and all packages.
Searches, devices and ranks do not belong here. `python -m core.problems` fetches, lists and shows instances.
"""
