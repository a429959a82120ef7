"""Functions and classes that `onekernel.py` exports: `minimize`, `run`, `compare`, `check`, `main` and their results.

Used from outside: `custom_problem`, `minimize`, `results`, `comparison` and `validation`, mostly by `onekernel.py`.
Programs belong in `drivers`; the kernel language and the algorithms belong in `core`.
"""
