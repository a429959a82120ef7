"""Collectives of the devices of several ranks, queued like launches, so that algorithms are the same for any number.

A search queues ``scan; reduce(keys); step`` on one rank or many. `Backend.record` records collectives with the kernels
around them. The collectives of this module pass through MPI and host memory; buffers in
host memory are not copied. Devices with a direct link have faster ones (`Backend.collectives`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from backends.device import Buffer, Collective, Device
from core.ranks import Ranks, Transfer, gather_on_all


class Collectives:
    """The collectives of one device with those of other ranks; every rank makes the same calls in the same order.

    With one rank, or in a rehearsal, every call returns at once. ``groups`` has for each rank the first one that lies
    in the same memory (`memory_groups`).
    """

    on_device = False
    """True if collectives are queued like kernels, so that the host need not wait."""
    reaches_peers = False
    """True if a running kernel sees what kernels of other ranks write into a common array."""
    why_not_faster = ""
    """The reason why GPUs communicate through the host although faster collectives exist; empty: they do not."""

    def __init__(self, device: Device, ranks: Ranks, groups: Sequence[int]) -> None:
        self.device = device
        self.ranks = ranks
        self.rank = int(ranks.rank)
        self.size = int(ranks.size)
        self.groups = list(groups)

    @property
    def is_silent(self) -> bool:
        """True with one rank, and in a rehearsal."""
        return self.size == 1 or bool(self.ranks.is_silent)

    @property
    def is_apart(self) -> bool:
        """True if each rank has memory of its device alone."""
        return len(set(self.groups)) == self.size

    @property
    def is_one_memory(self) -> bool:
        """True if all ranks share one memory, so that a `common` array exists once."""
        return len(set(self.groups)) == 1

    def connect(self) -> None:
        """Prepare messages and long reductions, if that takes long; all ranks call this. The first of them does too."""

    # --- memory ---

    def common(self, size: int, dtype: np.typing.DTypeLike, bounds: Sequence[int] | None = None) -> Buffer:
        """Make an array that belongs to all ranks together.

        Ranks in one memory get one array, which all their kernels read and write. Any other rank gets a separate array
        of the same size, which `gather` and `exchange` bring up to date. Rank r mostly uses elements bounds[r] to
        bounds[r + 1] - 1, by default equal parts, which are placed near its device if possible. Size and bounds are
        equal on all ranks. Raises `OutOfMemory` on all ranks if the memory of one is insufficient.
        """
        size = max(1, size)
        if self.is_silent or self.is_apart:
            return self.ranks.on_all(lambda: self.device.allocate(size, dtype), is_long=False)
        return self.shared_array(size, dtype, self.equal_parts(size) if bounds is None else bounds)

    def equal_parts(self, size: int) -> list[int]:
        """Return bounds of parts that differ by at most one element."""
        return [size * rank // self.size for rank in range(self.size + 1)]

    def shared_array(self, size: int, dtype: np.typing.DTypeLike, bounds: Sequence[int]) -> Buffer:
        """Make one array for each group of ranks in host memory: the first rank makes it, the others open it."""
        leader = self.groups[self.rank]
        make = self.device.allocate if self.groups.count(leader) == 1 else self.device.shared
        own = self.ranks.on_all(lambda: make(size, dtype) if leader == self.rank else None, is_long=False)
        segments: list[Any] = gather_on_all(self.ranks, getattr(own, "segment", None))
        # Until all ranks have opened it, only the leader holds it.
        return self.ranks.on_all(
            lambda: self.device.opened(segments[leader], size, dtype) if own is None else own, is_long=False
        )

    # --- launches ---

    def reduce(self, buffer: Buffer, operation: str, start: int = 0, count: int | None = None) -> None:
        """Combine the ranks' integer buffers element by element, by ``least`` or ``sum``; every rank gets the result.

        A sum wraps around in the buffer's type. The buffers are in no common memory.
        """
        elements = (start, buffer.size - start if count is None else count)
        if elements[1] > 0:
            self.queue(lambda: self.reduce_now(buffer, operation, *elements))

    def gather(self, buffer: Buffer, bounds: Sequence[int]) -> None:
        """Make a whole array visible to every rank's kernels; rank r has written bounds[r] to bounds[r + 1] - 1."""
        self.bring_up_to_date(buffer, [*gather_transfers(bounds, self.groups)])

    def exchange(self, buffer: Buffer, bounds: Sequence[int], before: int) -> None:
        """Make the ``before`` elements left of bounds[r], which other ranks have written, visible to rank r."""
        self.bring_up_to_date(buffer, [*left_border_transfers(bounds, self.groups, before)])

    def bring_up_to_date(self, buffer: Buffer, missing: list[Transfer]) -> None:
        """Queue messages between memories, between two barriers for ranks in one memory."""
        if not self.is_apart:
            self.barrier()
        if missing:
            self.queue(lambda: self.transfer_now(buffer, missing))
            if not self.is_apart:
                self.barrier()

    def transfer(self, buffer: Buffer, transfers: Sequence[Transfer]) -> None:
        """Queue transfers between the ranks' separate buffers; those between two ranks are in the same order on both.

        All ranks call this, if need be without a transfer.
        """
        self.queue(lambda: self.transfer_now(buffer, transfers))

    def send(self, buffer: Buffer, start: int, count: int, to: int) -> None:
        self.queue(lambda: self.send_now(buffer, start, count, to))

    def receive(self, buffer: Buffer, start: int, count: int, source: int) -> None:
        self.queue(lambda: self.receive_now(buffer, start, count, source))

    def barrier(self) -> None:
        """Start no later launch on any rank before all earlier launches of all ranks have ended."""
        self.queue(self.barrier_now)

    def queue(self, act: Callable[[], None]) -> None:
        """Queue a step, unless there is nothing to do for a single rank or in a rehearsal."""
        if not self.is_silent:
            self.device.queue_collective(Collective(act, self.on_device))

    # --- steps, through MPI ---

    def barrier_now(self) -> None:
        self.device.synchronize()
        self.ranks.barrier()

    def reduce_now(self, buffer: Buffer, operation: str, start: int, count: int) -> None:
        with self.device.on_host(buffer, start, count) as elements:
            self.ranks.reduce(elements, operation)

    def transfer_now(self, buffer: Buffer, transfers: Sequence[Transfer]) -> None:
        """Send and receive all transfers of this rank at once."""
        self.device.synchronize()
        with ExitStack() as stack:
            messages = []
            for source, to, start, count in transfers:
                if self.rank in (source, to):
                    read, written = self.rank == source, self.rank == to
                    elements = stack.enter_context(
                        self.device.on_host(buffer, start, count, read=read, written=written)
                    )
                    messages.append((elements, source, to))
            self.ranks.transfer(messages)

    def send_now(self, buffer: Buffer, start: int, count: int, to: int) -> None:
        with self.device.on_host(buffer, start, count, written=False) as elements:
            self.ranks.send(elements, to)

    def receive_now(self, buffer: Buffer, start: int, count: int, source: int) -> None:
        with self.device.on_host(buffer, start, count, read=False) as elements:
            self.ranks.receive(elements, source)

    def seconds_on_device(self) -> float:
        """Return the seconds that the device has spent in collectives, including waiting."""
        return 0.0


def memory_groups(ranks: Ranks, memory: str) -> list[int]:
    """For each rank, return the first rank with the same memory on the same host; all ranks call this.

    ``memory`` names the memory that this rank's device shares with others of its host; empty if none.
    """
    places = gather_on_all(ranks, (ranks.host(), memory or ranks.rank))
    return [places.index(place) for place in places]


def gather_transfers(bounds: Sequence[int], groups: Sequence[int]) -> Iterator[Transfer]:
    """Return the transfers of every rank's part to every other memory; the first rank of a memory receives them."""
    for source in range(len(groups)):
        count = bounds[source + 1] - bounds[source]
        for to in sorted(set(groups) - {groups[source]}):
            if count > 0:
                yield Transfer(source, to, bounds[source], count)


def left_border_transfers(bounds: Sequence[int], groups: Sequence[int], before: int) -> Iterator[Transfer]:
    """Return the transfers of elements left of each rank's part from the memories where they are written."""
    for to in range(len(groups)):
        if bounds[to + 1] <= bounds[to]:
            continue
        first = max(0, bounds[to] - before)
        for source in range(to):
            start, end = max(first, bounds[source]), min(bounds[to], bounds[source + 1])
            if start < end and groups[source] != groups[to]:
                yield Transfer(source, to, start, end - start)
