"""Longest common subsequences against the table in plain Python, rapidfuzz, and every other backend and rank."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluster import Solo
from core.errors import UserError
from core.problems.tables import strings
from core.search.dp.lcs import search as lcs_search
from core.search.dp.lcs.search import LcsLaunchShape, LongestCommonSubsequence
from tests.core.search.dp.tables import common_pairs, drawn, letters

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


@settings(max_examples=150, deadline=None)
@given(WORDS, WORDS)
@example("a" * 64, "a" * 64)
def test_pairs_of_strings_have_the_length_and_the_trace_of_the_table(cpu, text, other):
    a, b = text.encode(), other.encode()
    assert traced(cpu, a, b) == common_pairs(a, b)


def test_strings_that_end_beside_the_end_of_a_word(cpu):
    for n in (31, 32, 33, 63, 64, 65, 127, 128, 129):
        for m in (n, 64, 200):
            a, b = drawn(n * m, n, m)
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


@settings(max_examples=30, deadline=None)
@given(st.text("ab", min_size=65, max_size=300), st.text("ab", min_size=65, max_size=300))
def test_of_many_equal_subsequences_short_memory_finds_the_same(cpu, text, other):
    a, b = text.encode(), other.encode()
    short_of_memory = search(cpu, a, b, room=600)
    assert pairs_of(short_of_memory.run()) == common_pairs(a, b)


def test_short_memory_serves_strings_without_a_common_letter(cpu):
    outcome = search(cpu, b"ab" * 200, b"cd" * 400, room=600).run()
    assert (outcome.length, outcome.pairs.shape, outcome.method) == (0, (0, 2), BLOCKS)


# --- peers, sizes, progress ---


def test_rapidfuzz_finds_the_same_length_of_long_random_strings(cpu):
    peer = pytest.importorskip("rapidfuzz.distance", reason="rapidfuzz is not installed: pip install rapidfuzz")
    a, b = strings.random_strings(100_000, seed=11)
    assert search(cpu, a, b).run(trace=False).length == peer.LCSseq.similarity(a.tobytes(), b.tobytes())


def test_progress_ends_with_all_of_the_work(cpu, monkeypatch):
    monkeypatch.setattr("core.search.progress.PROGRESS_INTERVAL_S", 0)
    a, b = drawn(8, 9000, 1100)
    reported = []
    search(cpu, a, b).run(callback=lambda progress: reported.append(progress[:2]))
    assert len(reported) > 1 and reported == sorted(reported)
    assert {of for _, of in reported} == {reported[0][1]}
    assert all(0 < done <= of for done, of in reported) and reported[-1][0] == reported[-1][1]


# --- what is refused ---


def test_what_is_no_such_search_is_refused(cpu):
    with pytest.raises(UserError, match="mapping 'squares'"):
        search(cpu, b"abc", b"abd", mapping="squares")
    endless = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (2**31 - 8,), (0,))
    with pytest.raises(UserError, match="strings of 3 and 2147483640 letters; both must be shorter"):
        LongestCommonSubsequence(cpu, Solo(), letters(b"abc"), endless)
