"""Branch and bound with 1-trees: a worklist of subproblems, explored by lanes and distributed over ranks."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import numpy as np

from core.exact.kernels import branch_and_bound as kernels
from core.exact.kernels.branch_and_bound import CHILDREN, OpenNode
from core.exact.kernels.city_sets import ROW
from core.exact.kernels.one_tree import MOST_MULTIPLIER
from core.exact.kernels.tour_search import BestTour
from core.exact.solution import ExactMethod, NodeCallback
from core.lang.bundles import Rows
from core.run.batches import Batches
from core.run.checkpoint import ANY, Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice, DeviceArray, Ranks
from core.run.loop import AsynchronousRun
from core.run.partition import Intervals
from core.run.progress import PROGRESS_INTERVAL_S

MOST_LENGTH = 1 << 24
"""Costs with their multipliers stay below 2^26, sums over 30 edges below 2^31."""
MOST_SCALE = 1 << 10
TEAM_SIZE = 32
ITEMS_PER_LANE = 4
ITEMS_TO_STOP = 64
"""Fewest items of a launch in a search that may end early, which it checks between launches."""
DEPTHS = ROW * ROW
LARGEST_INDEX = 2**31 - 1


class OpenNodes(NamedTuple):
    """Open nodes on the host: the rows of `core.exact.kernels.branch_and_bound.OpenNode`, and their depths."""

    multipliers: np.ndarray
    included: np.ndarray
    excluded: np.ndarray
    depths: np.ndarray

    def some(self, chosen: slice | np.ndarray) -> OpenNodes:
        return OpenNodes(*(field[chosen] for field in self))


def root_node() -> OpenNodes:
    words = np.zeros((1, ROW), np.uint32)
    return OpenNodes(np.zeros((1, ROW), np.int32), words, words, np.zeros(1, np.int32))


def node_buffers(nodes: Rows) -> tuple[DeviceArray, DeviceArray, DeviceArray, DeviceArray]:
    """Return the arrays of `OpenNode` on the device, in the order of `OpenNodes`."""
    return nodes.multipliers, nodes.included, nodes.excluded, nodes.depth


class OneTreeSearch(ExactMethod):
    """Branch and bound with 1-trees (`core.exact.kernels.branch_and_bound`) on 5 to 30 cities."""

    shared: kernels.TreeSearch
    depths = DEPTHS

    def __init__(self, backend: ComputeDevice, communicator: Ranks, distances: np.ndarray) -> None:
        self.backend = backend
        self.distances = distances
        self.n = n = len(distances)
        capabilities = backend.capabilities
        self.wide = capabilities.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, capabilities.max_team_size) if self.wide else 1
        # The words of all lanes' stacks, and those of all items' children, have indices of 31 bits.
        most_teams = LARGEST_INDEX // (ROW * kernels.stack_room(n) * self.team_size)
        self.teams = min(capabilities.compute_units * (4 if self.wide else 1), most_teams)
        self.lanes = self.teams * self.team_size
        self.want(self.lanes * communicator.size)
        self.agreed: Ranks | None = None
        allocate = backend.allocate
        self.problem = kernels.OneTreeProblem(allocate(n * ROW, np.int32), n, 1)
        self.shared = kernels.TreeSearch(
            limit=allocate(1, np.int32),
            nodes=allocate(DEPTHS, np.uint64),
            counted=allocate(1, np.uint64),
            ticket=allocate(1, np.int32),
            root_bound=allocate(1, np.int32),
        )
        self.stacks = backend.rows(OpenNode(), self.lanes * kernels.stack_room(n))
        self.best = backend.rows(BestTour(), self.lanes)
        self.given, self.children = backend.rows(OpenNode(), 1), backend.rows(OpenNode(), CHILDREN)
        self.nodes = np.zeros(0, np.int64)
        self.items = root_node()

    def want(self, lanes: int) -> None:
        """Set the number of items to make by branching before lanes explore them separately."""
        most_items = LARGEST_INDEX // (ROW * CHILDREN)
        self.wanted = 1 if lanes == 1 else min(ITEMS_PER_LANE * lanes, most_items)

    def agree(self, ranks: Ranks) -> None:
        if self.agreed is not ranks:
            if ranks.size > 1:
                self.want(ranks.sum(self.lanes))
            self.agreed = ranks

    def warm_up(self, count: bool) -> None:
        self.reset(MOST_LENGTH)
        no_nodes = root_node().some(slice(0, 0))
        for counting in (False, True) if count else (False,):
            if self.wanted > 1:
                self._launch(no_nodes, deep=False, counting=counting)
            self._launch(no_nodes, deep=True, counting=counting)

    def reset(self, limit: int) -> None:
        """Choose the unit of the costs; a tour shorter than the limit has no edge of that length."""
        scale = max(1, min(MOST_SCALE, MOST_LENGTH // max(limit, 1)))
        costs = np.zeros((self.n, ROW), np.int32)
        costs[:, : self.n] = np.minimum(self.distances, limit) * scale
        self.problem = kernels.OneTreeProblem(self.problem.costs, self.n, scale)
        self.backend.write(self.problem.costs, costs)
        self.backend.write(self.shared.root_bound, np.zeros(1, np.int32))
        super().reset(limit)

    def prepare(self, ranks: Ranks, limit: int, shortest: int, rest: Checkpoint | None) -> None:
        """Start from the root or a checkpoint; ``limit`` decides the unit of the multipliers in both."""
        self.agree(ranks)
        self.reset(limit)
        self.set_limit(shortest)
        self.most_bound = (limit + 1) * self.problem.scale
        self.items = root_node() if rest is None else OpenNodes(*(rest[name] for name in OpenNodes._fields))
        self.undone = len(self.items.depths)

    def explore(self, run: AsynchronousRun, counting: bool, report: NodeCallback | None) -> None:
        """Branch until there are items for all lanes of all ranks, then explore them."""
        ranks = run.ranks
        least_items = max(self.wanted, ITEMS_TO_STOP) if run.is_watched else self.wanted
        is_over = False
        if ranks.rank == 0:
            while not is_over and 0 < len(self.items.depths) < least_items and self.items.depths[0] < DEPTHS - 1:
                self.items = self._branched(self.items, counting)
                is_over = self.report(report, self.limit_here())
        if ranks.size > 1:
            self.items = OpenNodes(*(ranks.bcast(field) for field in self.items))
            self.set_limit(ranks.minloc(self.limit_here(), ranks.rank)[0])
            is_over = ranks.bcast(is_over)
        if not is_over:
            self.items = self._explore(run, self.items, counting, report)
        self.undone = len(self.items.depths)
        explored = ranks.sum(self.backend.download(self.shared.nodes).astype(np.int64))
        self.nodes = explored[: 1 + int(np.flatnonzero(explored).max(initial=-1))]
        bound = int(ranks.sum(int(self.backend.download(self.shared.root_bound)[0])))
        self.root_bound = -(-min(bound, self.most_bound) // self.problem.scale)

    def left(self, ranks: Ranks) -> Checkpoint:
        return self.items._asdict()

    def layout(self, state: Checkpoint) -> Iterator[CheckpointArray]:
        yield CheckpointArray("depths", np.int32, (None,), [(0, DEPTHS - 1)])
        shape = len(state["depths"]), ROW
        city_sets = (0, (1 << self.n) - 1)
        ranges = {"multipliers": (-MOST_MULTIPLIER, MOST_MULTIPLIER), "included": city_sets, "excluded": city_sets}
        for name, limits in ranges.items():
            # Words beyond the last city have no meaning.
            columns = [limits] * self.n + [(-ANY, ANY)] * (ROW - self.n)
            yield CheckpointArray(name, np.int32 if name == "multipliers" else np.uint32, shape, columns)

    def _branched(self, items: OpenNodes, counting: bool) -> OpenNodes:
        self._launch(items, deep=False, counting=counting)
        *rows, depths = (self.backend.download(buffer) for buffer in node_buffers(self.children))
        children = OpenNodes(*(row.reshape(-1, ROW) for row in rows), depths)
        written = np.arange(len(depths)) < CHILDREN * len(items.depths)
        return children.some(written & (depths >= 0))

    def _explore(
        self, run: AsynchronousRun, items: OpenNodes, counting: bool, report: NodeCallback | None
    ) -> OpenNodes:
        """Explore all items in batches that idle ranks take; return the items that no rank took."""
        count = len(items.depths)
        if not count:
            self.report(report, self.limit_here())
            return items
        ranks = run.ranks
        least = ranks.least(self.limit_here())
        first = self.lanes if ranks.size > 1 or run.is_watched else count
        longest_s = run.monitor.longest_launch_s(PROGRESS_INTERVAL_S) if run.is_watched else inf
        batches = Batches(ranks, count, first, least=self.lanes, seconds=longest_s)
        own_items = []
        for begin, end in batches:
            self._launch(items.some(slice(begin, end)), deep=True, counting=counting)
            own_items.append((begin, end))
            if self.report(report, self.exchange(least, counting)):
                break
            batches.seconds = run.monitor.longest_launch_s(PROGRESS_INTERVAL_S)
        batches.close()
        least.close()
        if not run.is_watched:
            return items.some(slice(0, 0))
        remaining = Intervals([(0, count)]).less_taken(ranks, own_items)
        return items.some(np.array([place for pair in remaining.pairs for place in range(*pair)], np.int64))

    def _launch(self, items: OpenNodes, *, deep: bool, counting: bool) -> None:
        """Explore the subtrees of the items (``deep``), or branch each once, into ``children``."""
        backend, count = self.backend, len(items.depths)
        if count > self.given.count:
            room = max(count, 2 * self.given.count)
            self.given, self.children = (backend.rows(OpenNode(), size) for size in (room, CHILDREN * room))
        for buffer, field in zip(node_buffers(self.given), items, strict=True):
            words = np.zeros(buffer.size, buffer.dtype)
            words[: field.size] = field.reshape(-1)
            backend.write(buffer, words)
        backend.write(self.shared.ticket, np.zeros(1, np.int32))
        shape = max(1, min(self.teams, -(-count // self.team_size))), self.team_size
        children = self.stacks if deep else self.children
        arguments = self.problem, self.given, count, children, self.shared, self.best, deep, counting
        backend.launch(kernels.branch_and_bound, *shape, *arguments)
