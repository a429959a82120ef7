"""Benchmark of the speeds that the project promises, measured in turn and recorded (`python -m drivers.bench`).

`build_cases` makes a `BenchmarkCase` of each row of `cases.toml` and its devices. `run_in_turn` runs its candidates,
`EqualWork` compares their results, and `show_case` prints the table.

Used from outside: `command_line.main` alone. `cases.toml` lists the cases, which run as cases of a plan
(`drivers.experiments`). Comparisons that a user asks for belong in `drivers.compare`; C programs for reference are in
`reference_programs/`.
"""
