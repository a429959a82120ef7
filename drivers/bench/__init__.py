"""Benchmark of the speeds that the project promises, measured in turn and recorded (`python -m drivers.bench`).

Used from outside: `main` alone. One module lists the cases of each family of workloads, `runner` runs them.
Comparisons that a user asks for belong in `drivers.compare`; C programs for reference are in `reference_programs/`.
"""

from drivers.bench.command_line import main

__all__ = ["main"]
