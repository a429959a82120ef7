"""Functions and classes that `onekernel.py` exports: `minimize`, `run`, `compare`, `check`, `main` and their results.

A call becomes option values of a workload; `run_workload` runs them as a program does, and `CollectedRepetitions` keeps
the solutions. The caller gets a `Result` or `Results`.

Used from outside: `custom_problem`, `minimize`, `results`, `comparison` and `validation`, mostly by `onekernel.py`.
Programs belong in `drivers`; the kernel language and the algorithms belong in `core`.
"""
