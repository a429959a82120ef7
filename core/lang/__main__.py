"""``python -m core.lang show FILE:KERNEL --as DIALECT``: print a kernel as a device's compiler gets it.

Core knows no device, so it has only the name of the command's module.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from core.standard_output import run_watched

COMMANDS = {"show": "backends.show"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m core.lang", description=__doc__)
    parser.add_argument("command", choices=COMMANDS, help="show: print a kernel as a device's compiler gets it")
    return int(importlib.import_module(COMMANDS[parser.parse_args(sys.argv[1:2]).command]).main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(run_watched(main))
