"""Small searches of every kind. Each returns a result that is equal on all backends.

In numba's simulator every lane is a thread, so teams have four lanes there if a search takes a size.
"""

from dataclasses import astuple, replace
from functools import partial

import numpy as np

from cluster import Solo
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.exact import ExactSearch
from core.hill_climbing.scans import ColumnsScan
from core.hill_climbing.search import HillClimbing
from core.local_search import IteratedLocalSearch, LocalSearch, SimulatedAnnealing, TabuSearch
from core.qap.problem import Qap
from core.run.stop import Iterations
from core.tables import LongestCommonSubsequence
from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch
from core.tables.held_karp.search import HeldKarp
from core.tables.knapsack.problem import generate
from core.tables.knapsack.search import KnapsackSearch
from core.tables.lcs.search import LcsLaunchShape
from core.three_opt import WindowedThreeOpt
from tests.core.local_search.scored import Ordering
from tests.core.tables.tables import by_layers
from tests.thread_ranks import on_ranks, twin

DRAW = np.random.default_rng(2)
FIRST, SECOND = (DRAW.integers(0, 3, n).astype(np.uint8) for n in (40, 130))
STRIPS = LcsLaunchShape(lanes=2, words=1, strips=2, steps=1)
CITIES = tsp.load("uniform:9:seed=1").distances
ASYMMETRIC = DRAW.integers(1, 50, (7, 7))
SYMMETRIC = np.triu(ASYMMETRIC, 1) + np.triu(ASYMMETRIC, 1).T


def few(backend):
    return 4 if backend.device.driver == "simulated" else None


def climb(backend, by=None, **how):
    search = HillClimbing(backend, Solo(), CITIES, **how)
    search.launcher.scan = by(backend, CITIES) if by else search.scan
    search.scan.team_size = few(backend) or search.scan.team_size
    outcome = search.run(Iterations(6), trace=False)
    # The number of pruned nodes depends on the number of lanes.
    return astuple(replace(outcome, evaluations=0)), search.tour_of(1).tolist()


def subsequence(backend, ranks=Solo(), in_strips=False):  # noqa: B008
    shape = STRIPS if few(backend) or (in_strips and backend.capabilities.max_team_size > 1) else None
    outcome = LongestCommonSubsequence(backend, ranks, FIRST, SECOND, shape=shape).run(trace=not in_strips)
    return outcome.length, outcome.pairs is not None and outcome.pairs.tolist()


def knapsack(backend, ranks=Solo(), items=60):  # noqa: B008
    return KnapsackSearch(backend, ranks, generate("paper", 5, items, 1), team_size=few(backend)).run().chosen.tolist()


def diagonals(backend):
    lanes = few(backend)
    common = LongestCommonSubsequence(
        backend, Solo(), FIRST[:5], SECOND[:9], mapping="published", shape=lanes and LcsLaunchShape(lanes, 1, 1, 1)
    ).run()
    chosen = KnapsackSearch(backend, Solo(), generate("paper", 5, 20, 1), mapping="published", team_size=lanes).run()
    return common.pairs.tolist(), chosen.chosen.tolist()


def colony(backend, strategy="fine-deposit", mapping="native", **settings):
    colony = AntColony(backend, Solo(), CITIES, Settings(ants=4, **settings), strategy=strategy, mapping=mapping)
    outcome = colony.run(Iterations(3))
    return outcome.length, outcome.digest, outcome.curve.tolist()


def walked(backend, problem, neighbourhood, algorithm, **how):
    outcome = LocalSearch(backend, Solo(), problem, algorithm, neighbourhood, **how).run(Iterations(5))
    return outcome.cost, outcome.solution.tolist()


def published_tabu(backend, tables):
    how = {"mapping": "published", "select": "host", "data_memory": tables}
    return walked(backend, QAP, "exchange2", TabuSearch(), **how)


def shared_out(backend, act):
    return on_ranks(2, lambda ranks: act(twin(backend), ranks))


def exact(backend, **how):
    outcome = ExactSearch(backend, Solo(), CITIES, **how).run()
    return outcome.length, outcome.tour.tolist()


QAP = Qap.load("taillard:6:seeds=1,2")


def tour_in_windows(backend):
    outcome = WindowedThreeOpt(backend, Solo(), tsp.load("uniform:24:seed=1"), window=16).run(Iterations(4))
    return outcome.hash, outcome.solution.tolist()


SEARCHES = {
    "pruned climbs": lambda b: climb(b, scan="pruned"),
    "climbs in windows": lambda b: climb(b, scan="full"),
    "climbs by columns": lambda b: climb(b, by=ColumnsScan),
    "published climbs": lambda b: climb(b, published="static"),
    "published climbs by worklist": lambda b: climb(b, published="worklist"),
    "subsequence": subsequence,
    "subsequence of two ranks": lambda b: shared_out(b, subsequence),
    "subsequence of two ranks in strips": lambda b: shared_out(b, partial(subsequence, in_strips=True)),
    "knapsack": knapsack,
    "knapsack of two ranks": lambda b: shared_out(b, knapsack),
    "diagonals": diagonals,
    "shortest tour": lambda b: HeldKarp(b, Solo(), ASYMMETRIC).run().tour.tolist(),
    "shortest tour both ways": lambda b: HeldKarp(b, Solo(), SYMMETRIC).run().tour.tolist(),
    "tour by layers": lambda b: by_layers(b, ASYMMETRIC[:5, :5], few(b))[1].solution.tolist(),
    "restricted tour": lambda b: BalasSimonettiSearch(b, Solo(), ASYMMETRIC, 3, np.arange(7)).run().tour.tolist(),
    "ants": colony,
    "ants with limits and lists": lambda b: colony(b, variant="mmas", candidates=4, local_search="2opt-near"),
    "ants that move three edges": lambda b: colony(b, candidates=4, local_search="3opt"),
    "published ants": lambda b: colony(b, mapping="published"),
    "exact": exact,
    "exact published": lambda b: exact(b, mapping="published", bound="edges"),
    "tabu": lambda b: walked(b, QAP, "exchange2", TabuSearch()),
    "tabu published": lambda b: published_tabu(b, "readonly"),
    "tabu published in global memory": lambda b: published_tabu(b, "global"),
    "tour in windows": tour_in_windows,
    "insertions by value": lambda b: walked(b, Ordering(6), "insert", TabuSearch()),
    "reversals by value": lambda b: walked(b, Ordering(6), "reverse", IteratedLocalSearch()),
    "blocks by value": lambda b: walked(b, Ordering(6), "blocks", SimulatedAnnealing()),
}  # fmt: skip
