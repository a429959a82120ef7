"""The permutation flow shop for local search: an order of jobs, the same on every machine, that ends soonest.

Kept heads and tails: E. Taillard, "Some efficient heuristic methods for the flow shop sequencing problem", European
Journal of Operational Research 47, 1990, here for the jobs between the first and the last position that change.
"""

from collections.abc import Callable, Mapping

import numpy as np

from core.arguments import loaded_instance
from core.kernels.local_search.moves import EXCHANGE, moved
from core.kernels.local_search.walks import AnyMove
from core.lang import Array, Row, bundle, function, i32, lane, local_array, max, min, team_size
from core.problems.encodings import Permutation
from core.problems.insertion import Insertion
from core.problems.more.flow_shop.insertion import InsertionShop, insertion_makespans
from core.problems.more.flow_shop.neh import neh
from core.problems.more.flow_shop.shops import MOST_MACHINES, FlowShopInstance, load
from core.problems.problem import Evaluation, Problem


@bundle
class Shop:
    """Processing time of each job on each machine: a row for each job."""

    times: Array[i32]
    jobs: i32
    machines: i32


@bundle
class HeadsAndTails(Shop):
    """The shop, with heads and then tails of every machine for each walk.

    The head of p jobs is the completion time of the first p; the tail of p jobs is the time from the start of the last
    p.
    """

    ends: Array[i32] = Row("cells")
    cells: i32


@function
def makespan(order: Array[i32], move: AnyMove, shop: Shop) -> i32:
    """Return the completion time of the last job on the last machine for the neighbour by a move."""
    free = local_array(MOST_MACHINES, i32)
    for machine in range(shop.machines):
        free[machine] = 0
    for p in range(shop.jobs):
        job, ready = moved(order, p, move), 0
        for machine in range(shop.machines):
            ready = max(ready, free[machine]) + shop.times[job * shop.machines + machine]
            free[machine] = ready
    return free[shop.machines - 1]


@function
def makespan_by_heads_tails(order: Array[i32], move: AnyMove, shop: HeadsAndTails) -> i32:
    """Return the makespan from the head before the positions that change and the tail after them."""
    free = local_array(MOST_MACHINES, i32)
    first, last = min(move.i, move.j), max(max(move.i, move.j), move.k)
    for machine in range(shop.machines):
        free[machine] = shop.ends[first * shop.machines + machine]
    for p in range(first, last + 1):
        job, ready = moved(order, p, move), 0
        for machine in range(shop.machines):
            ready = max(ready, free[machine]) + shop.times[job * shop.machines + machine]
            free[machine] = ready
    longest, behind = 0, shop.cells // 2 + (shop.jobs - 1 - last) * shop.machines
    for machine in range(shop.machines):
        longest = max(longest, free[machine] + shop.ends[behind + machine])
    return longest


@function
def update_heads_tails(order: Array[i32], move: AnyMove, shop: HeadsAndTails):
    """Store heads and tails after a move to be made; tails are the heads of the reversed shop."""
    for side in range(lane(), 2, team_size()):
        for machine in range(shop.machines):
            shop.ends[side * shop.cells // 2 + machine] = 0
        for p in range(shop.jobs):
            job, ready = moved(order, p if side == 0 else shop.jobs - 1 - p, move), 0
            for m in range(shop.machines):
                machine = m if side == 0 else shop.machines - 1 - m
                place = side * shop.cells // 2 + p * shop.machines + machine
                ready = max(ready, shop.ends[place]) + shop.times[job * shop.machines + machine]
                shop.ends[place + shop.machines] = ready


@function
def begin_heads_tails(order: Array[i32], shop: HeadsAndTails):
    """Store heads and tails of the present order."""
    update_heads_tails(order, AnyMove(-1, -1, -1, EXCHANGE), shop)


class FlowShop(Problem):
    """Order jobs so that the last machine completes the last job as soon as possible.

    Parameters
    ----------
    instance : core.problems.more.flow_shop.shops.FlowShopInstance or str
        The shop, or its name or generator, see `core.problems.more.flow_shop.shops.load`: ``ta001``,
        ``taillard:30:5:seed=7``.
    """

    neighbourhoods = ("insert", "exchange2", "exchange3", "reverse")
    tested = True

    def __init__(self, instance: FlowShopInstance | str = "ta001") -> None:
        self.instance = shop = loaded_instance(instance, FlowShopInstance, load)
        super().__init__(shop.name, Permutation(shop.jobs), Shop(shop.times, shop.jobs, shop.machines))
        self.optimum, self.sha256 = shop.optimum, shop.sha256

    def cost(self, solution: np.ndarray) -> int:
        """Return the makespan: the time at which all jobs are complete."""
        return int(self.costs(np.asarray(solution)[None])[0])

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        return self.instance.makespans(solutions)

    def cost_range(self) -> tuple[int, int]:
        """Return the work of the busiest machine and the work of all."""
        return self.instance.bounds

    def start_heuristics(self) -> Mapping[str, Callable[[], np.ndarray]]:
        return {"neh": lambda: neh(self.instance.times)}

    def insertion(self) -> Insertion:
        shop = self.instance
        data = InsertionShop(shop.times, jobs=shop.jobs, machines=shop.machines, cells=(shop.jobs + 1) * shop.machines)
        return Insertion(insertion_makespans, data, temperature=0.06 * float(shop.times.mean()), removed=2)

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``heads-tails`` (from a walk's heads and tails) and ``value`` (the whole schedule)."""
        steps = self.instance.times.size
        faster = Evaluation(
            value=makespan_by_heads_tails, begin=begin_heads_tails, update=update_heads_tails, work=steps // 3 + 1
        )
        return {"heads-tails": faster, "value": Evaluation(value=makespan, work=steps)}

    def data_for(self, evaluation: str) -> Shop:
        """Return the times; with memory for a walk's heads and tails, if the evaluation reads them."""
        n, m = self.instance.jobs, self.instance.machines
        return HeadsAndTails(self.data.times, n, m, cells=2 * (n + 1) * m) if evaluation == "heads-tails" else self.data
