"""The paper's own mapping: every cell comes to the host, and the answers are those of the suite's own kernels."""

import errno
import itertools
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.lang import u32, u64
from core.tables.engine import decisions, recurrences
from core.tables.engine.waves import WaveEngine
from core.tables.held_karp.plan import subset_of_rank
from core.tables.held_karp.search import HeldKarp
from core.tables.knapsack.problem import Knapsack, generate
from core.tables.knapsack.search import KnapsackSearch
from core.tables.knapsack.waves import KnapsackDiagonals
from core.tables.lcs.search import LcsLaunchShape, LongestCommonSubsequence
from core.tables.lcs.waves import LcsDiagonals, PackedLcsDiagonals
from core.tours import tour_length
from tests.core.tables.tables import (
    BIG,
    best_selection,
    by_layers,
    chosen_items,
    common_pairs,
    common_table,
    drawn,
    knapsack,
    letters,
    packed_table,
    path_lengths,
    random_distances,
)


@pytest.fixture(params=[(1, False), (4, False), (4, True), pytest.param((128, False), marks=pytest.mark.slow)], ids=str)
def oracle(request):
    lanes, reverse = request.param
    return PythonBackend(PythonBackend.devices()[0], reverse=reverse), lanes


def strings(seed, *lengths):
    return map(letters, drawn(seed, *lengths, letters=3))


def pairs_of(subsequence):
    return [tuple(pair) for pair in subsequence.pairs.tolist()]


# --- every cell of the tables is on the host, whatever the device and its lanes ---


def lcs_by_diagonals(backend, ranks, a, b, team_size=None, folder=None):
    shape = team_size and LcsLaunchShape(team_size, 1, 1, 1)
    return LongestCommonSubsequence(backend, ranks, a, b, mapping="published", folder=folder, shape=shape)


def knapsack_by_diagonals(backend, ranks, instance, team_size=None):
    return KnapsackSearch(backend, ranks, instance, mapping="published", team_size=team_size)


def every_cell(backend, problem, lanes):
    shape = None if lanes is None else (lanes,)
    return WaveEngine(backend, Solo(), problem, shape=shape).run()


def check_common_cells(backend, n, m, lanes=None, make=LcsDiagonals, data_memory="readonly"):
    a, b = strings(n, n, m)
    problem = make(a, b)
    problem.data_memory = data_memory
    result = every_cell(backend, problem, lanes)
    table = common_table(a, b)
    for i, j in itertools.product(range(n), range(m)):
        assert result.cells.at(i + j, j if m <= n else i) == table[i + 1, j + 1], (i, j)
    assert result.last.tolist() == [table[-1, -1]]
    assert result.streamed_bytes == 4 * n * m


def check_packed_cells(backend, instance, value_type, lanes=None):
    result = every_cell(backend, KnapsackDiagonals(instance), lanes)
    table, _ = packed_table(instance)
    for k, capacity in itertools.product(range(instance.n), range(instance.capacity + 1)):
        assert result.cells.at(k + capacity, k) == table[k + 1, capacity], (k, capacity)
    assert result.last.tolist() == [table[-1, -1]]
    assert result.streamed_bytes == value_type.bits // 8 * instance.n * (instance.capacity + 1)


def check_path_cells(backend, n, lanes=None):
    distances = random_distances(n, 0, 30, True)
    table, result = by_layers(backend, distances, lanes)
    expected = path_lengths(distances)
    for size in range(1, n):
        layer = table.engine.mapping.cells.wave(size - 1).reshape(-1, size)
        for rank, row in enumerate(layer.tolist()):
            cities = [element + 1 for element in subset_of_rank(rank, size)]
            assert row == [expected[frozenset(cities), i] for i in cities]
    assert result.streamed_bytes == 4 * (n - 1) * 2 ** (n - 2)


def test_every_cell_is_that_of_numpy_wherever_lanes_stand(oracle):
    backend, lanes = oracle
    for n, m in ((1, 1), (1, 6), (5, 3)):
        check_common_cells(backend, n, m, lanes)
    check_packed_cells(backend, generate("paper", 4, 15, seed=2), u32, lanes)
    check_path_cells(backend, 5, lanes)


@pytest.mark.parametrize("data_memory", ["global", "readonly", "image"])
def test_packed_letters_and_strings_in_any_memory_make_the_same_cells(backend, data_memory):
    if data_memory == "image" and backend.name != "opencl":
        pytest.skip("images exist on OpenCL devices")
    lanes = lanes_of(backend)
    for n, m in ((5, 9), (9, 5)) if lanes is not None else ((70, 40), (40, 101)):
        check_common_cells(backend, n, m, lanes, PackedLcsDiagonals, data_memory)
        check_common_cells(backend, n, m, lanes, data_memory=data_memory)


def test_padding_of_packed_strings_is_equal_to_no_letter(cpu):
    a = np.arange(254, dtype=np.uint8)
    assert every_cell(cpu, PackedLcsDiagonals(a, a), None).last.tolist() == [254]
    with pytest.raises(UserError, match="--packed: found 255 different letters, expected at most 254"):
        PackedLcsDiagonals(np.arange(255, dtype=np.uint8), a)


def lanes_of(backend):
    """Few lanes in the reference interpreter, else None for the default."""
    return 4 if backend.device.driver == "simulated" or backend.name == "python" else None


def test_every_cell_is_that_of_numpy_on_every_backend(backend):
    lanes = lanes_of(backend)
    few = lanes is not None
    check_packed_cells(backend, generate("weakly-correlated", 4, 9 if few else 90, seed=2), u32, lanes)
    big = Knapsack("big", np.arange(1, 7), np.full(6, BIG) - np.arange(6) % 2, 5 if few else 14)
    check_packed_cells(backend, big, u64, lanes)
    check_path_cells(backend, 5 if few else 8, lanes)


# --- the answers are the suite's ---


def same_common(backend, a, b):
    """The same pairs as the suite's kernels and the plain table, twice; and the length alone."""
    search = lcs_by_diagonals(backend, Solo(), a, b, team_size=lanes_of(backend))
    own = LongestCommonSubsequence(backend, Solo(), a, b).run()
    for _ in range(2):
        result = search.run()
        assert (result.length, result.pairs.tolist(), result.cells) == (own.length, own.pairs.tolist(), own.cells)
        assert result.pairs.shape == own.pairs.shape and result.pairs.dtype == own.pairs.dtype
    alone = search.run(trace=False)
    assert (alone.length, alone.pairs, alone.streamed_bytes) == (own.length, None, 0)
    assert pairs_of(result) == common_pairs(a, b)
    assert result.streamed_bytes == 4 * len(a) * len(b)


def same_selection(backend, instance):
    search = knapsack_by_diagonals(backend, Solo(), instance, team_size=lanes_of(backend))
    search.warm_up()
    own = KnapsackSearch(backend, Solo(), instance, team_size=1).run()
    for _ in range(2):
        result = search.run()
        assert replace(result, streamed_bytes=0, chosen=0) == replace(own, streamed_bytes=0, chosen=0)
        assert np.array_equal(result.chosen, own.chosen)
    assert search.run(trace=False).value == own.value
    assert (result.value, chosen_items(result)) == best_selection(instance)


def test_the_same_subsequence_on_every_backend(device):
    for n, m in ((33, 20),) if device.name == "python" else ((70, 33), (20, 160), (129, 257)):
        same_common(device, *strings(n, n, m))


def test_the_same_selection_on_every_backend(device):
    for instance in (
        Knapsack("big", np.arange(1, 5) * 3, np.full(4, BIG) - np.arange(4) % 2, 18),
        Knapsack("never fits", np.array([9, BIG, 2, 10]), np.array([1, BIG, 3, 1]), 8),
        Knapsack("all fits", np.array([0, 0, 3, 40]), np.array([5, 0, 7, 1]), 60),
        generate("paper", 7, 150, seed=3),
        generate("paper", 100, 20, seed=5),
    )[: 2 if device.name == "python" else 5]:
        same_selection(device, instance)


def test_a_tour_of_the_same_length_on_every_backend(device):
    cases = ((4, True, 2**28), (5, False, 2), (7, True, 9), (8, False, 3))
    for n, directed, most in cases[: 1 if device.name == "python" else 4]:
        distances = random_distances(n, 0, most, directed)
        search = HeldKarp(device, Solo(), distances, mapping="published")
        search.warm_up()
        result = search.run()
        own = HeldKarp(device, Solo(), distances).run()
        assert (result.length, result.digest) == (own.length, own.digest)
        assert tour_length(distances, result.tour) == result.length
        assert (result.streamed_bytes, own.streamed_bytes) == (4 * (n - 1) * 2 ** (n - 2), 0)
        untraced = search.run(trace=False)
        assert (untraced.length, untraced.tour, untraced.streamed_bytes) == (own.length, None, 0)


@settings(max_examples=60, deadline=None)
@given(st.text("ab", max_size=40), st.text("abc", max_size=40))
def test_of_many_equal_subsequences_the_same_is_found(cpu, text, other):
    same_common(cpu, letters(text.encode()), letters(other.encode()))


numbers = st.one_of(st.integers(0, 9), st.integers(0, 70))
values = st.one_of(numbers, st.integers(BIG - 3, BIG))
some_items = st.lists(st.tuples(st.one_of(numbers, st.just(BIG)), values), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(some_items, st.integers(0, 60))
def test_of_many_equal_selections_the_same_is_found(cpu, items, capacity):
    same_selection(cpu, knapsack(items, capacity))


# --- copies that take their time ---


@pytest.fixture
def late(monkeypatch):
    """A core that copies to the host only on a wait for the copy."""
    core = CpuBackend(CpuBackend.devices()[0])
    at_once, waiting = core.stream_out, []

    def stream_out(buffer, start, count, host):
        waiting.append(host)

        def wait():
            at_once(buffer, start, count, host)()
            waiting.pop(next(k for k, one in enumerate(waiting) if one is host))

        return wait

    monkeypatch.setattr(core, "stream_out", stream_out)
    monkeypatch.setattr(core, "read", lambda buffer, start, count: core.download(buffer)[start : start + count].copy())
    core.waiting = waiting
    return core


@pytest.mark.parametrize("most", [0, 1, recurrences.MOST_IN_FLIGHT])
def test_a_wave_is_on_the_host_before_another_takes_its_place(late, monkeypatch, most):
    monkeypatch.setattr(recurrences, "MOST_IN_FLIGHT", most)
    check_common_cells(late, 50, 70)
    check_packed_cells(late, generate("paper", 20, 70, seed=2), u32)
    check_path_cells(late, 8)
    assert not late.waiting


# --- where the cells go ---


def by_diagonals(backend, **options):
    return lcs_by_diagonals(backend, Solo(), *strings(4, 60, 80), **options)


def no_launches(*arguments):
    raise AssertionError("something was computed")


def test_a_full_disk_and_a_full_memory_are_noticed_before_anything_is_computed(cpu, tmp_path, monkeypatch):
    def full(descriptor, offset, size):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(cpu, "launch", no_launches)
    message = rf"--spill {tmp_path}: 19200 bytes of cells do not fit: No space left on device \(\d+ bytes are there\)"
    with pytest.raises(UserError, match=message):
        by_diagonals(cpu, folder=str(tmp_path)).make_room()
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(decisions, "available_bytes", lambda: 19_199)
    with pytest.raises(UserError, match="^19200 bytes of cells do not fit the host's memory; give --spill DIR"):
        by_diagonals(cpu).run()


def test_memory_that_is_there_is_no_more_than_the_machine_has_or_its_container_allows(monkeypatch, tmp_path):
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < decisions.available_bytes() <= machine
    (tmp_path / "limit").write_text("4096\n")
    (tmp_path / "none").write_text("max\n")
    for name, most in (("limit", 4096), ("none", machine), ("not there", machine)):
        monkeypatch.setattr(decisions, "LIMITS", (str(tmp_path / name),))
        assert 0 < decisions.available_bytes() <= most
    assert decisions.available_bytes() > 4096


# --- what is refused ---


def test_what_the_device_or_31_bits_cannot_hold_is_refused_in_one_line(cpu, monkeypatch):
    with pytest.raises(UserError, match="--mapping published: 5 distances of 500000000 have no sum of 31 bits"):
        by_layers(cpu, np.full((5, 5), 500_000_000))
    with pytest.raises(UserError, match="mapping 'own'; choose one of native, published"):
        HeldKarp(cpu, Solo(), random_distances(5, 0, 30, True), mapping="own")
    monkeypatch.setattr(cpu, "device", cpu.device._replace(memory_bytes=5000))
    message = r"--mapping published: \d+ waves of 60 cells need \d+ bytes of the device, and 5000 are there"
    with pytest.raises(UserError, match=message):
        by_diagonals(cpu)
