"""A small search of every kind, which a driver makes from a command line too."""

from typing import Any, NamedTuple

import numpy as np

from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.exact import ExactSearch
from core.hill_climbing.search import HillClimbing
from core.local_search import LocalSearch, TabuSearch
from core.qap.problem import Qap
from core.run.stop import Iterations, Stop
from core.tables.held_karp import balas_simonetti
from core.tables.held_karp import search as held_karp_search
from core.tables.knapsack import branch_and_bound, expanding_core
from core.tables.knapsack import problem as knapsack
from core.tables.knapsack.search import KnapsackSearch
from core.tables.lcs import search as lcs_search
from core.tables.lcs import strings
from core.three_opt import IteratedThreeOpt, WindowedThreeOpt


class Kind(NamedTuple):
    """A search, its arguments, and the equivalent command line.

    `problem` has the arguments after backend and communicator, `endless` another problem, settings and stop of a long
    search (None if its callback cannot end it), and `shared` is True if ranks can share it.
    """

    search: Any
    problem: tuple
    settings: dict
    stop: Stop | None
    command: str
    endless: tuple[tuple, dict, Stop | None] | None = None
    shared: bool = True

    def make(self, backend, ranks):
        return self.search(backend, ranks, *self.problem, **self.settings)

    def make_endless(self, backend, ranks):
        problem, settings, _ = self.endless
        return self.search(backend, ranks, *problem, **settings)


def cities(n):
    return tsp.load(f"uniform:{n}:seed=1").distances


QAP = (Qap.load("taillard:9:seeds=1,2"), TabuSearch(), "exchange2")
PAIR = strings.from_texts("ABCBDAB" * 9, "BDCABA" * 9)
LETTERS = " ".join(one.tobytes().decode() for one in (PAIR.a, PAIR.b))
ITEMS = knapsack.generate("paper", 12, 60, 1)
HARD = knapsack.Knapsack("hard", np.full(60, 2), np.full(60, 2), 61)
"""Even weights and an odd capacity: no bound prunes anything."""
WIDE = knapsack.generate("strongly-correlated", 2000, None, 1)
"""Its core takes more than one launch."""
MUCH = Iterations(10**9)
KINDS = {
    "tabu search": Kind(
        LocalSearch, QAP, {"history": True}, Iterations(300), "qap --instance taillard:9:seeds=1,2 --iterations 300",
        (QAP, {"history": True}, MUCH),
    ),
    "several walks": Kind(
        LocalSearch, QAP, {"level": "algorithm", "walks": 3, "history": True}, Iterations(60),
        "qap --instance taillard:9:seeds=1,2 --walks 3 --iterations 60",
        (QAP, {"level": "algorithm", "walks": 3}, MUCH),
    ),
    "hill climbing": Kind(
        HillClimbing, (cities(12),), {}, Iterations(40), "ihc --instance uniform:12:seed=1 --climbers 40",
        ((cities(12),), {"start": "philox"}, MUCH),
    ),
    "iterated 3-opt": Kind(
        IteratedThreeOpt, (tsp.load("uniform:12:seed=1"),), {"walks": 2}, Iterations(60),
        "tsp --instance uniform:12:seed=1 --walks 2 --iterations 60", ((tsp.load("uniform:40:seed=1"),), {}, MUCH),
    ),
    "windows of a tour": Kind(
        WindowedThreeOpt, (tsp.load("uniform:40:seed=1"),), {"window": 16}, Iterations(5),
        "tsp --algorithm windows --window 16 --instance uniform:40:seed=1 --iterations 5", ((tsp.load("uniform:40:seed=1"),), {}, MUCH),
        shared=False,
    ),
    "ants": Kind(
        AntColony, (cities(9), Settings(ants=6)), {}, Iterations(7),
        "aco --instance uniform:9:seed=1 --ants 6 --iterations 7", ((cities(9), Settings(ants=6)), {}, MUCH),
    ),
    "colonies": Kind(
        AntColony, (cities(9), Settings(ants=4, colonies=2)), {}, Iterations(3),
        "aco --instance uniform:9:seed=1 --ants 4 --colonies 2 --iterations 3",
        ((cities(9), Settings(ants=4, colonies=2)), {}, MUCH),
    ),
    "1-trees": Kind(
        ExactSearch, (cities(8),), {}, None, "exact --instance uniform:8:seed=1",
        ((1 - np.eye(9, dtype=int),), {"count": True}, None),
    ),
    "the thesis' bound": Kind(
        ExactSearch, (cities(9),), {"bound": "edges"}, None, "exact --instance uniform:9:seed=1 --bound edges",
        ((1 - np.eye(14, dtype=int),), {"bound": "none"}, None),
    ),
    "the thesis' mapping": Kind(
        ExactSearch, (cities(9),), {"bound": "edges", "mapping": "published"}, None,
        "exact --instance uniform:9:seed=1 --bound edges --mapping published",
        ((1 - np.eye(14, dtype=int),), {"bound": "none", "mapping": "published"}, None),
    ),
    "Held and Karp": Kind(held_karp_search.HeldKarp, (cities(7),), {}, None, "heldkarp --instance uniform:7:seed=1"),
    "restricted": Kind(
        balas_simonetti.BalasSimonettiSearch, (cities(30), 3), {}, None, "heldkarp --instance uniform:30:seed=1 --k 3",
    ),
    "strings": Kind(lcs_search.LongestCommonSubsequence, (PAIR.a, PAIR.b), {}, None, f"lcs --text {LETTERS}"),
    "strings by diagonals": Kind(
        lcs_search.LongestCommonSubsequence, (PAIR.a, PAIR.b), {"mapping": "published"}, None,
        f"lcs --text {LETTERS} --mapping published", shared=False,
    ),
    "knapsack": Kind(KnapsackSearch, (ITEMS,), {}, None, "knapsack --items 12 --capacity 60 --seed 1"),
    "knapsack by diagonals": Kind(
        KnapsackSearch, (ITEMS,), {"mapping": "published"}, None, "knapsack --items 12 --capacity 60 --seed 1 --mapping published",
        shared=False,
    ),
    "knapsack bounded": Kind(
        branch_and_bound.KnapsackBranchAndBound, (ITEMS,), {}, None, "knapsack --items 12 --capacity 60 --seed 1 --method bb",
        ((HARD,), {}, None), shared=False,
    ),
    "knapsack by a core": Kind(
        expanding_core.KnapsackCore, (ITEMS,), {}, None, "knapsack --items 12 --capacity 60 --seed 1 --method core",
        ((WIDE,), {}, None), shared=False,
    ),
}  # fmt: skip
