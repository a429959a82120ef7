"""Binding of the ranks of a host to separate cores.

Launchers can bind ranks too, each with other options. Open MPI's `--map-by slot:PE=4` ends with an error if there are
too few cores, and counts cores where a container counts hardware threads. The settings of `make venv`, which allow more
ranks than cores, leave ranks unbound. So ranks bind themselves: they take turns in choosing from the cores that the
launcher allows. They get whole cores if there are enough, since two threads of a core share it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from cluster.mpi.communicator import Communicator
from core.errors import UserError
from core.ranks import gather_on_all

PROCESSORS = Path("/sys/devices/system/cpu")
"""Linux's description of its numbered processors: cores, or the hardware threads of each."""


class AffinityRequest(NamedTuple):
    """A rank's host, the processors allowed there, grouped by core, and the number it needs."""

    host: str
    allowed: tuple[tuple[int, ...], ...]
    wanted: int


def allowed_processors(described: Path = PROCESSORS) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the processors that this process may use, grouped by core, in order."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    of_a_core: dict[str, list[int]] = {}
    for number in allowed:
        siblings = described / f"cpu{number}/topology/thread_siblings_list"
        # Some systems that run Linux programs do not describe their processors.
        core = siblings.read_text(encoding="ascii") if siblings.exists() else str(number)
        of_a_core.setdefault(core, []).append(number)
    return tuple(map(tuple, of_a_core.values()))


def pin_to_own_cores(ranks: Communicator, cores: int) -> list[list[int]]:
    """Bind this rank to processors that no other rank of its host uses; all ranks call this.

    Threads and processes started later inherit the binding, so call this before starting any. Returns the numbers of
    every rank's processors on its host, by rank. Raises `UserError` if a host has too few cores (the same message on
    all ranks), or the system cannot bind processes.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise UserError("--pin-cores: this system keeps no process to cores; expected a run without it")
    places = assign_cores(gather_on_all(ranks, AffinityRequest(ranks.host(), allowed_processors(), cores)))
    ranks.on_all(lambda: pin(places[ranks.rank]), is_long=False)
    return places


def pin(cores: Sequence[int]) -> None:
    """Bind this process to processors. Raises `UserError` if the system refuses."""
    try:
        os.sched_setaffinity(0, cores)
    except OSError as error:
        numbers = ", ".join(map(str, cores))
        raise UserError(f"--pin-cores: the system refuses cores {numbers}: {error.strerror}") from None


def assign_cores(places: Sequence[AffinityRequest]) -> list[list[int]]:
    """Return the processors of each rank; ranks with the same choice take turns, lowest numbers first.

    Each processor is on another core if there are enough; else those of a core are adjacent, so that one rank mostly
    gets them all. Neighbouring numbers mostly share caches and memory. Ranks bound by the launcher keep their cores.
    Raises `UserError` if ranks want more processors together than they may use.
    """
    groups: dict[tuple[str, tuple[tuple[int, ...], ...]], list[int]] = {}
    for host, allowed, count in places:
        groups.setdefault((host, allowed), []).append(count)
    processors_left = {}
    for (host, allowed), counts in groups.items():
        whole_cores = [core[0] for core in allowed]
        processors = [processor for core in allowed for processor in core]
        if sum(counts) > len(processors):
            raise UserError(
                f"--pin-cores: found {format_count(len(processors), 'core')} for "
                f"{format_count(len(counts), 'rank')} of a host that "
                f"want {sum(counts)} together, expected {sum(counts)} (mpirun binds no rank with --bind-to none)"
            )
        processors_left[host, allowed] = iter(whole_cores if sum(counts) <= len(whole_cores) else processors)
    return [list(islice(processors_left[host, allowed], count)) for host, allowed, count in places]


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 rank, 2 ranks."""
    return f"{number} {noun}{'s' * (number != 1)}"


def format_cores(cores: Sequence[int]) -> str:
    """Return core numbers in Linux's format: 0-3,8."""
    # Successive numbers have one difference from their places.
    groups = groupby(enumerate(cores), lambda numbered: numbered[1] - numbered[0])
    spans = [[number for _, number in group] for _, group in groups]
    return ",".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in spans)
