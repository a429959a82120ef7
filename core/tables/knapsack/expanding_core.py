"""The 0-1 knapsack problem by an expanding core, on one lane of one device; the host orders the items in NumPy."""

from __future__ import annotations

import numpy as np

from core.errors import UserError
from core.run.checkpoint import Checkpoint
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun
from core.tables.knapsack.core_bounds import SortedItems, best_completion, cardinality_bound
from core.tables.knapsack.kernels import expanding_core as kernels
from core.tables.knapsack.kernels.expanding_core import CorePlace
from core.tables.knapsack.one_lane import OneLaneSearch
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import Selection, make_selection

ROOM, CHANGES = 1 << 12, 1 << 14
"""Initial capacity for states and for changes."""
MOST_CHANGES = 1 << 28
ROOM_WITHOUT_BOUNDS = 1 << 17
"""Largest capacity for states without better bounds; each doubling beyond it computes them on the host."""


class KnapsackCore(OneLaneSearch):
    """An expanding core on one instance; finds the largest value and any one optimal selection. Its steps are items."""

    subject, one_rank = "an expanding core", "it runs on one lane"
    unit = "states"
    first_budget, most_steps = 256, 1 << 62

    def __init__(self, backend: ComputeDevice, communicator: Ranks, instance: Knapsack) -> None:
        super().__init__(backend, communicator, instance)
        self.free = (instance.weights == 0) & (instance.values > 0)
        self.free_value = int(instance.values[self.free].sum(dtype=np.int64))
        order = instance.by_efficiency()
        weights, values = instance.weights[order].astype(np.int64), instance.values[order].astype(np.int64)
        useful = (weights > 0) & (weights <= instance.capacity) & (values > 0)
        self.items, weights, values = order[useful], weights[useful], values[useful]
        at = int(np.searchsorted(np.cumsum(weights), instance.capacity, side="right"))
        break_solution = instance.capacity, int(weights[:at].sum()), int(values[:at].sum())
        self.sorted_items = SortedItems(weights, values, at, *break_solution)
        self.is_trivial = at == len(weights)
        if not self.is_trivial:
            self.table = backend.load(kernels.CoreItems(weights, values, len(weights), at, *break_solution))
            self._make_room(ROOM, CHANGES)

    def _make_room(self, room: int, changes: int) -> None:
        sizes = (6, np.int32), (2, np.int64), (2 * room, np.int64), (2 * room, np.int64), (2 * room, np.int32)
        lists = (changes, np.int32), (changes, np.int32)
        self.room, self.changes = room, changes
        self.arrays = [self.backend.allocate(*size) for size in sizes + lists]
        place, numbers, weights, values, nodes, parents, changed = self.arrays
        self.states = kernels.CoreStates(place, numbers, weights, values, nodes, parents, changed, room, changes)

    def _put(self, *contents: np.ndarray | list[int]) -> None:
        """Write the first elements of the lists of `CoreStates`, in their order; states lie in the first half."""
        for array, content in zip(self.arrays, contents, strict=False):
            self.backend.put(array, 0, np.asarray(content, array.dtype))

    def _put_start(self) -> None:
        at, weight, value = self.sorted_items.at, self.sorted_items.weight, self.sorted_items.value
        self._put([at, at, 1, 0, 1, 0], [value, 1], [weight], [value], [0])

    def _grow(self) -> None:
        """Double a list that is too short, and keep its content."""
        read, old = self.backend.read, self.states
        place, numbers = (self.backend.download(array) for array in (old.place, old.numbers))
        count, nodes = int(place[CorePlace.count]), int(place[CorePlace.nodes])
        begin = int(place[CorePlace.side]) * self.room
        states = [read(array, begin, count) for array in (old.weights, old.values, old.nodes)]
        changes = [read(array, 0, nodes) for array in (old.parents, old.changed)]
        more_room = 2 * self.room if 2 * count > self.room else self.room
        more_changes = 2 * self.changes if nodes + count > self.changes else self.changes
        if more_changes > MOST_CHANGES:
            raise UserError(f"an expanding core of more than {MOST_CHANGES:,} changes: expected an easier instance")
        self._make_room(more_room, more_changes)
        place[CorePlace.side] = 0
        self._put(place, numbers, *states, *changes)

    def _expand(self, budget: int) -> None:
        self.backend.launch(kernels.expand, 1, 1, self.table, self.states, budget)

    def warm_up(self) -> None:
        if not self.is_trivial:
            with self.backend.warming_up():
                self._put_start()
                self._expand(0)

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.best, self.kept, self.done, self.is_proved = self.sorted_items.value, 1, 0, self.is_trivial
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
        chosen[self.items[: self.sorted_items.at]] = True
        if not self.is_trivial:
            node = int(self.backend.download(self.states.place)[CorePlace.best_node])
            parents, changed = (self.backend.download(a) for a in (self.states.parents, self.states.changed))
            while node:
                chosen[self.items[changed[node]]] ^= True
                node = int(parents[node])
        value = self.best + self.free_value
        run.end(self.done, value, self.kept)
        return make_selection(self.instance, value, chosen, optimal=self.is_proved, nodes=self.kept)
