"""`python -m cluster`: starts a program about the ranks and hosts that other programs run on."""

from __future__ import annotations

import runpy
import sys

from cluster.command_line import run
from cluster.mpi import launcher
from core.program_parser import COMMAND, ConsoleProgram, format_list, invocation, refuse_unknown

MODULE = "cluster"
PROGRAMS = {
    "launch": ConsoleProgram("start a program over ranks, here, on a list of hosts or in Slurm", "cluster.launch.job"),
    "slurm": ConsoleProgram("write a Slurm batch script that requeues an unfinished job", "cluster.launch.slurm"),
    "setup": ConsoleProgram("set up this environment's mpirun for many ranks on few cores", "cluster.setup"),
}


def main() -> int:
    """Run the program named by the first argument, or list all programs; returns the exit code."""
    called = invocation(MODULE)
    words = sys.argv[1:]
    name, rest = (words[0], words[1:]) if words else ("--help", [])
    if name in ("--help", "-h"):
        if launcher.rank() == 0:
            listed = format_list({name: program.title for name, program in PROGRAMS.items()})
            print(f"usage: {called} PROGRAM [options]\n\n{listed}\n\n`{called} PROGRAM --help` describes a program.")
        return 0
    if name not in PROGRAMS:
        refuse_unknown(called, name, list(PROGRAMS))
    # By "-m" the drivers' package sees that this process runs one of its programs.
    sys.argv = [f"{called} {name}" if called.startswith(COMMAND) else "-m", *rest]
    runpy.run_module(PROGRAMS[name].module, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
