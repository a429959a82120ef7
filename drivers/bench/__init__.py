"""Benchmark of the speeds that the project promises, measured in turn and recorded (`python -m drivers.bench`).

Used from outside: `command_line.main` alone. `cases.toml` lists the cases, which run as cases of a plan
(`drivers.experiments`). Comparisons that a user asks for belong in `drivers.compare`; C programs for reference are in
`reference_programs/`.
"""
