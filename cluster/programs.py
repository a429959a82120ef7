"""The programs of `python -m cluster`: about the ranks and hosts that other programs run on."""

from __future__ import annotations

from typing import NamedTuple


class ClusterProgram(NamedTuple):
    """A program of this package: a line of description, and the name of its module.

    It is a name, since some modules import packages that this one must not.
    """

    title: str
    module: str


PROGRAMS = {
    "check": ClusterProgram(
        "measure the ranks it is started with: messages, reductions, speed", "drivers.cluster_programs.check"
    ),
    "launch": ClusterProgram(
        "start a program over ranks, here, on a list of hosts or within Slurm", "cluster.launch.job"
    ),
    "slurm": ClusterProgram("write a Slurm batch script that requeues an unfinished job", "cluster.launch.slurm"),
    "setup": ClusterProgram("set up this environment's mpirun for many ranks on few cores", "cluster.setup"),
}
