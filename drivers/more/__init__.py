"""Programs of further problems for local search, a module each: `python -m drivers.labs` finds them here.

Programs of the papers' workloads belong in `drivers`; problems belong in `core.problems.more`.
"""
