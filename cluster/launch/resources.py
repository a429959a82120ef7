"""Resources for ranks: launchers, cores, GPUs, and the allocation of the batch system."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from cluster.launch.commands import find_mpirun, is_hydra, prints
from cluster.mpi.affinity import PROCESSORS, allowed_processors
from core.granted_cores import granted_cores

ALLOCATION = "SLURM_JOB_ID"
"""Set by Slurm inside an allocation."""


class SlurmAllocation(NamedTuple):
    """Allocation of the batch system: hosts, requested ranks, and GPUs of each host; None if not given."""

    nodes: int
    tasks: int | None
    gpus: int | None


class LaunchResources(NamedTuple):
    """Resources for the start of a job: cores and GPUs of this machine, and launchers.

    ``mpirun`` is MPI's launcher, if installed; it ``is_hydra`` if MPICH or Intel MPI started the ranks. ``srun`` is
    Slurm's, if it supports PMIx like the ranks' MPI, and ``mpirun`` does not start ranks on the hosts of an allocation
    by itself. If the user ``is_root``, Open MPI requires confirmation.
    """

    cores: int
    gpus: int
    mpirun: str | None
    srun: str | None
    allocation: SlurmAllocation | None
    environment: Mapping[str, str]
    is_root: bool
    is_hydra: bool = False


def find_resources(environment: Mapping[str, str]) -> LaunchResources:
    """Find the resources of this machine; programs are called only inside an allocation."""
    allocation = find_allocation(environment)
    launcher = find_mpirun()
    return LaunchResources(
        cores=count_cores(),
        gpus=count_gpus(environment),
        mpirun=launcher,
        srun=None if allocation is None or (launcher and takes_allocation(launcher)) else srun_with_pmix(),
        allocation=allocation,
        environment=environment,
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        is_hydra=launcher is not None and is_hydra(launcher),
    )


def find_allocation(environment: Mapping[str, str]) -> SlurmAllocation | None:
    if ALLOCATION not in environment:
        return None

    def number(*names: str) -> int | None:
        values = (environment.get(name, "") for name in names)
        return next((int(text) for text in values if text.isdecimal()), None)

    # As in "4", "a100:4" or "gpu:a100:4".
    gpus_asked = re.search(r"(\d+)$", environment.get("SLURM_GPUS_ON_NODE", environment.get("SLURM_GPUS_PER_NODE", "")))
    return SlurmAllocation(
        number("SLURM_JOB_NUM_NODES", "SLURM_NNODES") or 1,
        number("SLURM_NTASKS", "SLURM_NPROCS"),
        int(gpus_asked[1]) if gpus_asked else None,
    )


def count_cores(described: Path = PROCESSORS) -> int:
    """Count the cores that this process may use; two threads of a core are one, as for Open MPI."""
    return granted_cores(len(allowed_processors(described)), "cpu")


def count_gpus(environment: Mapping[str, str], devices: Path = Path("/dev")) -> int:
    """Count this machine's NVIDIA GPUs, without those hidden by `CUDA_VISIBLE_DEVICES`; loads no driver."""
    present = sum(bool(re.fullmatch(r"nvidia\d+", path.name)) for path in devices.glob("nvidia*"))
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return present
    # Those after the first invalid entry, such as -1, are hidden too.
    shown = takewhile(re.compile(r"\s*(\d+|GPU-\S+|MIG-\S+)\s*").fullmatch, visible.split(","))
    return min(present, len(list(shown)))


def takes_allocation(launcher: str) -> bool:
    """Return True if Hydra, or Open MPI's runtime built with Slurm's support, finds the hosts of an allocation."""
    if is_hydra(launcher):
        return True
    info = Path(launcher).with_name("prte_info")
    return info.exists() and prints(r"^\s*MCA ras: slurm\b", str(info))


def srun_with_pmix() -> str | None:
    """Return Slurm's launcher, if its list of MPI plugins has PMIx."""
    launcher = shutil.which("srun")
    return launcher if launcher and prints(r"\bpmix\b", launcher, "--mpi=list") else None
