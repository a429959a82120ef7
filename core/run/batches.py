"""Batches of numbered items: those of a rank's equal share, and those that ranks take from one counter by speed.

Guided self-scheduling (Polychronopoulos and Kuck 1987): every processor takes its part of the remaining items, so
batches shrink towards the end. The parts are weighted by measured speed, as in weighted factoring (Hummel, Schmidt, Uma
and Wein 1996).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import ceil, inf

from core.ranks import Ranks
from core.run.partition import equal_part

GROWTH = 8
"""Largest growth factor from one batch to the next: a small batch predicts little of a large one."""
SHARE_GROWTH = 2
"""The same in an equal share, with batches that end soon only for a callback or a time limit."""
UNITS = 1000
"""Ranks report speeds in thousandths of an item per second."""
MOST_SPEED = 1 << 46
"""In these units; the sum over ranks has 63 bits."""


class TimedBatches:
    """Batches of at least ``least`` items, except the last, and about ``seconds``, which may be changed after each."""

    def __init__(self, least: int, seconds: float) -> None:
        self.least, self.seconds = max(1, least), seconds
        self.count, self.batch_began = 1, 0.0

    @property
    def has_more(self) -> bool:
        """True if items remain."""
        raise NotImplementedError

    def next_s(self) -> float:
        """Return the least seconds of the next batch, after this one; 0 if there is none."""
        if not self.has_more:
            return 0.0
        return (time.perf_counter() - self.batch_began) * min(1.0, self.least / self.count)

    def begin_batch(self, count: int) -> None:
        self.count, self.batch_began = count, time.perf_counter()

    def end_batch(self) -> float:
        """Return the seconds that the batch has taken."""
        return max(time.perf_counter() - self.batch_began, 1e-9)


class EqualShare(TimedBatches):
    """This rank's equal share of items 0 to ``items`` - 1, in batches, for ranks with devices of one kind.

    With infinite ``seconds`` one batch has all items.
    """

    def __init__(self, ranks: Ranks, items: int, *, least: int = 1, seconds: float = inf) -> None:
        super().__init__(least, seconds)
        self.size = ranks.size
        self.begin, self.end = equal_part(items, ranks.rank, ranks.size)
        self.next = self.begin

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the first item of each batch, and its last item plus 1."""
        wanted = self.least if self.seconds < inf else self.end - self.begin
        while self.next < self.end:
            begin, self.next = self.next, min(self.next + wanted, self.end)
            count = self.next - begin
            self.begin_batch(count)
            yield begin, self.next
            spent = self.end_batch()
            wanted = max(self.least, min(SHARE_GROWTH * count, int(min(count * self.seconds / spent, self.end))))

    @property
    def has_more(self) -> bool:
        return self.next < self.end

    def taken(self) -> int:
        """Return the number of items taken by all ranks, estimated from this rank."""
        return (self.next - self.begin) * self.size

    def close(self) -> None:
        """End the batches, as `Batches.close` does."""


class Batches(TimedBatches):
    """Items 0 to ``items`` - 1 for all ranks; ranks create the object together and iterate independently.

    A rank takes no more items if the others would finish everything before its smallest batch. Ranks that may be lost
    have no common counter: each takes its batches from a separate equal share.

    Parameters
    ----------
    first
        Items of a rank's first batch, unless a known speed requires fewer.
    least, most
        Least and largest number of items of a batch, except the last.
    seconds
        Approximate longest duration of a batch.
    speed
        Items per second of this rank, from an earlier run or an estimate; 0: unknown. The attribute has the measured
        speed.
    """

    def __init__(
        self,
        ranks: Ranks,
        items: int,
        first: int,
        *,
        least: int = 1,
        most: int | None = None,
        seconds: float = inf,
        speed: float = 0.0,
    ) -> None:
        super().__init__(least, seconds)
        self.ranks = ranks
        self.every_item = items
        self.begin, behind = equal_part(items, ranks.rank, ranks.size) if ranks.survives else (0, items)
        self.items = behind - self.begin
        self.most = max(self.least, items if most is None else most)
        self.last = max(1, first)
        self.is_first = True
        self.speed = speed
        self.done, self.spent = 0, 0.0
        self.shared_speed = 0
        """Speed of this rank in the sum of all speeds, in `UNITS`; 0: none."""
        self.counter = ranks.counter()
        self.speeds = ranks.counter().word if ranks.survives else ranks.word()
        self.speeds.reset(0)
        self._share_speed()
        ranks.barrier()
        self.began = time.perf_counter()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while (count := self._wanted()) > 0:
            begin = self.counter.take(count)
            if begin >= self.items:
                return
            end = min(begin + count, self.items)
            self.last, self.is_first = count, False
            self.begin_batch(end - begin)
            yield self.begin + begin, self.begin + end
            self.done += end - begin
            self.spent += self.end_batch()
            self.speed = self.done / max(self.spent, 1e-9)
            self._share_speed()

    @property
    def has_more(self) -> bool:
        """True if no rank has taken the last item."""
        return self.counter.taken() < self.items

    def taken(self) -> int:
        """Return the number of items taken by all ranks; without a common counter estimated from this rank."""
        return min(self.counter.taken(), self.items) * self.every_item // max(1, self.items)

    def close(self) -> None:
        """Release the shared words; every rank calls it, after its last batch."""
        self.speeds.close()
        self.counter.close()

    def _share_speed(self) -> None:
        """Update this rank's part of the sum of all speeds."""
        if self.speed > 0:
            speed = min(max(1, int(self.speed * UNITS)), MOST_SPEED)
            self.speeds.add(speed - self.shared_speed)
            self.shared_speed = speed

    def _wanted(self) -> int:
        """Return the number of items to take; 0 if there are none or others are faster."""
        if not self.shared_speed:
            return min(self.last, self.most)
        remaining = self.items - self.counter.taken()
        if remaining <= 0:
            return 0
        own, total = self.shared_speed / UNITS, max(self.speeds.add(0), self.shared_speed) / UNITS
        # The rest may be in work already: all ranks then end as with equal parts from the beginning.
        remaining_s = max(remaining / total, self.items / total - (time.perf_counter() - self.began))
        least = min(self.least, remaining)
        if least / own > remaining_s and self._leaves():
            return 0
        # Of equal ranks each takes half of its part or more; one that does nearly all alone takes nearly all at once.
        fair = ceil(remaining_s * own / (2 - own / total))
        growth = 1 if self.is_first else GROWTH
        return max(least, int(min(remaining, fair, self.most, growth * self.last, self.seconds * self.speed)))

    def _leaves(self) -> bool:
        """Return True, and take no more items, if the speed is less than half of the average.

        The sum has the speeds of the remaining ranks. A rank that leaves subtracts its speed, and stays if that was
        more than a part of the sum. So some rank stays until all items are taken, for any change of speeds.
        """
        if self.speeds.add(-self.shared_speed) >= 2 * self.ranks.size * self.shared_speed:
            return True
        self.speeds.add(self.shared_speed)
        return False
