"""The 0-1 knapsack problem by an expanding core, on one lane of one device; the host orders the items in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.run.checkpoint import Checkpoint, Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun, execute
from core.run.progress import refuse_history
from core.run.protocol import Callback, Search
from core.run.stop import BatchSizes, Stop
from core.tables.engine.table_search import WithoutCheckpoints, refuse_checkpoints
from core.tables.knapsack.core_bounds import SortedItems, best_completion, cardinality_bound
from core.tables.knapsack.kernels import expanding_core as kernels
from core.tables.knapsack.kernels.expanding_core import CorePlace
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import Selection, make_selection

ROOM, CHANGES = 1 << 12, 1 << 14
"""Initial capacity for states and for changes."""
MOST_CHANGES = 1 << 28
ROOM_WITHOUT_BOUNDS = 1 << 17
"""Largest capacity for states without better bounds; each doubling beyond it computes them on the host."""
BATCH = 256
"""Items of the first launch."""


class KnapsackCore(WithoutCheckpoints, Search):
    """An expanding core on one instance and one rank; finds the largest value and any one optimal selection."""

    def __init__(self, backend: ComputeDevice, communicator: Ranks, instance: Knapsack) -> None:
        if communicator.size > 1:
            raise UserError(f"an expanding core on {communicator.size} ranks: expected one, it runs on one lane")
        self.backend, self.communicator, self.instance = backend, communicator, instance
        weights, values = instance.weights.astype(np.uint64), instance.values.astype(np.uint64)
        self.free = (weights == 0) & (values > 0)
        self.free_value = int(values[self.free].sum())
        useful = np.flatnonzero((weights > 0) & (weights <= instance.capacity) & (values > 0))
        weights, values = weights[useful], values[useful]
        # Unequal fractions of 32-bit numbers differ by more than 2**-64: two divisions of 32 bits order them.
        quotients, remainders = np.divmod(values << np.uint64(32), weights)
        order = np.lexsort((-((remainders << np.uint64(32)) // weights).view(np.int64), ~quotients))
        self.items = useful[order]
        self.weights, self.values = weights[order].astype(np.int64), values[order].astype(np.int64)
        total_weights = np.cumsum(self.weights)
        self.at = int(np.searchsorted(total_weights, instance.capacity, side="right"))
        self.weight, self.value = int(self.weights[: self.at].sum()), int(self.values[: self.at].sum())
        count = len(self.items)
        self.is_trivial = self.at == count
        self.sorted_items = SortedItems(self.weights, self.values, self.at, instance.capacity, self.weight, self.value)
        if not self.is_trivial:
            self.table = backend.load(
                kernels.CoreItems(self.weights, self.values, count, self.at, instance.capacity, self.weight, self.value)
            )
            self._make_room(ROOM, CHANGES)

    work = None
    """Number of states of a run, which is not known before."""
    unit = "states"

    def _make_room(self, room: int, changes: int) -> None:
        sizes = (6, np.int32), (2, np.int64), (2 * room, np.int64), (2 * room, np.int64), (2 * room, np.int32)
        lists = (changes, np.int32), (changes, np.int32)
        self.room, self.changes = room, changes
        arrays: list[Any] = [self.backend.allocate(*size) for size in sizes + lists]
        self.states = kernels.CoreStates(*arrays, room, changes)

    def _put_start(self) -> None:
        self.backend.write(self.states.place, np.array([self.at, self.at, 1, 0, 1, 0], np.int32))
        self.backend.write(self.states.numbers, np.array([self.value, 1], np.int64))
        for buffer, first in ((self.states.weights, self.weight), (self.states.values, self.value)):
            row = np.zeros(2 * self.room, np.int64)
            row[0] = first
            self.backend.write(buffer, row)
        self.backend.write(self.states.nodes, np.zeros(2 * self.room, np.int32))

    def _grow(self) -> None:
        """Double a list that is too short, and keep its content."""
        old, room, changes = self.states, self.room, self.changes
        place = self.backend.download(old.place)
        count, side = int(place[CorePlace.count]), int(place[CorePlace.side])
        more_room = 2 * room if 2 * count > room else room
        more_changes = 2 * changes if int(place[CorePlace.nodes]) + count > changes else changes
        if more_changes > MOST_CHANGES:
            raise UserError(f"an expanding core of more than {MOST_CHANGES:,} changes: expected an easier instance")
        self._make_room(more_room, more_changes)
        place[CorePlace.side] = 0
        self.backend.write(self.states.place, place)
        self.backend.write(self.states.numbers, self.backend.download(old.numbers))
        for name in ("weights", "values", "nodes"):
            content = self.backend.download(getattr(old, name))[side * room : (side + 1) * room]
            self.backend.write(getattr(self.states, name), np.pad(content, (0, 2 * more_room - room)))
        for name in ("parents", "changed"):
            content = self.backend.download(getattr(old, name))
            self.backend.write(getattr(self.states, name), np.pad(content, (0, more_changes - changes)))

    def _expand(self, budget: int) -> None:
        self.backend.launch(kernels.expand, 1, 1, self.table, self.states, budget)

    def warm_up(self) -> None:
        if not self.is_trivial:
            with self.backend.warming_up():
                self._put_start()
                self._expand(0)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> Selection:
        """Search until the value is proved, or the callback ends it. See `core.run.protocol.Search.run`.

        There are no stop criteria, no history and no checkpoints. The callback's steps are items, and its cost is the
        incumbent's value.
        """
        (stop or Stop()).only("an expanding core")
        refuse_history(history, "an expanding core")
        refuse_checkpoints(checkpointer, "an expanding core")
        sizes = BatchSizes(BATCH, 2, 0.25)
        return execute(self, SynchronousRun(self.communicator, Stop(iterations=1 << 62), callback, sizes=sizes))

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.best, self.kept, self.done, self.is_proved = self.value, 1, 0, self.is_trivial
        if not self.is_trivial:
            if self.room > ROOM_WITHOUT_BOUNDS:  # all runs compute bounds of the same states
                self._make_room(ROOM_WITHOUT_BOUNDS, self.changes)
            self._put_start()

    def step(self, run: SynchronousRun) -> Step:
        budget = min(run.budget().steps, 1 << 20)
        if self.is_trivial:
            return Step(budget, undone=0, is_divisible=True)
        self._expand(budget)
        place = self.backend.download(self.states.place)
        self.best, self.kept = map(int, self.backend.download(self.states.numbers))
        self.done = int(place[CorePlace.end] - place[CorePlace.first])
        count = int(place[CorePlace.count])
        self.is_proved = count == 0
        if count and (2 * count > self.room or int(place[CorePlace.nodes]) + count > self.changes):
            are_bounds_due = 2 * count > self.room >= ROOM_WITHOUT_BOUNDS
            self._grow()
            if are_bounds_due:
                self._improve_bounds()
        if run.is_report_due:
            run.report(self.done, self.best + self.free_value, self.kept)
        return Step(budget, undone=int(not self.is_proved), is_divisible=True)

    def _improve_bounds(self) -> None:
        """Complete the states by one item each, and drop them all if no better selection is possible."""
        backend, states, items = self.backend, self.states, self.sorted_items
        place = backend.download(states.place)
        columns = (CorePlace.first, CorePlace.end, CorePlace.count, CorePlace.nodes)
        first, end, count, node = (int(place[column]) for column in columns)
        begin = int(place[CorePlace.side]) * self.room
        weights, values = (backend.read(numbers, begin, count) for numbers in (states.weights, states.values))
        completion = best_completion(items, first, end, weights, values)
        if completion.value > self.best:
            self.best = completion.value
            backend.write(states.numbers, np.array([self.best, self.kept], np.int64))
            backend.put(states.parents, node, backend.read(states.nodes, begin + completion.state, 1))
            backend.put(states.changed, node, np.array([completion.item], np.int32))
            place[[CorePlace.nodes, CorePlace.best_node]] = node + 1, node
        if cardinality_bound(items, self.best) <= self.best:
            place[CorePlace.count] = 0
            self.is_proved = True
        backend.write(states.place, place)

    def result(self, run: SynchronousRun) -> Selection:
        chosen = self.free.copy()
        chosen[self.items[: self.at]] = True
        if not self.is_trivial:
            node = int(self.backend.download(self.states.place)[CorePlace.best_node])
            parents, changed = (self.backend.download(a) for a in (self.states.parents, self.states.changed))
            while node:
                chosen[self.items[changed[node]]] ^= True
                node = int(parents[node])
        value = self.best + self.free_value
        run.end(self.done, value, self.kept)
        return make_selection(self.instance, value, chosen, optimal=self.is_proved, nodes=self.kept)
