"""Work redistribution: balance pending subproblems between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.search.partition import parts_by_speed

MOST_IMBALANCE = 1.5
"""So many times as long as with even parts must the busiest rank take before records are moved."""


class PendingWork(NamedTuple):
    """What a rank has handed on.

    Attributes
    ----------
    records, room : int
        How many there are, and for how many there is room.
    lanes : int
        Of its device.
    speed : int
        Of the rank, in any one unit; 0: not known.
    is_over : int
        1 if the rank explores no more now, else 0.

    """

    records: int
    lanes: int
    room: int
    speed: int
    is_over: int = 0


class WorkTransfer(NamedTuple):
    """Records that one rank gives to another."""

    source: int
    to: int
    records: int


def plan_transfers(every: Sequence[PendingWork]) -> list[WorkTransfer]:
    """Which rank gives how many records to which, so that all take about equally long; the same on all ranks.

    Nobody knows how much work a record is: each counts the same. Where no lane has more than one nothing is moved,
    but away from a rank of less than half the average speed, for whose one record many lanes of others may wait.

    Parameters
    ----------
    every
        What the ranks have.

    Returns
    -------
    list of Move
        None if the ranks have about what they should.

    """
    told = [one.speed for one in every if one.speed]
    usual = max(1, sum(told) // len(told)) if told else 1
    speeds = [one.speed or usual for one in every]
    total, together = sum(one.records for one in every), sum(speeds)
    waited_for = [
        one.records / speed
        for one, speed in zip(every, speeds, strict=True)
        if one.records > one.lanes or 2 * speed * len(every) < together
    ]
    if max(waited_for, default=0.0) < MOST_IMBALANCE * total / together:
        return []
    wanted = [min(count, one.room) for count, one in zip(parts_by_speed(total, speeds), every, strict=True)]
    more = [one.records - count for one, count in zip(every, wanted, strict=True)]
    givers = [[rank, surplus] for rank, surplus in enumerate(more) if surplus > 0]
    found = []
    for to, lacking in enumerate(-surplus for surplus in more):
        while lacking > 0 and givers:
            source, surplus = givers[-1]
            count = min(lacking, surplus)
            found.append(WorkTransfer(source, to, count))
            lacking -= count
            givers[-1][1] -= count
            if not givers[-1][1]:
                givers.pop()
    return found
