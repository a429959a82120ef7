"""The 0-1 knapsack problem by branch and bound, the baseline of `oconnell2014` (its reference [17]) on one core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from core.run.checkpoint import ANY, Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun
from core.tables.knapsack.kernels import branch_and_bound as kernels
from core.tables.knapsack.kernels.branch_and_bound import TreeNumbers, TreePlace
from core.tables.knapsack.one_lane import OneLaneSearch
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import Selection, make_selection

FIELDS = ("place", "numbers", "taken", "best")
"""Fields of `core.tables.knapsack.kernels.branch_and_bound.KnapsackTreeState` in a checkpoint."""


class KnapsackBranchAndBound(OneLaneSearch):
    """Branch and bound on one instance.

    The value is that of dynamic programming; the selection is one optimal selection, and may be another one. The time
    is unpredictable: instances of a thousand items take microseconds or years. ``most_nodes`` limits the nodes, and
    the time is read after every launch.
    """

    subject, one_rank = "branch and bound", "it is the baseline of a core"
    unit = "nodes"
    criteria, keeps_checkpoints = ("seconds",), True
    first_budget = 1 << 12

    def __init__(
        self, backend: ComputeDevice, communicator: Ranks, instance: Knapsack, *, most_nodes: int | None = None
    ) -> None:
        super().__init__(backend, communicator, instance)
        self.most_steps = most_nodes or ANY
        self.bound = instance.upper_bound()
        order = instance.by_efficiency()
        self.items = order[(instance.weights[order] <= instance.capacity) & (instance.values[order] > 0)]
        count = max(1, len(self.items))
        weights, values = np.zeros(count, np.int32), np.zeros(count, np.uint64)
        weights[: len(self.items)] = instance.weights[self.items]
        values[: len(self.items)] = instance.values[self.items]
        self.table = backend.load(kernels.RankedItems(weights, values, len(self.items)))
        sizes = (3, np.int32), (3, np.uint64), (count, np.uint8), (count, np.uint8)
        self.search = kernels.KnapsackTreeState(*(backend.allocate(*size) for size in sizes))

    def warm_up(self) -> None:
        with self.backend.warming_up():
            self._put(self._start())
            self._explore(0)

    def _start(self) -> Checkpoint:
        place, no_items = (
            np.array([0, self.instance.capacity, 0], np.int32),
            np.zeros(max(1, len(self.items)), np.uint8),
        )
        return {"place": place, "numbers": np.zeros(3, np.uint64), "taken": no_items, "best": no_items}

    def _put(self, state: Checkpoint) -> None:
        for name in FIELDS:
            self.backend.write(getattr(self.search, name), state[name])

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        count, capacity = len(self.items), self.instance.capacity
        weights, values = (
            column[self.items].astype(np.int64) for column in (self.instance.weights, self.instance.values)
        )

        def fault(words: str, least: int, most: int, value: int, chosen: np.ndarray) -> str | None:
            """Return the fault of items whose weight is not from ``least`` to ``most``, or with another value."""
            is_taken = chosen[:count] > 0
            weight, found = int(weights[is_taken].sum()), int(values[is_taken].sum())
            if least <= weight <= most and found == value:
                return None
            return f"found items of weight {weight} and value {found}, expected {words} {most} and value {value}"

        yield CheckpointArray("place", np.int32, (3,), [(0, count), (0, capacity), (0, 0)])
        weight, total, shape = capacity - int(state["place"][TreePlace.left]), int(values.sum()), (max(1, count),)
        yield CheckpointArray("numbers", np.uint64, (3,), [(0, total), (0, total), (1, self.most_steps)])
        value, best, _ = (int(number) for number in state["numbers"])
        yield CheckpointArray("taken", np.uint8, shape, [(0, 1)], partial(fault, "weight", weight, weight, value))
        yield CheckpointArray("best", np.uint8, shape, [(0, 1)], partial(fault, "weight at most", 0, capacity, best))

    def _explore(self, budget: int) -> None:
        self.backend.launch(kernels.explore, 1, 1, self.table, self.search, budget)

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        state = checkpoint or self._start()
        self._put(state)
        run.done = int(state["numbers"][TreeNumbers.nodes])

    def step(self, run: SynchronousRun) -> Step:
        budget = run.budget().steps
        self._explore(budget)
        _, self.best, self.nodes = map(int, self.backend.download(self.search.numbers))
        # No selection is worth more than the bound at the root: an incumbent that reaches it is proved.
        self.is_proved = bool(self.backend.download(self.search.place)[TreePlace.done]) or self.best == self.bound
        if run.is_report_due:
            run.report(self.nodes, self.best, self.nodes)
        return Step(budget, undone=int(not self.is_proved), is_divisible=True)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint:
        return {name: self.backend.download(getattr(self.search, name)) for name in FIELDS}

    def result(self, run: SynchronousRun) -> Selection:
        run.end(self.nodes, self.best, self.nodes)
        taken = self.backend.download(self.search.best)[: len(self.items)] > 0
        chosen = np.zeros(self.instance.n, bool)
        chosen[self.items[taken]] = True
        return make_selection(self.instance, self.best, chosen, optimal=self.is_proved, nodes=self.nodes)
