"""Binding of the ranks of a host to separate cores.

A launcher can do that too, each in its own words. Open MPI's `--map-by slot:PE=4` ends with an error instead of sharing
cores where they are too few, and counts cores where a container counts hardware threads; what `make venv` writes, so
that more ranks than cores may start, leaves them unbound. So ranks that shall keep apart do it themselves: they take
their turns of what the launcher has left to all of them: whole cores, as long as there are enough, since two threads of
one core share it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cluster.mpi.communicator import Communicator
from core.errors import UserError

PROCESSORS = Path("/sys/devices/system/cpu")
"""Where Linux describes what it numbers as processors: cores, or the hardware threads of each."""


class AffinityRequest(NamedTuple):
    """A rank's host, the processors that it may use there, those of a core together, and how many it wants of them."""

    host: str
    allowed: tuple[tuple[int, ...], ...]
    wanted: int


def allowed_processors(described: Path = PROCESSORS) -> tuple[tuple[int, ...], ...]:
    """The numbers of the processors that this process may use, those of a core together, in order."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    of_a_core: dict[str, list[int]] = {}
    for number in allowed:
        siblings = described / f"cpu{number}/topology/thread_siblings_list"
        # Not everything that runs Linux' programs describes its processors.
        core = siblings.read_text(encoding="ascii") if siblings.exists() else str(number)
        of_a_core.setdefault(core, []).append(number)
    return tuple(map(tuple, of_a_core.values()))


def pin_to_own_cores(ranks: Communicator, wanted: int) -> list[list[int]]:
    """Keep this rank to processors that no other rank of its host keeps to; all ranks call this.

    What a thread may use is what threads and processes that it starts later may: call it before there are any.

    Parameters
    ----------
    ranks
        The communicator.
    wanted
        How many cores this rank works on.

    Returns
    -------
    list of list of int
        The numbers of every rank's processors on its host, by rank.

    Raises
    ------
    UserError
        A host has too few cores, on all ranks the same message; or the system keeps no process to cores.

    """
    if not hasattr(os, "sched_setaffinity"):
        raise UserError("--pin-cores: this system keeps no process to cores; expected a run without it")
    here = AffinityRequest(ranks.host(), allowed_processors(), wanted)
    places = assign_cores(ranks.bcast(ranks.gather(here) or []))
    try:
        os.sched_setaffinity(0, places[ranks.rank])
    except OSError as error:
        numbers = ", ".join(map(str, places[ranks.rank]))
        raise UserError(f"--pin-cores: the system refuses cores {numbers}: {error.strerror}") from None
    return places


def assign_cores(places: Sequence[AffinityRequest]) -> list[list[int]]:
    """The processors of each rank: those of a host that may use the same ones take them in turn, lowest numbers first.

    Every processor is a core of its own where there are enough; else those of a core follow each other, so that they
    are mostly one rank's. Neighbouring numbers mostly share caches and memory. Ranks that a launcher has bound apart
    have cores of their own already.

    Raises
    ------
    UserError
        Ranks want more processors together than they may use.

    """
    together: dict[tuple[str, tuple[tuple[int, ...], ...]], list[int]] = {}
    for host, allowed, wanted in places:
        together.setdefault((host, allowed), []).append(wanted)
    left = {}
    for (host, allowed), everyone in together.items():
        whole = [core[0] for core in allowed]
        every = [processor for core in allowed for processor in core]
        if sum(everyone) > len(every):
            raise UserError(
                f"--pin-cores: found {format_count(len(every), 'core')} for "
                f"{format_count(len(everyone), 'rank')} of a host that "
                f"want {sum(everyone)} together, expected {sum(everyone)} (mpirun binds no rank with --bind-to none)"
            )
        left[host, allowed] = iter(whole if sum(everyone) <= len(whole) else every)
    return [list(islice(left[host, allowed], wanted)) for host, allowed, wanted in places]


def format_count(number: int, noun: str) -> str:
    """A number with its noun: 1 rank, 2 ranks."""
    return f"{number} {noun}{'s' * (number != 1)}"


def format_cores(cores: Sequence[int]) -> str:
    """Numbers of cores as Linux writes them: 0-3,8."""
    spans: list[list[int]] = []
    for number in cores:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
