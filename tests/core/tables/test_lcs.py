"""Longest common subsequences against the table in plain Python, rapidfuzz, and every other backend and number of ranks."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.errors import UserError
from core.tables.lcs import search as lcs_search
from core.tables.lcs import strings
from core.tables.lcs.bidirectional import Stair, StairPieces
from core.tables.lcs.search import LcsLaunchShape, LongestCommonSubsequence
from tests.core.tables.tables import common_pairs, common_table, drawn, letters
from tests.thread_ranks import on_ranks, twin

BLOCKS = "stored bits, in blocks"


def search(backend, a, b, **options):
    return LongestCommonSubsequence(backend, Solo(), letters(a), letters(b), **options)


def pairs_of(subsequence):
    return [tuple(pair) for pair in subsequence.pairs.tolist()]


def traced(backend, a, b, **options):
    """Pairs of a traced run, after a check of its other results and of a run for the length alone."""
    engine = search(backend, a, b, **options)
    result = engine.run()
    assert result.pairs.shape == (result.length, 2) and result.pairs.dtype == np.int64
    assert result.cells == len(a) * len(b)
    alone = engine.run(trace=False)
    assert (alone.length, alone.pairs, alone.cells, alone.streamed_bytes) == (result.length, None, result.cells, 0)
    return pairs_of(result)


EDGES = [
    (b"", b""),
    (b"", b"abc"),
    (b"abc", b""),
    (b"a", b"a"),
    (b"a", b"b"),
    (b"ABCBDAB", b"BDCABA"),
    (b"abca" * 32, b"abca" * 32),
    (b"a" * 129, b"a" * 65),
    (b"ab" * 32, b"ba" * 32),
]


@pytest.mark.parametrize(("a", "b"), EDGES)
def test_edges_of_words_and_of_strings(cpu, a, b):
    assert traced(cpu, a, b) == common_pairs(a, b)


WORDS = st.text("abcd", max_size=140) | st.text("ab", max_size=100) | st.text("a", max_size=70)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS)
@example("a" * 64, "a" * 64)
def test_pairs_of_strings_have_the_length_and_the_trace_of_the_table(cpu, text, other):
    a, b = text.encode(), other.encode()
    assert traced(cpu, a, b) == common_pairs(a, b)


def test_all_256_letters_may_occur(cpu):
    a, b = drawn(1, 300, 400, letters=256)
    assert traced(cpu, a, b) == common_pairs(a, b)
    assert traced(cpu, a, a) == [(k, k) for k in range(300)]


def test_letters_may_have_16_bits(cpu):
    a, b = (np.random.default_rng(seed).integers(0, 700, 300, np.uint16) for seed in (1, 2))
    b[::2] = a[::2]
    assert traced(cpu, a, b) == common_pairs(a, b)
    with pytest.raises(UserError, match="^found over 254 letters that both strings have, expected --mapping native"):
        search(cpu, a, b, mapping="published")


def test_every_backend_finds_the_same_pairs(device):
    sizes = ((20, 35),) if device.name == "python" else ((20, 35), (70, 150), (100, 300))
    for n, m in sizes:
        a, b = drawn(n, n, m)
        assert traced(device, a, b) == common_pairs(a, b)


@pytest.mark.parametrize(
    "shape",
    [(4, 1, 2, 1), (2, 2, 2, 8), *(pytest.param(one, marks=pytest.mark.slow) for one in ((4, 1, 1, 3), (4, 2, 1, 2)))],
    ids=str,
)
def test_lanes_may_run_in_any_order_and_strips_have_any_shape(in_order, shape):
    a, b = drawn(5, 75, 64 * shape[0] * shape[1] * shape[2] - 20)
    assert traced(in_order, a, b, shape=LcsLaunchShape(*shape)) == common_pairs(a, b)


@pytest.mark.parametrize("shape", [(1, 1, 12, 1), (1, 3, 4, 5), (1, 12, 1, 100), (1, 2, 6, 2)], ids=str)
def test_the_shape_of_a_launch_does_not_matter(cpu, shape):
    a, b = drawn(6, 333, 700)
    assert traced(cpu, a, b, shape=LcsLaunchShape(*shape)) == common_pairs(a, b)


# --- less memory than the table wants ---


def test_bits_that_do_not_fit_the_device_are_streamed_and_traced_all_the_same(device):
    """Run twice, with memory for some words of the bits."""
    a, b = drawn(7, 170, 75)
    engine = search(device, a, b, room=2048, shape=LcsLaunchShape(1, 2, 1, 1))
    for _ in range(2):
        result = engine.run()
        assert result.method != BLOCKS
        assert result.streamed_bytes > 0
        assert pairs_of(result) == common_pairs(a, b)


@pytest.mark.parametrize(
    ("n", "m", "alphabet"),
    [(400, 700, 2), (1000, 400, 4), *(pytest.param(33, 2000, k, marks=pytest.mark.slow) for k in (2, 4))],
)
def test_the_trace_is_the_same_however_little_memory_there_is(cpu, monkeypatch, n, m, alphabet):
    own = lcs_search.host_bytes()
    a, b = drawn(n, n, m, letters=alphabet)
    expected = common_pairs(a, b)
    for room, host in ((1, own), (600, own), (3000, own), (600, 2000), (3000, 20_000)):
        monkeypatch.setattr(lcs_search, "host_bytes", lambda host=host: host)
        outcome = search(cpu, a, b, room=room).run()
        assert (outcome.method, pairs_of(outcome)) == (BLOCKS, expected)


def test_the_trace_is_the_same_on_every_backend_when_memory_is_short(device, monkeypatch):
    monkeypatch.setattr(lcs_search, "host_bytes", lambda: 2000)
    for n, m in ((70, 150),) if device.name == "python" else ((70, 150), (190, 90)):
        a, b = drawn(n, n, m, letters=2)
        outcome = search(device, a, b, room=700).run()
        assert (outcome.method, pairs_of(outcome)) == (BLOCKS, common_pairs(a, b))


def test_short_memory_serves_strings_without_a_common_letter(cpu):
    outcome = search(cpu, b"ab" * 200, b"cd" * 400, room=600).run()
    assert (outcome.length, outcome.pairs.shape, outcome.method) == (0, (0, 2), BLOCKS)


# --- peers and sizes ---


def test_rapidfuzz_finds_the_same_length_of_long_random_strings(cpu):
    peer = pytest.importorskip("rapidfuzz.distance", reason="rapidfuzz is not installed: pip install rapidfuzz")
    a, b = strings.random_strings(100_000, seed=11)
    assert search(cpu, a, b).run(trace=False).length == peer.LCSseq.similarity(a.tobytes(), b.tobytes())


# --- what is refused ---


def test_what_is_no_such_search_is_refused(cpu):
    with pytest.raises(UserError, match="mapping 'squares'"):
        search(cpu, b"abc", b"abd", mapping="squares")
    endless = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (2**31 - 8,), (0,))
    with pytest.raises(UserError, match="strings of 3 and 2147483640 letters; both must be shorter"):
        LongestCommonSubsequence(cpu, Solo(), letters(b"abc"), endless)


def over_ranks(backend, size, a, b, trace=(False, True, False), hosts=1, **options):
    a, b = letters(a), letters(b)

    def run(ranks):
        search = LongestCommonSubsequence(twin(backend), Rehearsal(ranks), a, b, **options)
        search.warm_up(trace[0])
        search.join(ranks)
        results = [search.run(trace=wanted, ranks=ranks) for wanted in trace]
        return [
            (one.length, None if one.pairs is None else [tuple(pair) for pair in one.pairs.tolist()]) for one in results
        ]

    return on_ranks(size, run, hosts=hosts)


def expected(a, b, trace=(False, True, False)):
    pairs = common_pairs(a, b)
    return [(len(pairs), pairs if wanted else None) for wanted in trace]


TEXT = st.text("abcd", min_size=1, max_size=200) | st.text("a", min_size=1, max_size=80)


@settings(max_examples=25, deadline=None)
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
    ("size", "lanes", "words", "steps"), [(2, 4, 1, 3), (3, 2, 2, 8), pytest.param(5, 4, 2, 2, marks=pytest.mark.slow)]
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
    a, b = drawn(size, 500, 900, letters=2)
    own = LongestCommonSubsequence(cpu, Ranks(size), letters(a), letters(b)).strategy.given.block
    shape = LcsLaunchShape(1, 1, -(-own.b.size // 64), 2)
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
        return length, search.strategy.present.stair.slope

    assert on_ranks(3, run) == [(len(common_pairs(a, b)), 0)] * 3


# --- the line on which two waves meet ---


@pytest.mark.parametrize(
    ("strips", "words", "batches", "slope"), [(1, 2, 3, 1), (4, 1, 3, 1), (3, 2, 4, 2), (5, 1, 2, 0), (6, 1, 3, 5)]
)
@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 1), (1, 3)])
def test_the_largest_sum_on_a_stair_is_the_length(strips, words, batches, slope, first, second):
    stair = Stair.partition(strips, words, batches, slope, first, second)
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
