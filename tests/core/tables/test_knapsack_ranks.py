"""Knapsacks over ranks: value and selection of a plain table, from two halves of the items or parts of a table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.tables.knapsack import halves, table
from core.tables.knapsack import search as search_module
from core.tables.knapsack.halves import KnapsackHalf
from core.tables.knapsack.problem import Knapsack, generate
from core.tables.knapsack.search import KnapsackSearch
from tests.core.tables.tables import BIG, best_selection, chosen_items
from tests.core.tables.tables import knapsack as make_knapsack
from tests.thread_ranks import on_ranks, twin


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of a row of at least a block, since capacities here are small."""
    monkeypatch.setattr(table, "LEAST_PART", {True: 1, False: 1})


def over_ranks(backend, size, instance, hosts=1, **options):
    """Value and selection, equal on all ranks, with and without a trace, and in a second run."""

    def run(ranks):
        search = KnapsackSearch(twin(backend), Rehearsal(ranks), instance, **options)
        search.warm_up()
        search.join(ranks)
        first, alone, again = (search.run(trace=trace, ranks=ranks) for trace in (True, False, True))
        assert first.value == alone.value == again.value and alone.chosen is None
        assert np.array_equal(first.chosen, again.chosen) and first.digest == again.digest
        assert instance.weight_and_value(first.chosen) == (first.weight, first.value)
        return first.value, chosen_items(first), first.streamed_bytes, search.work

    outcomes = on_ranks(size, run, hosts=hosts)
    assert outcomes == outcomes[:1] * size
    return outcomes[0]


weights = st.one_of(st.integers(0, 9), st.integers(0, 90))
values = st.one_of(st.integers(0, 3), st.integers(0, 90), st.integers(BIG - 3, BIG))
instances = st.tuples(st.lists(st.tuples(weights, values), min_size=1, max_size=14), st.integers(0, 500))
sums = st.tuples(
    st.lists(st.integers(1, 60).map(lambda w: (w, w)), min_size=2, max_size=20), st.integers(0, 700)
)  # subset sums: many selections are best


@settings(max_examples=60, deadline=None)
@given(
    instances | sums,
    st.sampled_from([2, 2, 2, 3, 4, 5, 7]),
    st.sampled_from([1, 3, 1024]),
    st.sampled_from([1, 2, 7]),
    st.booleans(),
)
def test_any_number_of_ranks_finds_the_selection_of_a_plain_table(cpu, given_, size, few, hosts, halved):
    instance = make_knapsack(*given_)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "has_halves", lambda limits, ranks: halved or ranks == 2)
        patch.setattr(halves, "FEW", few)
        patch.setattr(table, "LEAST_PART", {True: 1, False: 1})
        assert over_ranks(cpu, size, instance, hosts)[:2] == best_selection(instance)


@pytest.mark.parametrize("few", [1, 1024])
def test_the_first_of_many_best_selections_is_that_of_one_rank(cpu, monkeypatch, few):
    """Nearly every split is best, and decisions leave the device in several chunks."""
    monkeypatch.setattr(halves, "FEW", few)
    counts = []
    mark = KnapsackHalf.mark
    monkeypatch.setattr(KnapsackHalf, "mark", lambda half, value: counts.append(mark(half, value)) or counts[-1])
    for kind in ("subset-sum", "strongly-correlated", "almost-strongly-correlated"):
        for seed in range(2):
            drawn = generate(kind, 40, seed=seed)
            instance = Knapsack(kind, drawn.weights // 8, drawn.values // 8, drawn.capacity // 8)
            value, chosen, streamed, _ = over_ranks(cpu, 2, instance, room=1400 if seed % 2 else None)
            assert (value, chosen) == best_selection(instance)
            assert (streamed > 0) is (seed % 2 == 1)
    assert max(counts) > 400


def test_teams_of_lanes_do_not_race_on_several_ranks(in_order, small_parts, monkeypatch):
    ties = Knapsack("ties", np.array([1, 2, 3, 2, 5, 90, 7]), np.array([1, 2, 3, 2, 5, 9, 7]), 95)
    for few, size in ((1, 3), (1024, 2)):
        monkeypatch.setattr(halves, "FEW", few)
        assert over_ranks(in_order, size, ties, team_size=2)[:2] == best_selection(ties)


@pytest.mark.parametrize(("few", "size"), [(1, 2), pytest.param(1024, 3, marks=pytest.mark.slow)])
def test_ranks_of_every_backend_find_the_same(backend, small_parts, monkeypatch, few, size):
    monkeypatch.setattr(halves, "FEW", few)
    items, capacity = {"cuda": (5, 60), "python": (3, 40)}.get(backend.name, (11, 9000))
    lanes = {"team_size": 4} if backend.name in ("cuda", "python") else {}
    instance = generate("paper", items, capacity, seed=size)
    if few > 1:
        assert over_ranks(backend, size, instance, **lanes)[:2] == best_selection(instance)
    ties = Knapsack("ties", instance.weights, instance.weights, capacity)
    assert over_ranks(backend, size, ties, **lanes)[:2] == best_selection(ties)


def test_ranks_that_share_capacities_pass_on_a_tenth_of_the_weights_of_heavy_items(cpu, small_parts, monkeypatch):
    instance = generate("paper", 300, 200_000, seed=1)
    plain = KnapsackSearch(cpu, Solo(), instance).run()
    monkeypatch.setattr(search_module, "has_halves", lambda limits, ranks: True)

    def run(ranks):
        search = KnapsackSearch(twin(cpu), ranks, instance)
        assert search.run(ranks=ranks).digest == plain.digest
        half = search.strategy
        received = sum(one.length for step in half.transfers for one in step if one.to == ranks.rank)
        return received / half.part.weights.sum(), len(set(half.own_shares.widths.tolist()))

    (_, light_periods), _, (heavy, heavy_periods), _ = on_ranks(4, run)
    assert heavy < 0.1 and min(light_periods, heavy_periods) > 3
