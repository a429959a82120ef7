"""The 0-1 knapsack problem by branch and bound, the baseline of `oconnell2014` (its reference [17]) on one core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from core.errors import UserError
from core.run.checkpoint import ANY, Checkpoint, CheckpointArray, Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun, execute
from core.run.progress import refuse_history
from core.run.protocol import Callback, Search
from core.run.stop import BatchSizes, Stop
from core.tables.knapsack.kernels import branch_and_bound as kernels
from core.tables.knapsack.kernels.branch_and_bound import TreeNumbers, TreePlace
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import Selection, make_selection

FIRST_BUDGET = 1 << 12
GROWTH = 2
"""Factor by which the nodes of a launch grow at most."""
SLICE_SECONDS = 0.25
"""Approximate duration of a launch in seconds, for time limits and progress."""
FIELDS = ("place", "numbers", "taken", "best")
"""Fields of `core.tables.knapsack.kernels.branch_and_bound.KnapsackTreeState` in a checkpoint."""


class KnapsackBranchAndBound(Search):
    """Branch and bound on one instance, by one lane of one device; the communicator has one rank.

    The value is that of dynamic programming; the selection is one optimal selection, and may be another one. The time
    is unpredictable: instances of a thousand items take microseconds or years. ``most_nodes`` limits the nodes.
    """

    def __init__(
        self, backend: ComputeDevice, communicator: Ranks, instance: Knapsack, *, most_nodes: int | None = None
    ) -> None:
        if communicator.size > 1:
            raise UserError(
                f"branch and bound on {communicator.size} ranks: expected one, it is the baseline of a core"
            )
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.most_nodes = most_nodes
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

    work = None
    """Number of nodes of a run, which is not known before."""
    unit = "nodes"

    def warm_up(self) -> None:
        with self.backend.warming_up():
            self._put(None)
            self._explore(0)

    def _put(self, state: Checkpoint | None) -> None:
        if state is None:
            place, no_items = (
                np.array([0, self.instance.capacity, 0], np.int32),
                np.zeros(max(1, len(self.items)), np.uint8),
            )
            state = {"place": place, "numbers": np.zeros(3, np.uint64), "taken": no_items, "best": no_items}
        for name in FIELDS:
            self.backend.write(getattr(self.search, name), state[name])

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        count, capacity = len(self.items), self.instance.capacity
        instance = self.instance
        weights, values = (column[self.items].astype(np.int64) for column in (instance.weights, instance.values))

        def packed(expected: str, weight: int | None, value: int) -> Callable[[np.ndarray], str | None]:
            def rule(chosen: np.ndarray) -> str | None:
                is_taken = chosen[:count] > 0
                found = int(weights[is_taken].sum()), int(values[is_taken].sum())
                fits = found[1] == value and (found[0] == weight if weight is not None else found[0] <= capacity)
                return None if fits else f"found items of weight {found[0]} and value {found[1]}, expected {expected}"

            return rule

        yield CheckpointArray("place", np.int32, (3,), [(0, count), (0, capacity), (0, 0)])
        _, remaining, _ = (int(number) for number in state["place"])
        total = int(values.sum())
        yield CheckpointArray("numbers", np.uint64, (3,), [(0, total), (0, total), (1, self.most_nodes or ANY)])
        value, best, _ = (int(number) for number in state["numbers"])
        weight = capacity - remaining
        shape = (max(1, count),)
        expected = f"weight {weight} and value {value}"
        yield CheckpointArray("taken", np.uint8, shape, [(0, 1)], packed(expected, weight, value))
        expected = f"weight at most {capacity} and value {best}"
        yield CheckpointArray("best", np.uint8, shape, [(0, 1)], packed(expected, None, best))

    def _explore(self, budget: int) -> None:
        self.backend.launch(kernels.explore, 1, 1, self.table, self.search, budget)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> Selection:
        """Search until the end or a limit; the result is ``optimal`` at the end. See `core.run.protocol.Search.run`.

        The only criterion is the time, read after every launch. A history is refused, since the times of improvements
        are not kept. The callback's steps are nodes, and its cost is the incumbent's value.
        """
        stop = (stop or Stop()).only("branch and bound", "seconds")
        refuse_history(history, "branch and bound")
        stop = replace(stop, iterations=self.most_nodes or ANY)
        sizes = BatchSizes(FIRST_BUDGET, GROWTH, SLICE_SECONDS)
        return execute(self, SynchronousRun(self.communicator, stop, callback, checkpointer=checkpointer, sizes=sizes))

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self._put(checkpoint)
        run.done = 0 if checkpoint is None else int(checkpoint["numbers"][TreeNumbers.nodes])

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
