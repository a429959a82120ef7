"""``python -m core.lang show FILE:KERNEL --as DIALECT``: what a device gets of a kernel.

Core knows no device, so it knows the command by its module's name alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from core.standard_output import run_watched

COMMANDS = {"show": "backends.show"}


def main() -> int:
    """Run the command that the first word names, and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m core.lang", description=__doc__)
    parser.add_argument("command", choices=COMMANDS, help="show: print a kernel as a device's compiler gets it")
    command = parser.parse_args(sys.argv[1:2]).command
    return int(importlib.import_module(COMMANDS[command]).main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(run_watched(main))
