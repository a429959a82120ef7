"""The local search template (`luong2013`, algorithms 1 and 2) as kernels: walks, moves, scans, steps and history.

Problems import `moves`, `walks` and `hooks`. The search launches the kernels of `template`, `hook_checks` and others.
Functions of single problems belong in the problem's package.
"""
