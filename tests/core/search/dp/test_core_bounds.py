"""Bounds of a core with many states: a bound of no selection too small, completions as by brute force, equal values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import Solo
from core.problems.tables.knapsack import generate
from core.search.dp.knapsack.core_bounds import best_completion
from core.search.dp.knapsack.expanding_core import KnapsackCore
from tests.core.search.dp.tables import BIG, best_selection, knapsack

EXPANDING_CORE = "core.search.dp.knapsack.expanding_core"
weights = st.integers(1, 40)
free = st.tuples(weights, st.one_of(st.integers(0, 50), st.integers(BIG - 3, BIG)))
correlated = st.integers(-10, 30).flatmap(
    lambda difference: st.lists(weights.map(lambda w: (w, max(0, w + difference))), min_size=1, max_size=12)
)
instances = st.builds(knapsack, st.one_of(correlated, st.lists(free, min_size=1, max_size=12)), st.integers(0, 150))


@pytest.fixture
def early_bounds(monkeypatch):
    """Compute bounds from the second state on."""
    monkeypatch.setattr(f"{EXPANDING_CORE}.ROOM", 2)
    monkeypatch.setattr(f"{EXPANDING_CORE}.CHANGES", 2)
    monkeypatch.setattr(f"{EXPANDING_CORE}.ROOM_WITHOUT_BOUNDS", 2)


@settings(max_examples=100, deadline=None)
@given(instances, st.data())
def test_a_completion_is_the_best_of_all_states_and_undecided_items(cpu, instance, data):
    search = KnapsackCore(cpu, Solo(), instance)
    if search.is_trivial:
        return
    items, count = search.sorted_items, len(search.weights)
    first, end = data.draw(st.integers(0, items.at)), data.draw(st.integers(items.at, count))
    states = data.draw(st.lists(st.tuples(st.integers(0, 200), st.integers(0, BIG)), min_size=1, max_size=6))
    state_weights, state_values = (np.array(column, np.int64) for column in zip(*states, strict=True))
    signs = {**dict.fromkeys(range(end, count), 1), **dict.fromkeys(range(first), -1)}
    fitting = [
        int(state_values[state] + sign * items.values[item])
        for state, (item, sign) in itertools.product(range(len(states)), signs.items())
        if state_weights[state] + sign * items.weights[item] <= items.capacity
    ]
    value, state, item = best_completion(items, first, end, state_weights, state_values)
    assert value == max([-1, *fitting])
    if value >= 0:
        assert state_weights[state] + signs[item] * items.weights[item] <= items.capacity
        assert state_values[state] + signs[item] * items.values[item] == value


@pytest.mark.usefixtures("early_bounds")
@settings(max_examples=100, deadline=None)
@given(instances)
def test_a_core_with_early_bounds_finds_the_value_of_a_plain_table(cpu, instance):
    search = KnapsackCore(cpu, Solo(), instance)
    result, again = search.run(), search.run()
    assert instance.weight_and_value(result.chosen) == (result.weight, result.value)
    assert (result.value, result.optimal) == (best_selection(instance)[0], True)
    assert (again.digest, again.nodes) == (result.digest, result.nodes)


@pytest.mark.usefixtures("early_bounds")
@pytest.mark.parametrize("kind", ["strongly-correlated", "inverse-strongly-correlated", "almost-strongly-correlated"])
def test_a_core_with_early_bounds_on_every_backend(kind, backend, cpu):
    for seed in range(2):
        instance = generate(kind, 30, None, seed)
        result, other = (KnapsackCore(b, Solo(), instance).run() for b in (backend, cpu))
        assert (result.value, result.nodes, result.digest) == (other.value, other.nodes, other.digest)
        assert instance.weight_and_value(result.chosen) == (result.weight, instance.best_value())


@pytest.mark.parametrize("kind", ["strongly-correlated", "inverse-strongly-correlated"])
def test_the_number_of_items_proves_correlated_items_of_a_large_range(kind, cpu):
    instance = generate(kind, 10_000, None, seed=0, largest=100_000)
    search = KnapsackCore(cpu, Solo(), instance)
    result, again = search.run(), search.run()
    weight, value = instance.weight_and_value(result.chosen)
    # Values are weights plus or minus 10,000: no selection of as many items is better than one that fills the capacity.
    assert (weight, value) == (instance.capacity, result.value)
    assert result.optimal and result.nodes < 2_000_000
    assert (again.digest, again.nodes) == (result.digest, result.nodes)
