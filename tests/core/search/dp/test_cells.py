"""The paper's own mapping: every cell comes to the host, and the answers are those of the suite's own kernels."""

import errno
import itertools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.lang import u32, u64
from core.problems.knapsack import Knapsack, generate
from core.problems.tsp import tour_length
from core.search.dp import cells, host_memory
from core.search.dp.cells import CellEngine, CellWaves, ring_for
from core.search.dp.diagonals import CommonByDiagonals, CommonLengths, KnapsackByDiagonals, PackedValues
from core.search.dp.held_karp import HeldKarp
from core.search.dp.held_karp_cells import ByLayersOnTheHost
from core.search.dp.knapsack import KnapsackSearch
from core.search.dp.lcs import LongestCommonSubsequence
from core.search.dp.subset_ranks import subset

BIG = 2**32 - 1


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(params=[(1, False), (4, False), (4, True), (128, False)], ids=str)
def oracle(request):
    """Plain Python, and lanes of a team, which run in either order."""
    lanes, reverse = request.param
    return PythonBackend(PythonBackend.devices()[0], reverse=reverse), lanes


def letters(text):
    return np.frombuffer(text, np.uint8)


def drawn(seed, *lengths, letters=3):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, letters, length).astype(np.uint8) for length in lengths]


def common_table(a, b):
    """The table of common lengths by NumPy, a row after the other."""
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i, letter in enumerate(a.tolist()):
        matched = np.where(b == letter, table[i, :-1] + 1, table[i, 1:])
        table[i + 1, 1:] = np.maximum.accumulate(matched)
    return table


def common_pairs(table):
    """Left where that keeps the length, else up, else both."""
    i, j, pairs = table.shape[0] - 1, table.shape[1] - 1, []
    while table[i, j]:
        if table[i, j - 1] == table[i, j]:
            j -= 1
        elif table[i - 1, j] == table[i, j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def packed_table(instance):
    """The table of best values by NumPy, an item after the other in the order of weights; and that order."""
    order = sorted(range(instance.n), key=lambda item: (int(instance.weights[item]), item))
    table = np.zeros((instance.n + 1, instance.capacity + 1), np.uint64)
    for row, item in enumerate(order):
        weight, value = int(instance.weights[item]), np.uint64(instance.values[item])
        table[row + 1] = table[row]
        if weight <= instance.capacity:
            with_it = table[row, : instance.capacity + 1 - weight] + value
            table[row + 1, weight:] = np.maximum(table[row, weight:], with_it)
    return table, order


def packed_selection(table, order, weights):
    """An item is taken only if that is strictly better."""
    left, chosen = table.shape[1] - 1, set()
    for k in reversed(range(len(order))):
        if table[k + 1, left] > table[k, left]:
            chosen.add(order[k])
            left -= int(weights[order[k]])
    return chosen


def path_lengths(distances):
    """Shortest paths from city 0 through each set of others to each of its members, over Python's own sets."""
    others = range(1, len(distances))
    found = {(frozenset([i]), i): int(distances[0, i]) for i in others}
    for size in range(2, len(distances)):
        for chosen in map(frozenset, itertools.combinations(others, size)):
            for i in chosen:
                found[chosen, i] = min(found[chosen - {i}, j] + int(distances[j, i]) for j in chosen - {i})
    return found


def distances_of(n, seed=0, most=30, directed=True):
    table = np.random.default_rng([n, seed]).integers(1, most, (n, n))
    table = table if directed else np.triu(table, 1) + np.triu(table, 1).T
    np.fill_diagonal(table, 0)
    return table


# --- every cell of the tables is on the host, whatever the device and its lanes ---


def check_common_cells(backend, a, b, lanes=None):
    engine = CellEngine(backend, Solo(), CommonLengths(a, b), team_size=lanes)
    last = engine.run()
    table = common_table(a, b)
    short_is_b = len(b) <= len(a)
    for i, j in itertools.product(range(len(a)), range(len(b))):
        assert engine.cells.at(i + j, j if short_is_b else i) == table[i + 1, j + 1], (i, j)
    assert last.tolist() == [table[-1, -1]]
    assert engine.cells.streamed_bytes == 4 * len(a) * len(b)


def check_packed_cells(backend, instance, value_type, lanes=None):
    engine = CellEngine(backend, Solo(), PackedValues(instance, value_type), team_size=lanes)
    last = engine.run()
    table, _ = packed_table(instance)
    for k, capacity in itertools.product(range(instance.n), range(instance.capacity + 1)):
        assert engine.cells.at(k + capacity, k) == table[k + 1, capacity], (k, capacity)
    assert last.tolist() == [table[-1, -1]]
    assert engine.cells.streamed_bytes == value_type.bits // 8 * instance.n * (instance.capacity + 1)


def check_path_cells(backend, distances, lanes=None):
    way = ByLayersOnTheHost(backend, Solo(), distances, team_size=lanes)
    way.find(True, None)
    n = len(distances)
    expected = path_lengths(distances)
    for size in range(1, n):
        layer = way.engine.cells.wave(size - 1).reshape(-1, size)
        for rank, row in enumerate(layer.tolist()):
            cities = [element + 1 for element in subset(rank, size)]
            assert row == [expected[frozenset(cities), i] for i in cities]
    assert way.streamed_bytes == 4 * (n - 1) * 2 ** (n - 2)


def test_every_cell_is_that_of_numpy_wherever_lanes_stand(oracle):
    backend, lanes = oracle
    for n, m in ((1, 1), (1, 6), (7, 4), (9, 13)):
        check_common_cells(backend, *drawn(n, n, m), lanes=lanes)
    check_packed_cells(backend, generate("paper", 6, 25, seed=2), u32, lanes=lanes)
    check_path_cells(backend, distances_of(6), lanes=lanes)


def test_every_cell_is_that_of_numpy_on_every_backend(backend):
    lanes = 4 if backend.device.driver == "simulated" else None
    few = lanes is not None
    for n, m in ((5, 9), (9, 5)) if few else ((150, 40), (40, 300)):
        check_common_cells(backend, *drawn(n, n, m), lanes=lanes)
    check_packed_cells(backend, generate("weakly-correlated", 4, 9 if few else 90, seed=2), u32, lanes=lanes)
    big = Knapsack("big", np.arange(1, 7), np.full(6, BIG) - np.arange(6) % 2, 5 if few else 14)
    check_packed_cells(backend, big, u64, lanes=lanes)
    check_path_cells(backend, distances_of(5 if few else 8), lanes=lanes)


# --- the answers are the suite's ---


def same_common(backend, a, b):
    made = CommonByDiagonals(backend, Solo(), a, b)
    own = LongestCommonSubsequence(backend, Solo(), a, b).run()
    for _ in range(2):
        found = made.run()
        assert (found.length, found.pairs.tolist(), found.cells) == (own.length, own.pairs.tolist(), own.cells)
        assert found.pairs.shape == own.pairs.shape and found.pairs.dtype == own.pairs.dtype
    alone = made.run(trace=False)
    assert (alone.length, alone.pairs, alone.streamed_bytes) == (own.length, None, 0)
    return found


def same_selection(backend, instance):
    made = KnapsackByDiagonals(backend, Solo(), instance)
    made.warm_up()
    own = KnapsackSearch(backend, Solo(), instance).run()
    for _ in range(2):
        found = made.run()
        assert found._replace(streamed_bytes=0, chosen=0) == own._replace(streamed_bytes=0, chosen=0)
        assert np.array_equal(found.chosen, own.chosen)
    assert made.run(trace=False).value == own.value
    return found


def test_the_same_subsequence_on_every_backend(backend):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes; tests/backends/test_cuda_without_gpu.py has a small case")
    for n, m in ((70, 33), (20, 60)) if backend.name == "python" else ((70, 33), (20, 160), (128, 128), (129, 257)):
        a, b = drawn(n, n, m)
        found = same_common(backend, a, b)
        assert [tuple(pair) for pair in found.pairs.tolist()] == common_pairs(common_table(a, b))
        assert found.streamed_bytes == 4 * n * m


def test_the_same_selection_on_every_backend(backend):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes; tests/backends/test_cuda_without_gpu.py has a small case")
    for instance in (
        generate("paper", 7, 150, seed=3),
        generate("strongly-correlated", 4, 333, seed=1, largest=1000),
        generate("paper", 200, 20, seed=5),
        Knapsack("big", np.arange(1, 7) * 9, np.full(6, BIG) - np.arange(6) % 2, 130),
        Knapsack("never fits", np.array([9, BIG, 2, 10]), np.array([1, BIG, 3, 1]), 8),
        Knapsack("all fits", np.array([0, 0, 3, 40]), np.array([5, 0, 7, 1]), 60),
    ):
        if instance.capacity * instance.n > 800 and backend.name == "python":
            continue
        found = same_selection(backend, instance)
        table, order = packed_table(instance)
        assert set(np.flatnonzero(found.chosen).tolist()) == packed_selection(table, order, instance.weights)


def test_the_same_tour_as_the_engine_s_on_every_backend(backend):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes; tests/backends/test_cuda_without_gpu.py has a small case")
    for n, directed, most in ((4, True, 9), (5, False, 2), (8, False, 3), (7, True, 2**28)):
        distances = distances_of(n, most=most, directed=directed)
        made = HeldKarp(backend, Solo(), distances, mapping="published")
        made.warm_up()
        found = made.run()
        engine, own = (HeldKarp(backend, Solo(), distances, tiling=tiling).run() for tiling in ("none", "auto"))
        assert (found.length, found.digest) == (own.length, own.digest) == (engine.length, engine.digest)
        assert found.tour.tolist() == engine.tour.tolist()
        assert tour_length(distances, found.tour) == found.length
        assert (found.streamed_bytes, own.streamed_bytes) == (4 * (n - 1) * 2 ** (n - 2), 0)
        untraced = made.run(trace=False)
        assert (untraced.length, untraced.tour, untraced.streamed_bytes) == (own.length, None, 0)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("ab", max_size=40), st.text("abc", max_size=40))
def test_of_many_equal_subsequences_the_same_is_found(cpu, text, other):
    a, b = letters(text.encode()), letters(other.encode())
    found = same_common(cpu, a, b)
    assert [tuple(pair) for pair in found.pairs.tolist()] == common_pairs(common_table(a, b))


numbers = st.one_of(st.integers(0, 9), st.integers(0, 70))
values = st.one_of(numbers, st.integers(BIG - 3, BIG))
some_items = st.lists(st.tuples(st.one_of(numbers, st.just(BIG)), values), min_size=1, max_size=12)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_items, st.integers(0, 60))
def test_of_many_equal_selections_the_same_is_found(cpu, items, capacity):
    weights, worth = zip(*items, strict=True)
    instance = Knapsack("drawn", np.array(weights), np.array(worth), capacity)
    found = same_selection(cpu, instance)
    table, order = packed_table(instance)
    assert set(np.flatnonzero(found.chosen).tolist()) == packed_selection(table, order, instance.weights)


@pytest.mark.parametrize(("a", "b"), list(itertools.product([b"", b"a", b"b", b"\xff", b"ab"], repeat=2)), ids=str)
def test_strings_of_no_letter_and_few(cpu, oracle, a, b):
    backend, lanes = oracle
    a, b = letters(a), letters(b)
    expected = common_pairs(common_table(a, b))
    for made in (CommonByDiagonals(backend, Solo(), a, b, team_size=lanes), CommonByDiagonals(cpu, Solo(), a, b)):
        assert [tuple(pair) for pair in made.run().pairs.tolist()] == expected
        assert made.run().streamed_bytes == 4 * len(a) * len(b)


@pytest.mark.parametrize("capacity", [0, 1])
@pytest.mark.parametrize("items", [[(0, 0)], [(1, 5)], [(2, 5)], [(0, 3), (1, 1)], [(1, 1), (1, 2), (0, 0)]], ids=str)
def test_knapsacks_of_no_capacity_and_little(oracle, items, capacity):
    backend, lanes = oracle
    weights, worth = zip(*items, strict=True)
    instance = Knapsack("least", np.array(weights), np.array(worth), capacity)
    made = KnapsackByDiagonals(backend, Solo(), instance, team_size=lanes)
    made.warm_up()
    found, (table, order) = made.run(), packed_table(instance)
    assert found.value == table[-1, -1]
    assert set(np.flatnonzero(found.chosen).tolist()) == packed_selection(table, order, instance.weights)
    assert found.streamed_bytes == 4 * instance.n * (capacity + 1)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_tours_of_few_cities(oracle, n, directed):
    backend, _ = oracle
    distances = distances_of(n, directed=directed)
    search = HeldKarp(backend, Solo(), distances, mapping="published")
    search.make_room()
    search.warm_up()
    found = search.run()
    tours = [np.array([0, *rest]) for rest in itertools.permutations(range(1, n))]
    assert found.length == min(tour_length(distances, tour) for tour in tours) == tour_length(distances, found.tour)
    assert found.streamed_bytes == (4 * (n - 1) * 2 ** (n - 2) if n > 3 else 0)


# --- copies that take their time ---


@pytest.fixture
def late(monkeypatch):
    """A core whose copies to the host happen when somebody waits for them, and not before."""
    made = CpuBackend(CpuBackend.devices()[0])
    at_once, waiting = made.stream_out, []

    def stream_out(buffer, start, count, host):
        waiting.append(host)

        def wait():
            at_once(buffer, start, count, host)()
            waiting.pop(next(k for k, one in enumerate(waiting) if one is host))

        return wait

    monkeypatch.setattr(made, "stream_out", stream_out)
    monkeypatch.setattr(made, "read", lambda buffer, start, count: made.download(buffer)[start : start + count].copy())
    made.waiting = waiting
    return made


@pytest.mark.parametrize("most", [0, 1, cells.ON_THE_WAY])
def test_a_wave_is_on_the_host_before_another_takes_its_place(late, monkeypatch, most):
    monkeypatch.setattr(cells, "ON_THE_WAY", most)
    check_common_cells(late, *drawn(1, 50, 70))
    check_packed_cells(late, generate("paper", 20, 70, seed=2), u32)
    check_path_cells(late, distances_of(8))
    assert not late.waiting


def test_the_device_keeps_the_waves_that_are_read_and_some_that_are_leaving(monkeypatch):
    a, b = drawn(1, 1000, 300)
    strings, items = CommonLengths(a, b), PackedValues(generate("paper", 9, 100, seed=1), u32)
    for problem, read in ((strings, 2), (items, 1 + int(items.weights.max()))):
        ring = ring_for(problem, 128)
        assert ring.rows == read + 1 + cells.ON_THE_WAY
        assert ring.lanes % 128 == ring.border % 128 == 0 and ring.lanes - problem.lanes() in range(128)
        monkeypatch.setattr(cells, "ON_THE_WAY_BYTES", 4 * ring.stride - 1)
        assert ring_for(problem, 128).rows == read + 1
        monkeypatch.undo()


# --- where the cells go ---


def test_cells_may_go_to_files(cpu, tmp_path):
    a, b = drawn(4, 60, 80)
    found = CommonByDiagonals(cpu, Solo(), a, b, folder=str(tmp_path)).run()
    assert [tuple(pair) for pair in found.pairs.tolist()] == common_pairs(common_table(a, b))
    instance = generate("paper", 9, 100, seed=1)
    packed = KnapsackByDiagonals(cpu, Solo(), instance, folder=str(tmp_path)).run()
    assert packed.value == packed_table(instance)[0][-1, -1]
    distances = distances_of(7)
    tour = HeldKarp(cpu, Solo(), distances, mapping="published", folder=str(tmp_path)).run()
    assert tour_length(distances, tour.tour) == tour.length
    assert os.listdir(tmp_path) == []


def no_launches(*arguments):
    raise AssertionError("something was computed")


def test_cells_that_the_host_cannot_hold_are_refused_with_their_bytes_before_anything_is_computed(cpu, monkeypatch):
    monkeypatch.setattr(host_memory, "available_bytes", lambda: 4 * 60 * 80 - 1)
    monkeypatch.setattr(cpu, "launch", no_launches)
    told = r"^19200 bytes of cells do not fit the host's memory; give --spill DIR \(19199 bytes are there\)$"
    made = CommonByDiagonals(cpu, Solo(), *drawn(4, 60, 80))
    for refused in (made.make_room, made.run):
        with pytest.raises(UserError, match=told):
            refused()
    monkeypatch.undo()
    assert made.run(trace=False).length == made.run().length


def test_a_full_disk_is_noticed_before_anything_is_computed(cpu, tmp_path, monkeypatch):
    def full(descriptor, offset, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(cpu, "launch", no_launches)
    told = rf"--spill {tmp_path}: 19200 bytes of cells do not fit: No space left on device \(\d+ bytes are there\)"
    with pytest.raises(UserError, match=told):
        CommonByDiagonals(cpu, Solo(), *drawn(4, 60, 80), folder=str(tmp_path)).make_room()
    assert os.listdir(tmp_path) == []


def test_memory_that_is_there_is_no_more_than_the_machine_has_or_its_container_allows(monkeypatch, tmp_path):
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < host_memory.available_bytes() <= machine
    (tmp_path / "limit").write_text("4096\n")
    (tmp_path / "none").write_text("max\n")
    for name, most in (("limit", 4096), ("none", machine), ("not there", machine)):
        monkeypatch.setattr(host_memory, "LIMITS", (str(tmp_path / name),))
        assert 0 < host_memory.available_bytes() <= most
    assert host_memory.available_bytes() > 4096


# --- what is refused ---


def test_several_ranks_are_refused(cpu):
    class Two(Solo):
        size = 2

    a, b = drawn(1, 5, 5)
    for made in (
        lambda: CommonByDiagonals(cpu, Two(), a, b),
        lambda: KnapsackByDiagonals(cpu, Two(), generate("paper", 3, 40, seed=1)),
        lambda: HeldKarp(cpu, Two(), distances_of(5), mapping="published"),
    ):
        with pytest.raises(UserError, match="--mapping published is one launch per wave on one device; several ranks"):
            made()


class Long(CellWaves):
    """So many waves of a cell, of which all the earlier ones are read."""

    def __init__(self, waves, lookback):
        self.count, self.lookback = waves, lookback

    def waves(self):
        return self.count

    def width(self):
        return 1


@pytest.mark.parametrize(("waves", "lookback"), [(2**31 - 2, 1), (9, 2**30)])
def test_waves_that_indices_do_not_reach_are_refused(cpu, waves, lookback):
    with pytest.raises(UserError, match=f"--mapping published: {waves} waves, .*expected at most 2147483647 of both"):
        CellEngine(cpu, Solo(), Long(waves, lookback))


def test_waves_that_the_device_cannot_hold_are_refused_with_their_bytes(cpu, monkeypatch):
    monkeypatch.setattr(cpu, "device", cpu.device._replace(memory_bytes=5000))
    told = r"--mapping published: \d+ waves of 60 cells need \d+ bytes of the device, and 5000 are there"
    with pytest.raises(UserError, match=told):
        CommonByDiagonals(cpu, Solo(), *drawn(4, 60, 80))


def test_lengths_without_a_sum_of_31_bits_are_refused(cpu):
    with pytest.raises(UserError, match="--mapping published: 5 distances of 500000000 have no sum of 31 bits"):
        ByLayersOnTheHost(cpu, Solo(), np.full((5, 5), 500_000_000))


def test_an_unknown_mapping_is_refused(cpu):
    with pytest.raises(UserError, match="mapping 'own'; choose one of suite, published"):
        HeldKarp(cpu, Solo(), distances_of(5), mapping="own")


# --- progress ---


def test_progress_counts_up_to_all_of_the_work(cpu, monkeypatch):
    monkeypatch.setattr("core.search.shape.LOOK_S", 0)
    told = []

    def count(progress):
        told.append((progress.done, progress.total))

    CommonByDiagonals(cpu, Solo(), *drawn(8, 900, 110)).run(callback=count)
    assert told == sorted(told) and told[-2:] == [(1000, 1009), (1009, 1009)] and {of for _, of in told} == {1009}
    told.clear()
    KnapsackByDiagonals(cpu, Solo(), generate("paper", 30, 500, seed=1)).run(callback=count)
    assert told == sorted(told) and told[-1] == (530, 530)
    told.clear()
    HeldKarp(cpu, Solo(), distances_of(8), mapping="published").run(callback=count)
    assert told == [*((k, 7) for k in range(1, 8)), (7, 7)]  # the end once more, with the length
