"""Progress of a proof in exact search: proved and pending parts, which are its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from core.problems.tsp import tour_length
from core.search.checkpoint import Checkpoint, Checkpointer
from core.search.checkpoint_layout import ANY, CheckpointArray, history_array, permutation_fault
from core.search.exact.solution import ExactMethod, NodeCallback
from core.search.progress_samples import ProgressSamples
from core.search.protocol import SharedProgressMonitor

LEFT = "left "
"""Before the names of what a method has left."""
UNKNOWN = -1
MOST_NODES = 1 << 56
"""Of a depth: the sum over all depths has 63 bits."""


class ProofState(NamedTuple):
    """What all ranks have found, and what they have left.

    Attributes
    ----------
    bound : str
        By which the search cuts branches: another one has other things left.
    length : int
        The shortest so far.
    tour : ndarray, shape (n,), int64
        A tour of this length.
    is_counted : bool
        True if the tours of the least length are to be counted.
    counting : bool
        Whether it is known that none is shorter, and all of this length are counted.
    counted : int
        How many are, as the search meets them.
    nodes : ndarray, int64
        Explored in this search, of each depth.
    first_nodes : ndarray, int64
        The same of the search for a shortest tour, while tours are counted.
    root_bound : int or None
        See `Solution`.
    left : State or None
        What the method has left; None: everything.
    history : ndarray, shape (rows, 4), optional
        `Solution.history` up to here.

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
        yield CheckpointArray(
            "found", np.int64, (4,), [(0, self.length), (0, int(self.is_counted)), (0, ANY), (UNKNOWN, ANY)]
        )
        length = int(state["found"][0])

        def right_length(tour: np.ndarray) -> str | None:
            fault = permutation_fault(tour)
            if fault is None and (found := tour_length(distances, tour)) != length:
                fault = f"found a tour of length {found}, expected one of {length}"
            return fault

        yield CheckpointArray("tour", np.int64, self.tour.shape, [(0, len(self.tour) - 1)], right_length)
        for name in ("nodes", "first nodes"):
            yield CheckpointArray(name, np.int64, (None,), [(0, MOST_NODES)])
        for left in method.layout(state_of_left(state)):
            yield left._replace(name=LEFT + left.name)
        if history:
            explored = int(state["nodes"].sum() + state["first nodes"].sum())
            yield history_array("history", ANY, explored, before_s, length)

    def from_state(self, state: Checkpoint | None) -> ProofState:
        """Return the content of a state; None: this, with which a search begins."""
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

    def state(self, left: Checkpoint, history: np.ndarray | None) -> Checkpoint:
        """The same as arrays, with what is left now."""
        root_bound = UNKNOWN if self.root_bound is None else self.root_bound
        return {
            "bound": np.array(self.bound),
            "found": np.array([self.length, self.counting, self.counted, root_bound], np.int64),
            "tour": self.tour,
            "nodes": self.nodes,
            "first nodes": self.first_nodes,
            **{LEFT + name: one for name, one in left.items()},
            **({} if history is None else {"history": history}),
        }

    @property
    def explored(self) -> int:
        """Nodes of both searches."""
        return int(self.nodes.sum() + self.first_nodes.sum())


class ProofRun:
    """One run of a method: the search for a shortest tour, and that for all of them; all ranks go through it together.

    Parameters
    ----------
    method
    ranks
    searched
        Where it begins, or goes on.
    monitor, samples, checkpointer
        Of the run, where there are any.

    """

    def __init__(
        self,
        method: ExactMethod,
        ranks: Any,
        searched: ProofState,
        monitor: SharedProgressMonitor | None,
        samples: ProgressSamples | None,
        checkpointer: Checkpointer | None,
    ) -> None:
        self.method, self.ranks, self.searched = method, ranks, searched
        self.monitor, self.samples, self.checkpointer = monitor, samples, checkpointer

    def find(self, limit: int) -> bool:
        """Search the tours shorter than ``limit`` for a shortest one; whether it is one."""
        return self.searched.counting or self.search(limit)

    def count(self) -> int | None:
        """Count the shortest tours; None: it was ended."""
        found = self.searched
        if not found.counting:
            nothing = found.nodes[:0]
            self.searched = found._replace(counting=True, nodes=nothing, first_nodes=found.nodes, left=None)
        return self.searched.counted // self.method.directions if self.search(found.length + 1) else None

    def search(self, limit: int) -> bool:
        """Explore what is left, meeting where a state is due; whether nothing is."""
        method, ranks, before = self.method, self.ranks, self.searched
        method.prepare(ranks, limit, limit if before.counting else before.length, before.left)
        report = self.report(before)
        while True:
            method.explore(ranks, before.counting, report)
            self.searched = self.after(before, limit)
            if self.monitor is None:
                return True
            goes_on = self.monitor.goes_on(method.undone)
            if not goes_on or self.checkpointer is None:
                return bool(ranks.sum(int(method.undone)) == 0)
            rows = None if self.samples is None else self.samples.rows(ranks, numbered=True)
            self.checkpointer.keep(ranks, self.searched.state(method.left(ranks), rows))
            self.monitor.resume()

    def after(self, before: ProofState, limit: int) -> ProofState:
        """What is found when the method has explored more; all ranks call this."""
        method, ranks = self.method, self.ranks
        root_bound = method.root_bound if before.root_bound is None else before.root_bound
        more = before._replace(nodes=summed(before.nodes, method.nodes), root_bound=root_bound)
        if before.counting:
            return more._replace(counted=before.counted + method.counted(ranks))
        length, tour = method.best_tour(ranks, limit)
        return more if tour is None or length >= before.length else more._replace(length=length, tour=tour)

    def report(self, before: ProofState) -> NodeCallback | None:
        """What the method is to report to, if anybody wants to know."""
        monitor, samples = self.monitor, None if before.counting else self.samples
        if monitor is None and samples is None:
            return None
        # Each rank tells of its own part.
        explored = before.explored if self.ranks.size == 1 else before.explored // self.ranks.size

        def report(nodes: int, incumbent: int, bound: int | None) -> bool:
            if samples is not None:
                samples.see(incumbent, nodes)
            if monitor is None:
                return False
            if monitor.is_due():
                monitor.tell(explored + nodes, incumbent, explored + nodes, bound)
            return monitor.ends(incumbent)

        return report


def state_of_left(state: Checkpoint) -> Checkpoint:
    """Return the part of a state that a method has left."""
    return {name.removeprefix(LEFT): one for name, one in state.items() if name.startswith(LEFT)}


def summed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sum of two arrays, the shorter filled up with zeros."""
    total = np.zeros(max(len(first), len(second)), np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total
