"""`python -m drivers`: a list of the programs, a line each."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from drivers.cli.exit_codes import DONE, run_driver
from drivers.console import DRIVERS, OTHER_PROGRAMS
from drivers.workload.registry import all_workloads


def main(argv: Sequence[str] | None = None) -> int:
    import argparse

    argparse.ArgumentParser(
        prog="python -m drivers", description="List the programs; `python -m drivers.NAME --help` explains each."
    ).parse_args(argv)
    lines = {workload.name: workload.title for workload in all_workloads()}
    lines |= {name: one.title for name, one in OTHER_PROGRAMS.items() if one.module.startswith(DRIVERS)}
    width = max(map(len, lines))
    print("\n".join(f"python -m drivers.{name.ljust(width)}  {title}" for name, title in lines.items()))
    return DONE


if __name__ == "__main__":
    sys.exit(run_driver(main))
