"""Searches with fewer items (walks, climbers, ants, colonies, subtrees, rows) than ranks find the result of one."""

import numpy as np
import pytest

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.ant_colony import AntColony, Settings
from core.exact import ExactSearch
from core.hill_climbing.search import HillClimbing
from core.local_search import IteratedLocalSearch, LocalSearch, Rule, SimulatedAnnealing, TabuSearch
from core.qap.problem import Qap
from core.run.stop import Iterations
from core.tables.held_karp import balas_simonetti
from core.tables.held_karp import search as held_karp_search
from core.tables.knapsack import search as knapsack_search
from core.tables.knapsack.problem import Knapsack
from core.tables.lcs import search as lcs_search
from core.tables.lcs import strings
from tests.core.local_search import rules
from tests.core.run.searches import Kind, cities
from tests.core.run.test_checkpoints import Kept, impatient, said, some
from tests.thread_ranks import on_ranks, twin

RANKS = 3
TABLES = {
    *(held_karp_search.HeldKarp, balas_simonetti.BalasSimonettiSearch),
    *(lcs_search.LongestCommonSubsequence, knapsack_search.KnapsackSearch),
}
"""Searches without checkpoints."""
PROBLEM = Qap.load("taillard:7:seeds=1,2")


def walking(algorithm, walks, exchange, history):
    settings = {"level": "algorithm", "walks": walks, "exchange": exchange, "history": history}
    return Kind(LocalSearch, (PROBLEM, algorithm, "exchange2"), settings, Iterations(20), "")


def ants(**settings):
    return Kind(AntColony, (cities(6), Settings(**settings)), {}, Iterations(5), "")


def exact(n, bound, **settings):
    return Kind(ExactSearch, (cities(n),), {"bound": bound, "count": True, **settings}, None, "")


WALKS = [
    (1, TabuSearch(), 0, False),
    (2, TabuSearch(), 1, True),
    (1, IteratedLocalSearch(), 1, True),
    (2, IteratedLocalSearch(), 0, False),
    (1, SimulatedAnnealing(), 1, False),
    (2, SimulatedAnnealing(), 1, True),
    (2, Rule(rules.late, lag=7, batch=5, restart=11), 1, True),
    (1, TabuSearch(restart=3), 0, False),
]


def common(text, other_text):
    pair = strings.from_texts(text, other_text)
    return Kind(lcs_search.LongestCommonSubsequence, (pair.a, pair.b), {}, None, "")


def things(weight):
    return Kind(knapsack_search.KnapsackSearch, (Knapsack("k", np.array([weight]), np.array([5]), 1),), {}, None, "")


CASES = {
    **{
        f"{count} walks, {one.name}{f' {one.restart}' if one.restart else ''}, exchange {k}": walking(one, count, k, history)
        for count, one, k, history in WALKS
    },
    **{f"{count} climbers": Kind(HillClimbing, (cities(6),), {}, Iterations(count), "") for count in (1, 2)},
    "1 ant": ants(ants=1),
    "2 ants, limited": ants(ants=2, variant="mmas", candidates=4),
    "1 ant that climbs by lists": ants(ants=1, local_search="2opt-near"),
    "1 ant that moves three edges": ants(ants=1, local_search="3opt"),
    "2 colonies": ants(ants=2, colonies=2),
    "2 colonies that exchange": ants(ants=2, variant="mmas", colonies=2, exchange=2),
    "2 colonies as published": ants(ants=2, colonies=2)._replace(settings={"mapping": "published"}),
    "a tree of 1-trees": exact(5, "one-tree"),
    "a tree with the thesis' bound": exact(5, "edges"),
    "a tree without a bound": exact(5, "none"),
    "a tree as published": exact(8, "edges", mapping="published"),
    "a table of 4 cities": Kind(held_karp_search.HeldKarp, (cities(4),), {}, None, ""),
    "a restricted table": Kind(
        balas_simonetti.BalasSimonettiSearch, (cities(4), 2, np.arange(4)), {}, None, ""
    ),
    "a table of 2 letters": common("AB", "BAB"),
    "a table without a letter": common("", "A"),
    "a table of 1 thing": things(1),
    "a table of 1 thing that does not fit": things(3),
}  # fmt: skip


@pytest.fixture(params=CASES)
def kind(request):
    return CASES[request.param]


def run(kind, backend, ranks, checkpointer=None):
    """Run as programs do: each rank makes and warms up its search alone, then all synchronise."""
    search = impatient(kind.make(backend, ranks if ranks.size == 1 else Rehearsal(ranks)))
    search.warm_up()
    history = kind.settings.get("history", False) or kind.search in (AntColony, HillClimbing)
    return search.run(kind.stop, history=history, ranks=ranks, checkpointer=checkpointer)


def found_by(kind, result):
    """Results that are equal on any number of ranks: a table or tree may return any of several equal solutions."""
    if kind.search in (LocalSearch, AntColony):
        return said(result)
    return result.hash, result.cost, result.finished


def on_three(kind, cpu, kept, state=None):
    return on_ranks(RANKS, lambda ranks: run(kind, twin(cpu), ranks, kept and kept.checkpointer(state)))


def test_they_find_what_one_rank_finds_and_go_on_from_its_states(kind, cpu):
    if kind.search in TABLES:
        expected = found_by(kind, run(kind, cpu, Solo()))
        assert [found_by(kind, one) for one in on_three(kind, cpu, None)] == [expected] * RANKS
        return
    alone, of_three = Kept(), Kept()
    expected = found_by(kind, run(kind, cpu, Solo(), alone.checkpointer()))
    assert [found_by(kind, one) for one in on_three(kind, cpu, of_three)] == [expected] * RANKS
    assert [found_by(kind, one) for one in on_three(kind, cpu, None)] == [expected] * RANKS
    for state in some(alone.states, 2):
        assert [found_by(kind, one) for one in on_three(kind, cpu, Kept(), state)] == [expected] * RANKS
    for state in some(of_three.states, 2):
        assert found_by(kind, run(kind, cpu, Solo(), Kept().checkpointer(state))) == expected


def test_the_callback_of_the_first_rank_hears_of_a_cost(cpu):
    def act(ranks):
        reported = []
        search = walking(TabuSearch(), 1, 0, False).make(twin(cpu), Rehearsal(ranks))
        search.run(Iterations(20), callback=reported.append, ranks=ranks)
        return [one.cost for one in reported]

    assert None not in on_ranks(RANKS, act)[0]
