"""Command that starts a job: number of ranks, hosts, binding and environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from cluster.launch.commands import HYDRA_UNBOUND
from cluster.launch.host_file import Host
from cluster.launch.resources import LaunchResources
from core.errors import UserError

FORWARDED = ("TSPLIB_DIR", "PYTHONPATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "PYTHONDONTWRITEBYTECODE")
FORWARDED_PREFIX = "ONEKERNEL_"
"""Prefix of variables that are sent to ranks of other hosts."""
LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


class LaunchRequest(NamedTuple):
    """The user's request: ``ranks`` in all, and ``per_host``.

    ``hosts`` is the content of the host file at ``path``. The job continues after a rank is killed if
    ``fault_tolerant``. ``further`` are options of the launcher.
    """

    ranks: int | None
    path: str | None = None
    hosts: list[Host] | None = None
    per_host: int | None = None
    fault_tolerant: bool = False
    further: Sequence[str] = ()


class LaunchCommand(NamedTuple):
    """A command, and messages about it for the user."""

    words: list[str]
    notes: list[str]


class RankLayout(NamedTuple):
    """Distribution of ranks over hosts: ``per_host``, or None for the number of slots.

    A rank is bound to ``cores_each`` cores; None for no binding by number. ``is_crowded`` is True if there are more
    ranks than slots.
    """

    ranks: int
    per_host: int | None
    cores_each: int | None
    is_crowded: bool
    notes: list[str]


def plan_launch(asked: LaunchRequest, started: Sequence[str], resources: LaunchResources) -> LaunchCommand:
    """Return the command that starts a program over ranks; refuses if there is no launcher or the ranks do not fit."""
    allocation = resources.allocation
    if allocation is not None and asked.hosts is not None:
        raise UserError(
            f"--hosts {asked.path}: found a Slurm allocation, which names the hosts; expected only one of the two"
        )
    layout = plan_layout(asked, resources, cores_per_rank(started))
    if allocation is not None and resources.srun:
        words = srun_words(asked, layout, resources.srun)
    elif resources.mpirun is not None and resources.is_hydra:
        words = hydra_words(asked, layout, resources.mpirun)
    elif resources.mpirun is not None:
        words = mpirun_words(asked, layout, resources.mpirun, resources)
    else:
        raise UserError(
            "found no mpirun beside this Python or on the path, expected one: pip install 'onekernel[mpi]', or load "
            "the site's MPI (with MPI4PY_MPIABI=mpich or impi its mpiexec.hydra is expected on the path)"
        )
    return LaunchCommand([*words, *asked.further, *started], layout.notes)


def cores_per_rank(started: Sequence[str]) -> int | None:
    """Return the cores that a program's arguments give to each rank; None if they do not say."""
    cores = None
    for word, after in zip(started, [*started[1:], ""], strict=True):
        value = after if word == "--cores" else word.removeprefix("--cores=") if word.startswith("--cores=") else ""
        if re.fullmatch("[0-9]{1,9}", value) and int(value):
            cores = int(value)
    return cores


# --- how many, and where ---


def plan_layout(asked: LaunchRequest, resources: LaunchResources, cores_each: int | None) -> RankLayout:
    """Return number and distribution of ranks; a rank of several cores uses one slot for each."""
    notes: list[str] = []
    hosts = number_of_hosts(asked, resources)
    per_host = asked.per_host
    allocation = resources.allocation
    # Without an allocation, all hosts are assumed to have the GPUs of this machine.
    gpus = resources.gpus if allocation is None or allocation.gpus is None else allocation.gpus
    if asked.ranks is None and per_host is None and gpus:
        per_host = gpus
        notes.append(f"a rank for each of {gpus} GPUs{' of every host' if hosts > 1 else ''} (-n says otherwise)")
    if per_host is None and cores_each and asked.hosts and all(host.slots for host in asked.hosts):
        per_host = max(1, min(host.slots or 1 for host in asked.hosts) // cores_each)
    slots = count_slots(asked, resources)
    ranks = asked.ranks or (per_host * hosts if per_host else None)
    ranks = ranks or (max(1, (slots or hosts) // (cores_each or 1)))
    if asked.ranks and per_host and not asked.per_host:
        # This is an estimate; the user's number of ranks may exceed it.
        per_host = max(per_host, ceil(ranks / hosts))
    if per_host and ranks > per_host * hosts:
        raise UserError(
            f"-n {ranks}: found room for {per_host * hosts}, expected --per-host {ceil(ranks / hosts)} or more"
        )
    require_max_slots(asked, ranks, per_host)
    needed = ranks * (cores_each or 1)
    is_crowded = slots is not None and needed > slots
    if is_crowded:
        cores = f" of {cores_each} cores each" if cores_each else ""
        what = "slots" if asked.hosts or resources.allocation else "cores"
        notes.append(f"oversubscribed: {ranks} ranks{cores} on {slots} {what}, which they share unbound")
    elif cores_each:
        notes.append(f"each rank is bound to {cores_each} core{'s' if cores_each > 1 else ''} (--cores)")
    return RankLayout(ranks, per_host, None if is_crowded else cores_each, is_crowded, notes)


def number_of_hosts(asked: LaunchRequest, resources: LaunchResources) -> int:
    return len(asked.hosts) if asked.hosts else resources.allocation.nodes if resources.allocation else 1


def count_slots(asked: LaunchRequest, resources: LaunchResources) -> int | None:
    """Return the number of slots for ranks of one core; None if only the hosts know it."""
    if asked.hosts:
        slots_of_hosts = [host.slots or (resources.cores if host.name in LOCAL_NAMES else None) for host in asked.hosts]
        return None if None in slots_of_hosts else sum(slots for slots in slots_of_hosts if slots)
    if resources.allocation is not None:
        return resources.allocation.tasks
    return resources.cores


def require_max_slots(asked: LaunchRequest, ranks: int, per_host: int | None) -> None:
    hosts = asked.hosts or []
    for host in hosts:
        if host.most is not None and per_host is not None and per_host > host.most:
            raise UserError(
                f"{asked.path}:{host.line}: found max_slots={host.most} of {host.name}, expected at least {per_host} "
                "for the ranks on each host"
            )
    limits = [host.most for host in hosts]
    room = sum(limit for limit in limits if limit is not None)
    if hosts and None not in limits and ranks > room:
        raise UserError(f"-n {ranks}: found max_slots of {room} in {asked.path}, expected at most {room} ranks")


# --- the launchers' words ---


def mpirun_words(asked: LaunchRequest, layout: RankLayout, mpirun: str, resources: LaunchResources) -> list[str]:
    words = [mpirun, "-n", str(layout.ranks)]
    if resources.is_root:
        words.append("--allow-run-as-root")
    if asked.path:
        words += ["--hostfile", asked.path]
    words += mapping_options(layout, asked.further)
    if asked.fault_tolerant:
        words += ["--with-ft", "ulfm"]
    elsewhere = [host for host in asked.hosts or [] if host.name not in LOCAL_NAMES]
    if elsewhere or number_of_hosts(asked, resources) > 1:
        names = sorted(name for name in resources.environment if name in FORWARDED or name.startswith(FORWARDED_PREFIX))
        words += [word for name in names for word in ("-x", name)]
    return words


def mapping_options(layout: RankLayout, further: Sequence[str]) -> list[str]:
    """Return Open MPI's options for placement and binding of ranks; options of the user take precedence.

    By default it binds each of two ranks to one core, even if their devices use several. If oversubscription is allowed
    by default, the first host gets all ranks.
    """
    place = f"ppr:{layout.per_host}:node" if layout.per_host else "slot"
    bound = [f"PE={layout.cores_each}"] if layout.cores_each else []
    crowded = ["OVERSUBSCRIBE"] if layout.is_crowded else []
    words = []
    if "--map-by" not in further:
        words += ["--map-by", ":".join([place, *bound, *crowded])]
    if "--bind-to" not in further:
        words += ["--bind-to", "core" if bound else "none"]
    return words


def hydra_words(asked: LaunchRequest, layout: RankLayout, mpiexec: str) -> list[str]:
    """Return the words of MPICH's and Intel MPI's launcher, which forwards its environment."""
    if asked.fault_tolerant:
        raise UserError("--fault-tolerant: found Hydra, which ends all ranks when one is killed, expected Open MPI")
    words = [mpiexec, "-n", str(layout.ranks)]
    if asked.hosts:
        slots = "" if layout.per_host else ":{}"
        words += ["-hosts", ",".join(host.name + slots.format(host.slots or 1) for host in asked.hosts)]
    if layout.per_host:
        words += ["-ppn", str(layout.per_host)]
    if "-bind-to" in asked.further:
        return words
    if layout.cores_each:
        return [*words, "-bind-to", f"core:{layout.cores_each}", "-genv", "I_MPI_PIN_DOMAIN", str(layout.cores_each)]
    return [*words, *HYDRA_UNBOUND]


def srun_words(asked: LaunchRequest, layout: RankLayout, srun: str) -> list[str]:
    """Return the words of Slurm's launcher, which forwards its environment; refuses to continue after lost ranks."""
    if asked.fault_tolerant:
        raise UserError("--fault-tolerant: found srun, which ends all ranks when one is killed, expected an mpirun")
    words = [srun, "--mpi=pmix", f"--ntasks={layout.ranks}"]
    if layout.per_host:
        words.append(f"--ntasks-per-node={layout.per_host}")
    if layout.cores_each:
        words += [f"--cpus-per-task={layout.cores_each}", "--cpu-bind=cores"]
    else:
        words.append("--cpu-bind=none")
    if layout.is_crowded:
        words.append("--overcommit")
    return words
