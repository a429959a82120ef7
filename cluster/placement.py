"""Which cores of a host each of its ranks keeps to, so that no two work on the same ones.

A launcher can do that too, each in its own words. Open MPI's `--map-by slot:PE=4` ends with an error instead of sharing
cores where they are too few, and counts cores where a container counts hardware threads; what `make venv` writes, so
that more ranks than cores may start, leaves them unbound. So ranks that shall keep apart do it themselves: they take
their turns of what the launcher has left to all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from cluster.communicators import Communicator
from core.errors import UserError


class Place(NamedTuple):
    """A rank's host, the numbers of the cores that it may use there, in order, and how many it wants of them."""

    host: str
    allowed: tuple[int, ...]
    wanted: int


def keep_to_own_cores(ranks: Communicator, wanted: int) -> list[list[int]]:
    """Keep this rank to cores that no other rank of its host keeps to; all ranks call this.

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
        The numbers of every rank's cores on its host, by rank.

    Raises
    ------
    UserError
        A host has too few cores, on all ranks the same message; or the system keeps no process to cores.

    """
    if not hasattr(os, "sched_setaffinity"):
        raise UserError("--own-cores: this system keeps no process to cores; expected a run without it")
    here = Place(ranks.host(), tuple(sorted(os.sched_getaffinity(0))), wanted)
    places = own_cores(ranks.bcast(ranks.gather(here) or []))
    try:
        os.sched_setaffinity(0, places[ranks.rank])
    except OSError as error:
        numbers = ", ".join(map(str, places[ranks.rank]))
        raise UserError(f"--own-cores: the system refuses cores {numbers}: {error.strerror}") from None
    return places


def own_cores(places: Sequence[Place]) -> list[list[int]]:
    """The cores of each rank: those of a host that may use the same cores take them in turn, lowest numbers first.

    Neighbouring numbers mostly share caches and memory. Ranks that a launcher has bound apart have cores of their own
    already.

    Raises
    ------
    UserError
        Ranks want more cores together than they may use.

    """
    taken: dict[tuple[str, tuple[int, ...]], int] = {}
    found = []
    for host, allowed, wanted in places:
        first = taken.get((host, allowed), 0)
        taken[host, allowed] = first + wanted
        found.append(list(allowed[first : first + wanted]))
    for (host, allowed), together in taken.items():
        if together > len(allowed):
            sharing = sum((one.host, one.allowed) == (host, allowed) for one in places)
            raise UserError(
                f"--own-cores: found {counted(len(allowed), 'core')} for {counted(sharing, 'rank')} of a host that "
                f"want {together} together, expected {together} (mpirun binds no rank with --bind-to none)"
            )
    return found


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 rank, 2 ranks."""
    return f"{number} {noun}{'s' * (number != 1)}"


def in_words(cores: Sequence[int]) -> str:
    """Numbers of cores as Linux writes them: 0-3,8."""
    spans: list[list[int]] = []
    for number in cores:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
