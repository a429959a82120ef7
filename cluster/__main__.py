"""`python -m cluster`: starts what `cluster.programs` lists.

Imports next to nothing before it knows which program is meant: 64 ranks may start `check` at once on two cores.
"""

from __future__ import annotations

import os
import runpy
import sys

from cluster.command_line import run
from cluster.mpi import launcher
from cluster.programs import PROGRAMS
from core.program_parser import COMMAND, COMPLETION_VARIABLE, CompletingParser, invocation, refuse_unknown

MODULE = "cluster"


def main() -> int:
    """Run the program that the first argument names, or list them all; returns the exit code."""
    called = invocation(MODULE)
    words = sys.argv[1:]
    name, rest = (words[0], words[1:]) if words else ("--help", [])
    if COMPLETION_VARIABLE in os.environ:
        if name not in PROGRAMS:
            complete(called)
        # A number: how many words are the program's name.
        os.environ[COMPLETION_VARIABLE] = str(len(called.split()) + 1)
    if name in ("--help", "-h"):
        if launcher.rank() == 0:
            print(listed(called))
        return 0
    if name not in PROGRAMS:
        refuse_unknown(called, name, list(PROGRAMS))
    # By "-m" the drivers' package knows that this process runs one of its programs and nothing else.
    sys.argv = [f"{called} {name}" if called.startswith(COMMAND) else "-m", *rest]
    runpy.run_module(PROGRAMS[name].module, run_name="__main__")
    return 0


def listed(called: str) -> str:
    """What there is to run, a line each."""
    width = max(map(len, PROGRAMS))
    lines = "\n".join(f"{name.ljust(width)}  {one.title}" for name, one in PROGRAMS.items())
    return f"usage: {called} PROGRAM [options]\n\n{lines}\n\n`{called} PROGRAM --help` describes a program."


def complete(called: str) -> None:
    """Tell a shell which programs there are, and end."""
    parser = CompletingParser(prog=called)
    parser.add_argument("program", choices=PROGRAMS)
    parser.parse_args([])


if __name__ == "__main__":
    sys.exit(run(main))
