"""The 0-1 knapsack problem: values and selections of a plain Python table, by the table, branch and bound, and a core."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.run.stop import Seconds
from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
from core.tables.knapsack.core_bounds import best_completion
from core.tables.knapsack.expanding_core import KnapsackCore
from core.tables.knapsack.kernels.table import DecisionBits, Passes, Slice, add_two_items
from core.tables.knapsack.problem import CLASSES, Knapsack, generate
from core.tables.knapsack.search import KnapsackSearch
from tests.core.tables.tables import BIG, best_selection, chosen_items, knapsack

numbers = st.one_of(st.integers(0, 9), st.integers(0, 70))
instances = st.builds(
    knapsack,
    st.lists(st.tuples(numbers, st.one_of(numbers, st.integers(BIG - 3, BIG))), min_size=1, max_size=12),
    st.one_of(st.just(0), st.integers(0, 60)),
)


def solve(search):
    result = search.run()
    weight, value = search.instance.weight_and_value(result.chosen)
    assert (weight, value) == (result.weight, result.value)
    assert weight <= search.instance.capacity
    assert search.run(trace=False).value == value
    return value, chosen_items(result)


@settings(max_examples=100, deadline=None)
@given(instances)
def test_the_value_and_the_selection_of_a_plain_table(cpu, instance):
    assert solve(KnapsackSearch(cpu, Solo(), instance)) == best_selection(instance)


def passed(backend, row, reach, weights, values, at_once=1):
    """A row after a pass by one lane, and two items' decisions; ``reach`` is its last cell that is not constant."""
    host = np.zeros(len(row), np.uint32)
    source, target, kept = backend.upload(row), backend.upload(host), backend.upload(host)
    passes = Passes(
        weights=np.array([0, 0, *weights], np.int32),
        values=np.array([0, 0, *values], np.uint32),
        low=np.array([0, 0, 0], np.int32),
        high=np.array([0, reach, len(row) - 1], np.int32),
        clock=np.array([1], np.int32),
    )
    words = len(row) // 32
    decisions, own = DecisionBits(kept, words, 1), Slice(0, len(row), 1, 1)
    backend.launch(add_two_items, 1, 1, backend.load(passes), source, target, decisions, own, True, at_once, 1)
    bits = backend.download(kept)[: 2 * words, None] >> np.arange(32, dtype=np.uint32) & 1
    return backend.download(target), bits.reshape(2, len(row))


def expected(row, reach, weights, values):
    decisions = []
    row = np.where(np.arange(len(row)) > reach, row[reach], row).astype(np.int64)
    for weight, value in zip(weights, values, strict=True):
        with_it = np.full(len(row), -1)
        with_it[weight:] = row[: max(len(row) - weight, 0)] + value
        decisions.append(with_it > row)
        row = np.maximum(row, with_it)
    return row, np.array(decisions)


def test_every_cell_of_a_pass_wherever_the_items_begin_to_fit(cpu):
    rng = np.random.default_rng(7)
    python = PythonBackend(PythonBackend.devices()[0])
    for light in (0, 1, 2, 15, 16, 17, 30, 31, 32, 33, 47, 63, 64, 65, 96, 97):
        for heavy in range(light, 134):
            row = np.cumsum(rng.integers(0, 4, 128), dtype=np.uint32)
            reach, values = int(rng.choice([127, 127, 126, 95, 94, 40, 0])), rng.integers(0, 300, 2)
            # the oracle also refuses to read outside the row
            on_edge = (light + heavy) % 32 in (0, 1, 31) and (light * heavy) % 23 == 0
            for backend in (cpu, python) if on_edge else (cpu,):
                after, decisions = passed(backend, row, reach, (light, heavy), values)
                wanted, wanted_taken = expected(row, reach, (light, heavy), values.tolist())
                assert np.array_equal(after, wanted), (light, heavy, reach)
                assert np.array_equal(decisions, wanted_taken), (light, heavy, reach)
    for backend, pair in itertools.product((cpu, python), ((20, 50), (50, 60))):
        after, decisions = passed(backend, row, 127, pair, (400, 500), at_once=4)
        wanted, wanted_taken = expected(row, 127, pair, (400, 500))
        assert np.array_equal(after, wanted) and np.array_equal(decisions, wanted_taken)


SMALL = [
    generate("paper", 5, 60, seed=3),
    Knapsack("big", np.arange(1, 5) * 9, np.full(4, BIG) - np.arange(4) % 2, 50),
    Knapsack("nothing fits", np.array([9, 10]), np.array([1, 1]), 8),
    Knapsack("all fits", np.array([0, 0, 3, 40]), np.array([5, 0, 7, 1]), 99),
]


def test_the_same_selection_on_every_backend(backend):
    larger = [generate("strongly-correlated", 4, 333, seed=1, largest=1000), generate("paper", 7, 150, seed=3)]
    slow = backend.name in ("python", "cuda")
    for instance in SMALL if slow else SMALL + larger:
        assert solve(KnapsackSearch(backend, Solo(), instance, team_size=1)) == best_selection(instance)


@pytest.mark.parametrize(
    "lanes", [2, pytest.param(4, marks=pytest.mark.slow), pytest.param(32, marks=pytest.mark.slow)]
)
def test_lanes_do_not_race(in_order, lanes):
    for instance in (
        generate("paper", 3, 32 * 2 * lanes + 5, seed=5),
        Knapsack("ties", np.array([1, 2, 3, 2, 5, 90]), np.array([1, 2, 3, 2, 5, 9]), 95),
        Knapsack("wide", np.array([1, 2, 3, 2, 5, 700]), np.array([4, BIG, 9, 3, 1, BIG]), 705),
    )[: 3 if lanes > 2 else 2]:
        search = KnapsackSearch(in_order, Solo(), instance, team_size=lanes)
        assert search.strategy.teams == -(-(search.strategy.capacity + 1) // (32 * lanes))
        assert solve(search) == best_selection(instance)


def test_values_of_more_than_32_bits(cpu):
    instance = Knapsack("big", np.full(3000, 1), np.full(3000, BIG), 2900)
    search = KnapsackSearch(cpu, Solo(), instance)
    assert search.strategy.dtype == np.uint64
    assert search.run().value == 2900 * BIG
    small = Knapsack("just fits", np.array([1, 1]), np.array([BIG - 1, 1]), 2)
    search = KnapsackSearch(cpu, Solo(), small)
    assert search.strategy.dtype == np.uint32
    assert solve(search) == (BIG, {0, 1})


@pytest.mark.parametrize("spill", [False, True])
def test_a_window_smaller_than_the_decisions_changes_nothing(cpu, spill, tmp_path):
    folder = str(tmp_path) if spill else None
    for items in (12, 13, 23):
        instance = generate("weakly-correlated", items, 3000, seed=items)
        whole = KnapsackSearch(cpu, Solo(), instance)
        narrow = KnapsackSearch(cpu, Solo(), instance, room=2200, folder=folder)
        assert solve(narrow) == solve(whole) == best_selection(instance)
        again = narrow.run()
        assert again.value == whole.run().value
        assert again.streamed_bytes > 2000
        assert whole.run().streamed_bytes == 0


def test_a_folder_that_is_not_there_and_a_copy_that_fails_are_told(cpu, tmp_path, monkeypatch):
    instance = generate("weakly-correlated", 12, 3000, seed=1)
    with pytest.raises(UserError, match=r"--spill .*/none: \d+ bytes of decisions do not fit: No such file"):
        KnapsackSearch(cpu, Solo(), instance, room=2200, folder=str(tmp_path / "none")).run()

    def fails():
        raise RuntimeError("the copy failed")

    monkeypatch.setattr(cpu, "stream_out", lambda *arguments: fails)
    with pytest.raises(RuntimeError, match="the copy failed"):
        KnapsackSearch(cpu, Solo(), instance, room=2200).run()


# --- branch and bound ---


@settings(max_examples=60, deadline=None)
@given(instances)
def test_branch_and_bound_of_odd_cases(cpu, instance):
    result = KnapsackBranchAndBound(cpu, Solo(), instance).run()
    assert instance.weight_and_value(result.chosen) == (result.weight, result.value)
    assert (result.optimal, result.value) == (True, best_selection(instance)[0])


def test_branch_and_bound_on_every_backend(backend, cpu):
    instance = generate("weakly-correlated", 9, seed=2)
    result, expected = (KnapsackBranchAndBound(b, Solo(), instance).run() for b in (backend, cpu))
    assert (result.value, result.nodes) == (expected.value, expected.nodes)
    assert np.array_equal(result.chosen, expected.chosen)


def test_a_limit_ends_the_search_without_a_proof(cpu):
    # even weights and an odd capacity: the bound is never reached, so nothing is pruned
    hard = Knapsack("hard", *[np.random.default_rng(1).integers(100, 999, 60) * 2] * 2, 20_001)
    stopped = KnapsackBranchAndBound(cpu, Solo(), hard, most_nodes=10_000).run()
    assert not stopped.optimal and stopped.nodes == 10_000
    assert hard.weight_and_value(stopped.chosen) == (stopped.weight, stopped.value)
    assert stopped.value <= KnapsackSearch(cpu, Solo(), hard).run(trace=False).value
    timed = KnapsackBranchAndBound(cpu, Solo(), hard).run(Seconds(0.01))
    assert not timed.optimal and timed.nodes > 0


def test_an_incumbent_that_reaches_the_bound_is_proved_when_the_limit_comes(cpu):
    instance = generate("subset-sum", 100, seed=0)
    result = KnapsackBranchAndBound(cpu, Solo(), instance, most_nodes=1000).run()
    assert (result.optimal, result.value) == (True, instance.capacity)


def test_a_search_in_slices_is_the_same_search(cpu, monkeypatch):
    instance = generate("almost-strongly-correlated", 30, seed=4)
    whole = KnapsackBranchAndBound(cpu, Solo(), instance).run()
    calls = []
    monkeypatch.setattr(KnapsackBranchAndBound, "first_budget", 7)
    monkeypatch.setattr("core.tables.knapsack.one_lane.GROWTH", 1)
    monkeypatch.setattr("core.run.progress.PROGRESS_INTERVAL_S", 0)
    parted = KnapsackBranchAndBound(cpu, Solo(), instance).run(callback=calls.append)
    assert (parted.value, parted.nodes, parted.digest) == (whole.value, whole.nodes, whole.digest)
    assert len(calls) == -(-whole.nodes // 7) and [one.done for one in calls] == sorted(one.done for one in calls)


def test_what_is_no_such_search_is_refused_in_one_line(cpu):
    class Several(Solo):
        size = 2

    instance = generate("paper", 3, 40, seed=1)
    with pytest.raises(UserError, match="choose one of native, published"):
        KnapsackSearch(cpu, Solo(), instance, mapping="tiles")
    with pytest.raises(UserError, match="found 2 ranks"):
        KnapsackSearch(cpu, Several(), instance, mapping="published")
    with pytest.raises(UserError, match="2 ranks: expected one"):
        KnapsackBranchAndBound(cpu, Several(), instance)
    with pytest.raises(UserError, match="two rows of decisions need"):
        KnapsackSearch(cpu, Solo(), instance, room=8).run()


@settings(max_examples=200, deadline=None)
@given(instances)
def test_an_expanding_core_finds_the_value_of_a_plain_table(cpu, instance):
    result = KnapsackCore(cpu, Solo(), instance).run()
    assert instance.weight_and_value(result.chosen) == (result.weight, result.value)
    assert result.weight <= instance.capacity
    assert result.value == best_selection(instance)[0]


@functools.cache
def drawn_of(kind, seed):
    """An instance of a class, and its best value by NumPy, which takes longer than a search."""
    instance = generate(kind, 60, 20_000 if kind == "paper" else None, seed)
    return instance, instance.best_value()


@pytest.mark.parametrize("kind", CLASSES)
def test_an_expanding_core_of_every_class_on_every_backend(kind, backend, cpu):
    for seed in range(1 if backend.name == "python" else 3):
        instance, best = drawn_of(kind, seed)
        result, other = (KnapsackCore(b, Solo(), instance).run() for b in (backend, cpu))
        assert (result.value, result.nodes, result.digest) == (other.value, other.nodes, other.digest)
        assert instance.weight_and_value(result.chosen) == (result.weight, best)


EXPANDING_CORE = "core.tables.knapsack.expanding_core"
some_weights = st.integers(1, 40)
free = st.tuples(some_weights, st.one_of(st.integers(0, 50), st.integers(BIG - 3, BIG)))
correlated = st.integers(-10, 30).flatmap(
    lambda difference: st.lists(some_weights.map(lambda w: (w, max(0, w + difference))), min_size=1, max_size=12)
)
cores = st.builds(knapsack, st.one_of(correlated, st.lists(free, min_size=1, max_size=12)), st.integers(0, 150))


@pytest.fixture
def early_bounds(monkeypatch):
    """Compute bounds from the second state on."""
    monkeypatch.setattr(f"{EXPANDING_CORE}.ROOM", 2)
    monkeypatch.setattr(f"{EXPANDING_CORE}.CHANGES", 2)
    monkeypatch.setattr(f"{EXPANDING_CORE}.ROOM_WITHOUT_BOUNDS", 2)


@settings(max_examples=100, deadline=None)
@given(cores, st.data())
def test_a_completion_is_the_best_of_all_states_and_undecided_items(cpu, instance, data):
    search = KnapsackCore(cpu, Solo(), instance)
    if search.is_trivial:
        return
    items, count = search.sorted_items, len(search.sorted_items.weights)
    first, end = data.draw(st.integers(0, items.at)), data.draw(st.integers(items.at, count))
    signs = {**dict.fromkeys(range(end, count), 1), **dict.fromkeys(range(first), -1)}
    filled = st.sampled_from([0, *(items.capacity - sign * int(items.weights[item]) for item, sign in signs.items())])
    states = data.draw(st.lists(st.tuples(st.integers(0, 200) | filled, st.integers(0, BIG)), min_size=1, max_size=6))
    state_weights, state_values = (np.array(column, np.int64) for column in zip(*states, strict=True))
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
@given(cores)
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
