"""Longest common subsequences over ranks: the same lengths and pairs for any partition of the table."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.search.dp.lcs.bidirectional import Stair, StairPieces
from core.search.dp.lcs.search import LcsLaunchShape, LongestCommonSubsequence
from core.search.dp.lcs.table import LcsTableLayout
from tests.core.search.dp.tables import common_pairs, common_table, drawn, letters
from tests.thread_ranks import on_ranks, twin


def over_ranks(backend, size, a, b, trace=(False, True, False), hosts=1, **options):
    a, b = letters(a), letters(b)

    def run(ranks):
        search = LongestCommonSubsequence(twin(backend), Rehearsal(ranks), a, b, **options)
        results = [search.run(trace=wanted, ranks=ranks) for wanted in trace]
        return [
            (one.length, None if one.pairs is None else [tuple(pair) for pair in one.pairs.tolist()]) for one in results
        ]

    return on_ranks(size, run, hosts=hosts)


def expected(a, b, trace=(False, True, False)):
    pairs = common_pairs(a, b)
    return [(len(pairs), pairs if wanted else None) for wanted in trace]


TEXT = st.text("abcd", min_size=1, max_size=200) | st.text("a", min_size=1, max_size=80)


@settings(max_examples=50, deadline=None)
@given(TEXT, TEXT, st.sampled_from([2, 2, 3, 4, 5, 7]), st.sampled_from([1, 2, 9]), st.sampled_from([1, 2, 7]))
@example("a" * 64, "a" * 64, 2, 1, 1)
@example("ab" * 90, "b", 3, 1, 1)
@example("b", "ab" * 90, 5, 1, 7)
def test_any_number_of_ranks_finds_the_length_and_the_pairs_of_the_table(cpu, text, other, size, steps, hosts):
    a, b = text.encode(), other.encode()
    assert over_ranks(cpu, size, a, b, hosts=hosts, shape=None) == [expected(a, b)] * size
    shape = LcsLaunchShape(1, 1, -(-len(b) // 64), steps)
    assert over_ranks(cpu, size, a, b, (False,), shape=shape) == [expected(a, b, (False,))] * size


@pytest.mark.parametrize(
    ("size", "lanes", "words", "steps"),
    [(2, 4, 1, 3), (3, 2, 2, 8), pytest.param(5, 4, 2, 2, marks=pytest.mark.slow)],
)
def test_teams_of_lanes_meet_from_both_ends(in_order, size, lanes, words, steps):
    for n, m in ((150, 500), (40, 900), (600, 70)):
        a, b = drawn(n, n, m)
        results = over_ranks(in_order, size, a, b, (False,), shape=LcsLaunchShape(lanes, words, 1, steps))
        assert results == [expected(a, b, (False,))] * size


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_of_every_backend_find_the_same(device, size):
    a, b = drawn(size, 100, 260) if device.name == "python" else drawn(size, 150, 400)
    assert over_ranks(device, size, a, b) == [expected(a, b)] * size


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow), 7])
def test_bits_that_do_not_fit_are_streamed_or_computed_again_on_all_ranks(cpu, monkeypatch, size):
    from core.search.dp.lcs import search as lcs_search

    a, b = drawn(size, 500, 900, letters=2)
    shape = LcsLaunchShape(
        1, 1, -(-LongestCommonSubsequence(cpu, Ranks(size), letters(a), letters(b)).columns // 64), 2
    )
    wanted = [expected(a, b, (True, True))] * size
    assert over_ranks(cpu, size, a, b, (True, True), room=8192, shape=shape) == wanted
    monkeypatch.setattr(lcs_search, "host_bytes", lambda: 2000)
    assert over_ranks(cpu, size, a, b, (True, True), room=600) == wanted


class Ranks(Solo):
    def __init__(self, size):
        self.size = size


def test_unlike_devices_meet_in_a_row(cpu):
    a, b = drawn(3, 333, 700)
    shapes = [LcsLaunchShape(1, 2, 1, 3), LcsLaunchShape(1, 1, 1, 5), LcsLaunchShape(1, 3, 1, 2)]

    def run(ranks):
        search = LongestCommonSubsequence(twin(cpu), ranks, letters(a), letters(b), shape=shapes[ranks.rank])
        length = search.run(trace=False).length
        return length, search.both_ends.stair.slope

    assert on_ranks(3, run) == [(len(common_pairs(a, b)), 0)] * 3


# --- the line on which two waves meet ---


@pytest.mark.parametrize(
    ("strips", "words", "batches", "slope"), [(1, 2, 3, 1), (4, 1, 3, 1), (3, 2, 4, 2), (5, 1, 2, 0), (6, 1, 3, 5)]
)
@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (1, 3)])
def test_the_largest_sum_on_a_stair_is_the_length(strips, words, batches, slope, first, second):
    stair = Stair.sharing(strips, words, batches, slope, first, second)
    ends = stair.ends
    other = stair.from_end()
    assert np.array_equal(batches - other.ends[::-1], ends)
    assert other.from_end() == stair
    share = strips * batches * first / (first + second)
    assert share <= ends.sum() < share + strips
    rows, columns = 32 * batches, 64 * strips * words
    a, b = drawn(strips + slope, rows, columns, letters=2)
    upper, lower = common_table(a, b), common_table(a[::-1], b[::-1])[::-1, ::-1]
    # Every point of the line, from the left end to the right one.
    line = [(32 * ends[0], 0)]
    for strip in range(strips):
        line += [(32 * ends[strip], j + 1) for j in range(64 * words * strip, 64 * words * (strip + 1))]
        if strip < strips - 1:
            line += [(i, 64 * words * (strip + 1)) for i in range(32 * ends[strip] - 1, 32 * ends[strip + 1] - 1, -1)]
    sums = [upper[point] + lower[point] for point in line]
    assert max(sums) == upper[-1, -1]
    steps = np.diff(sums)
    more, less = (np.zeros((StairPieces(stair).count, 64), np.uint8) for _ in range(2))
    # A piece is a word of 64 columns, or a batch of 32 rows.
    bits = iter(steps)
    kinds = np.zeros(StairPieces(stair).count, int)
    kinds[StairPieces(stair).words] = 64
    kinds[StairPieces(stair).rises] = 32
    for piece, size in enumerate(kinds):
        for k in range(size):
            step = next(bits)
            more[piece, k], less[piece, k] = step > 0, step < 0
    assert next(bits, None) is None
    packed = (np.packbits(one, axis=1, bitorder="little").view(np.uint64).ravel() for one in (more, less))
    # Cancelled terms are left out above, so these bits do not determine the sum at the right end: shift by it.
    largest = StairPieces(stair).largest_sum(*packed)
    assert largest - sums_end(more, less, kinds) == max(sums) - sums[-1]


def sums_end(more, less, kinds):
    """The sum at the right end if only the bits grow."""
    return int(more[kinds == 64].sum()) - int(less[kinds == 32].sum())


def test_both_waves_take_as_many_launches_and_half_of_the_time(cpu):
    """As on a GPU with idle lanes, where the latency between strips dominates."""
    shape = LcsLaunchShape(32, 1, 489, 8)
    alone = LcsTableLayout(shape, 31_250).launches
    stair = Stair.sharing(489, 32, 31_250, shape.delay * shape.steps, 1, 1)
    launches = [LcsTableLayout(shape, 31_250, one.reach, one.slope).launches for one in (stair, stair.from_end())]
    assert abs(launches[0] - launches[1]) <= 1
    assert max(launches) < 0.505 * alone
