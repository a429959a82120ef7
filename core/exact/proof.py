"""Progress of a proof in exact search: proved and pending parts, which are its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import numpy as np

from core.exact.solution import ExactMethod, NodeCallback, Solution, digest_of
from core.ranks import Ranks
from core.run.checkpoint import ANY, Checkpoint, CheckpointArray, history_array, permutation_fault
from core.run.loop import AsynchronousRun, Step
from core.tours import tour_length
from core.tours.instance import canonical_tour

LEFT = "left "
"""Prefix of the names of a method's unexplored rest."""
UNKNOWN = -1
MOST_NODES = 1 << 56
"""Of a depth: the sum over all depths has 63 bits."""


class ProofState(NamedTuple):
    """Results of all ranks so far, and the unexplored rest.

    A checkpoint of another ``bound`` has another kind of rest. ``tour``, (n,), int64, is the shortest one so far. Tours
    of its length are to be counted if ``is_counted``, and are being counted while ``counting``; ``counted`` is the
    number so far, with each direction that the search visits. ``nodes`` of each depth were explored in this search, and
    ``first_nodes``, while tours are counted, in the earlier one for a shortest tour. ``left`` is the method's rest, or
    None if nothing is explored; ``history``, (rows, 4), is `Solution.history` so far.
    """

    bound: str
    length: int
    tour: np.ndarray
    is_counted: bool = False
    counting: bool = False
    counted: int = 0
    nodes: np.ndarray = np.zeros(0, np.int64)
    first_nodes: np.ndarray = np.zeros(0, np.int64)
    root_bound: int | None = None
    left: Checkpoint | None = None
    history: np.ndarray | None = None

    def layout(
        self, state: Checkpoint, method: ExactMethod, distances: np.ndarray, before_s: float, history: bool
    ) -> Iterator[CheckpointArray]:
        """Declare the state of a search that begins with this."""

        def same_bound(bound: np.ndarray) -> str | None:
            return None if bound == self.bound else f"found a search with bound {bound}, expected bound {self.bound}"

        yield CheckpointArray("bound", np.str_, (), rule=same_bound)
        ranges = [(0, self.length), (0, int(self.is_counted)), (0, ANY), (UNKNOWN, ANY)]
        yield CheckpointArray("found", np.int64, (4,), ranges)
        length = int(state["found"][0])

        def right_length(tour: np.ndarray) -> str | None:
            fault = permutation_fault(tour)
            if fault is None and (found := tour_length(distances, tour)) != length:
                fault = f"found a tour of length {found}, expected one of {length}"
            return fault

        yield CheckpointArray("tour", np.int64, self.tour.shape, [(0, len(self.tour) - 1)], right_length)
        for name in ("nodes", "first nodes"):
            yield CheckpointArray(name, np.int64, (None,), [(0, MOST_NODES)])
        for array in method.layout(state_of_left(state)):
            yield array._replace(name=LEFT + array.name)
        if history:
            explored = int(state["nodes"].sum() + state["first nodes"].sum())
            yield history_array("history", ANY, explored, before_s, length)

    def from_state(self, state: Checkpoint | None) -> ProofState:
        """Return the content of a checkpoint, or without one this state, with which a search begins."""
        if state is None:
            return self
        length, counting, counted, root_bound = (int(number) for number in state["found"])
        return self._replace(
            length=length,
            tour=state["tour"],
            counting=bool(counting),
            counted=counted,
            nodes=state["nodes"],
            first_nodes=state["first nodes"],
            root_bound=None if root_bound == UNKNOWN else root_bound,
            left=state_of_left(state),
            history=state.get("history"),
        )

    def state(self, rest: Checkpoint, history: np.ndarray | None) -> Checkpoint:
        """Return the same as arrays, with the method's unexplored ``rest``."""
        root_bound = UNKNOWN if self.root_bound is None else self.root_bound
        return {
            "bound": np.array(self.bound),
            "found": np.array([self.length, self.counting, self.counted, root_bound], np.int64),
            "tour": self.tour,
            "nodes": self.nodes,
            "first nodes": self.first_nodes,
            **{LEFT + name: array for name, array in rest.items()},
            **({} if history is None else {"history": history}),
        }

    @property
    def explored(self) -> int:
        return int(self.nodes.sum() + self.first_nodes.sum())


class Proof:
    """The proof that a tour is shortest, and the count of all shortest tours, as the run loop calls it.

    A step explores unexplored work: methods branch, bound and redistribute work between ranks. When none is left, the
    shortest tour is proved. To count tours, the search then begins again, for all tours of this length.

    The search begins with the state ``begun``, which has the heuristic's tour; ``distances`` are (n, n).
    """

    def __init__(self, method: ExactMethod, distances: np.ndarray, begun: ProofState) -> None:
        self.method, self.distances, self.start_length = method, distances, begun.length
        self.found = self.begun = begun

    def begin(self, run: AsynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.found = state = self.begun.from_state(checkpoint)
        self.method.is_kept = run.checkpointer is not None or run.stop.seconds != inf
        run.begin_samples(self.start_length if checkpoint is None else None, state.history, (state.explored, 0))
        self._prepare(run.ranks)

    def step(self, run: AsynchronousRun) -> Step:
        """Explore until nothing is left or all ranks synchronise; then begin to count tours if requested."""
        method = self.method
        method.explore(run, self.before.counting, self._report(run))
        self.found = self._after(run.ranks)
        if self.found.is_counted and not self.found.counting and run.ranks.sum(int(method.undone)) == 0:
            no_nodes = self.found.nodes[:0]
            self.found = self.found._replace(counting=True, nodes=no_nodes, first_nodes=self.found.nodes, left=None)
            self._prepare(run.ranks)
        return Step(undone=method.undone)

    def checkpoint(self, run: AsynchronousRun) -> Checkpoint:
        return self.found.state(self.method.left(run.ranks), run.history_rows(numbered=True))

    def layout(self, run: AsynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        return self.begun.layout(state, self.method, self.distances, run.before_s, run.has_history)

    def result(self, run: AsynchronousRun) -> Solution:
        state, is_done = self.found, run.undone == 0
        optimal_tours = state.counted // self.method.directions if state.counting and is_done else None
        run.end(state.explored, state.length, state.explored, state.root_bound)
        shortest = state.length, canonical_tour(state.tour), optimal_tours
        nodes, digest = summed(state.first_nodes, state.nodes), digest_of(state.length, optimal_tours)
        root_bound = None if state.root_bound is None else min(state.root_bound, state.length)
        history, is_proved = run.history(numbered=True), state.counting or is_done
        return Solution(*shortest, nodes, root_bound, self.start_length, digest, history, is_proved, is_done)

    def _prepare(self, ranks: Ranks) -> None:
        """Let the method search the tours shorter than the start, or count those of the least length."""
        self.before = state = self.found
        self.limit = state.length + 1 if state.counting else self.start_length
        self.method.prepare(ranks, self.limit, self.limit if state.counting else state.length, state.left)

    def _after(self, ranks: Ranks) -> ProofState:
        method, before = self.method, self.before
        root_bound = method.root_bound if before.root_bound is None else before.root_bound
        after = before._replace(nodes=summed(before.nodes, method.nodes), root_bound=root_bound)
        if before.counting:
            return after._replace(counted=before.counted + method.counted(ranks))
        length, tour = method.best_tour(ranks, self.limit)
        return after if tour is None or length >= before.length else after._replace(length=length, tour=tour)

    def _report(self, run: AsynchronousRun) -> NodeCallback | None:
        """Return the method's report of the nodes that this rank has explored; None if nothing waits for it."""
        before = self.before
        samples = None if before.counting else run.samples
        if not run.is_watched and samples is None:
            return None
        explored = before.explored // run.ranks.size

        def report(nodes: int, incumbent: int, bound: int | None) -> bool:
            if samples is not None:
                samples.see(incumbent, nodes)
            return run.report(explored + nodes, incumbent, explored + nodes, bound)

        return report


def state_of_left(state: Checkpoint) -> Checkpoint:
    return {name.removeprefix(LEFT): array for name, array in state.items() if name.startswith(LEFT)}


def summed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    total = np.zeros(max(len(first), len(second)), np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total
