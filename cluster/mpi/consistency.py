"""Check that all ranks have equal arguments before they work.

Ranks with different arguments would wait for each other forever, or combine parts of different computations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cluster.mpi.communicator import Communicator
from cluster.mpi.failures import liveness
from core.errors import UserError
from core.ranks import gather_on_all

MOST_NAMED = 4
"""Most ranks listed in a message."""


def require_equal_arguments(ranks: Communicator, facts: Mapping[str, str]) -> None:
    """Compare what must be equal on all ranks; every rank calls it, before any other call of the communicator.

    ``facts`` have names and values, the most important first. Raises `UserError` on every rank for the first that
    differs between two; it names both values and their ranks.
    """
    if ranks.size == 1:
        return
    with liveness.start_deadline():
        difference = ranks.bcast(first_difference(ranks.gather(dict(facts)) or ()))
    if difference:
        raise UserError(difference)


def require_equal_content(ranks: Communicator, name: str, place: str, content: Callable[[], str]) -> None:
    """Compare the ranks' content at places such as folders; errors are those of `require_equal_arguments`.

    ``content`` reads what must be equal. It is called once for each place, and not at all if all ranks have one.
    """
    if ranks.size == 1:
        return
    places = gather_on_all(ranks, (ranks.host(), place))
    first = [places.index(place) for place in places]
    if not any(first):
        return
    read = gather_on_all(ranks, ranks.on_all(lambda: content() if first[ranks.rank] == ranks.rank else ""))
    difference = first_difference([{name: read[reader]} for reader in first])
    if difference:
        raise UserError(difference)


def first_difference(all_facts: Sequence[Mapping[str, str]]) -> str:
    """Return a message about the first fact that differs between ranks; empty if all are equal."""
    for name in dict.fromkeys(name for facts in all_facts for name in facts):
        places: dict[str, list[int]] = {}
        for rank, facts in enumerate(all_facts):
            places.setdefault(facts.get(name, "not given"), []).append(rank)
        if len(places) > 1:
            (first, ranks), (second, others) = list(places.items())[:2]
            answers = f"{first} on {format_ranks(ranks)} and {second} on {format_ranks(others)}"
            return f"{name}: found {answers}, expected the same"
    return ""


def format_ranks(ranks: Sequence[int]) -> str:
    """Return the first ranks as text, and how many there are beyond them."""
    more = f" and {len(ranks) - MOST_NAMED} more" if len(ranks) > MOST_NAMED else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks[:MOST_NAMED]))}{more}"
