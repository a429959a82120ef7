"""Verdicts of reference solvers on a result that claims to be optimal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drivers.peers.peer import Peer, PeerMeasurement


def peer_rejections(
    peers: Sequence[Peer], measured: Sequence[PeerMeasurement], cost: int, noun: str = "cost"
) -> Iterator[str]:
    """Yield what speaks against a result that claims to be the best: a better one, or a proof of another.

    Parameters
    ----------
    peers, measured
        What `drivers.peers.measurement.measure` was given, and what it returned.
    cost : int
        What our search found.
    noun : str
        What the cost is of this problem: length, value.
    """
    for peer, found in zip(peers, measured, strict=True):
        if found.cost not in (None, cost) and (found.proved or not peer.subject.as_good(cost, found.cost)):
            yield f"{found.name} finds {noun} {found.cost}"


def confirming_peers(measured: Sequence[PeerMeasurement], cost: int) -> list[str]:
    """Return the names of the solvers that proved the same cost."""
    return [found.name for found in measured if found.proved and found.cost == cost]
