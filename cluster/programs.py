"""The programs of `python -m cluster`: about the ranks and hosts that other programs run on."""

from __future__ import annotations

from core.program_parser import ConsoleProgram

PROGRAMS = {
    "check": ConsoleProgram(
        "measure the ranks it is started with: messages, reductions, speed", "drivers.cluster_programs.check"
    ),
    "launch": ConsoleProgram(
        "start a program over ranks, here, on a list of hosts or within Slurm", "cluster.launch.job"
    ),
    "slurm": ConsoleProgram("write a Slurm batch script that requeues an unfinished job", "cluster.launch.slurm"),
    "setup": ConsoleProgram("set up this environment's mpirun for many ranks on few cores", "cluster.setup"),
}
