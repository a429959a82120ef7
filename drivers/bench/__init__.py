"""Benchmark of the speeds that the project promises, measured in turn and recorded (`python -m drivers.bench`).

`build_cases` makes a `BenchmarkCase` of each row of `cases.toml` and its devices. `run_in_turn` runs its candidates as
cases of a plan (`drivers.experiments`), `EqualWork` compares results, and `show_case` prints the table. C programs for
reference are in `reference_programs/`. Only `command_line.main` is used from outside; comparisons that a user requests
belong in `drivers.compare`.
"""
