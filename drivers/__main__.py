"""`python -m drivers`: what there is to run, a line each."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from drivers.cli.exit_codes import DONE, run_driver
from drivers.workload.registry import all_workloads

OTHER_PROGRAMS = {
    "compare": "any workload on every device here: equal work, and a report of how fast each is",
    "reproduce": "a paper's tables and figures, run here and shown beside what was published",
    "overview": "the papers' workloads, some seconds each, on every device here: a table and a heat map",
    "check": "the functions of a problem of your own, tried",
    "bench": "the speeds that the project promises, measured in pairs",
}
"""Programs that are no workload."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the list; returns the exit code."""
    import argparse

    argparse.ArgumentParser(
        prog="python -m drivers", description="List the programs; `python -m drivers.NAME --help` explains each."
    ).parse_args(argv)
    lines = {one.name: one.title for one in all_workloads()} | OTHER_PROGRAMS
    width = max(map(len, lines))
    print("\n".join(f"python -m drivers.{name.ljust(width)}  {title}" for name, title in lines.items()))
    return DONE


if __name__ == "__main__":
    sys.exit(run_driver(main))
