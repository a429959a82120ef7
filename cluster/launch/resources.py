"""Resources for ranks: launchers, cores, GPUs, and the allocation of the batch system."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cluster.launch.commands import find_mpirun
from cluster.mpi.affinity import PROCESSORS, allowed_processors

ALLOCATION = "SLURM_JOB_ID"
"""Set by Slurm inside an allocation."""


class SlurmAllocation(NamedTuple):
    """What a batch system has given to this job.

    Attributes
    ----------
    nodes : int
        Hosts.
    tasks : int or None
        Ranks that were asked for; None: nobody said.
    gpus : int or None
        On each host; None: nobody said.

    """

    nodes: int
    tasks: int | None
    gpus: int | None


class LaunchResources(NamedTuple):
    """Where a job is to be started.

    Attributes
    ----------
    cores, gpus : int
        Of this machine.
    mpirun : str or None
        Open MPI's launcher; None: there is none.
    mpirun_takes_allocation : bool
        Whether it starts ranks by itself on the hosts of an allocation.
    srun : str or None
        Slurm's launcher, if it speaks PMIx, as the ranks' MPI does.
    allocation : Allocation or None
        None: this is none.
    environment : Mapping of str to str
        Of this process.
    is_root : bool
        Whether its user is root, whom Open MPI asks whether that is meant.

    """

    cores: int
    gpus: int
    mpirun: str | None
    mpirun_takes_allocation: bool
    srun: str | None
    allocation: SlurmAllocation | None
    environment: Mapping[str, str]
    is_root: bool


def find_resources(environment: Mapping[str, str]) -> LaunchResources:
    """Look at what is here; programs are asked only inside an allocation."""
    allocation = find_allocation(environment)
    launcher = find_mpirun()
    return LaunchResources(
        cores=count_cores(),
        gpus=count_gpus(environment),
        mpirun=launcher,
        mpirun_takes_allocation=allocation is not None and launcher is not None and takes_allocation(launcher),
        srun=None if allocation is None else srun_with_pmix(),
        allocation=allocation,
        environment=environment,
        is_root=os.geteuid() == 0,
    )


def find_allocation(environment: Mapping[str, str]) -> SlurmAllocation | None:
    """Slurm's allocation, if this process is inside one."""
    if ALLOCATION not in environment:
        return None

    def number(*names: str) -> int | None:
        found = (environment.get(name, "") for name in names)
        return next((int(text) for text in found if text.isdecimal()), None)

    # As in "4", "a100:4" or "gpu:a100:4".
    gpus_asked = re.search(r"(\d+)$", environment.get("SLURM_GPUS_ON_NODE", environment.get("SLURM_GPUS_PER_NODE", "")))
    return SlurmAllocation(
        number("SLURM_JOB_NUM_NODES", "SLURM_NNODES") or 1,
        number("SLURM_NTASKS", "SLURM_NPROCS"),
        int(gpus_asked[1]) if gpus_asked else None,
    )


def count_cores(described: Path = PROCESSORS) -> int:
    """Cores of this machine that this process may use, as Open MPI counts them: two threads of one are one."""
    return len(allowed_processors(described))


def count_gpus(environment: Mapping[str, str], devices: Path = Path("/dev")) -> int:
    """NVIDIA's GPUs of this machine, less those that `CUDA_VISIBLE_DEVICES` hides; no driver is loaded for it."""
    present = sum(bool(re.fullmatch(r"nvidia\d+", path.name)) for path in devices.glob("nvidia*"))
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return present
    # Those behind the first that is none, such as -1, are hidden too.
    shown = 0
    for one in visible.split(","):
        if not re.fullmatch(r"\s*(\d+|GPU-\S+|MIG-\S+)\s*", one):
            break
        shown += 1
    return min(present, shown)


def takes_allocation(launcher: str) -> bool:
    """Whether Open MPI's runtime was built with support for Slurm's allocations; it says what it has."""
    info = Path(launcher).with_name("prte_info")
    if not info.exists():
        return False
    done = subprocess.run([info], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return bool(re.search(r"^\s*MCA ras: slurm\b", done.stdout, re.MULTILINE))


def srun_with_pmix() -> str | None:
    """Slurm's launcher, if its list of ways to start MPI has PMIx."""
    launcher = shutil.which("srun")
    if launcher is None:
        return None
    done = subprocess.run(
        [launcher, "--mpi=list"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    return launcher if re.search(r"\bpmix\b", done.stdout + done.stderr) else None
