"""Functions and classes that `onekernel` exports: `minimize`, `run`, `compare`, `check`, `main` and their results.

A call becomes option values of a workload; `run_workload` runs them as a program does, and `CollectedRepetitions` keeps
the solutions for a `Result` or `Results`. `onekernel` uses `custom_problem`, `minimize`, `results`, `comparison` and
`validation`. Programs belong in `drivers`, the kernel language and the algorithms in `core`.
"""
