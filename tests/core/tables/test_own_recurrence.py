"""User-defined recurrences by tiles and by diagonals, on every backend: examples/edit_distance.py, and Pascal's triangle."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import Solo
from core.errors import UserError
from core.lang import bundle, function, i32, i64
from core.tables import WaveEngine, Window
from core.tables.engine.recurrences import Waves
from examples.edit_distance import EditDistance

WORDS = [(b"kitten", b"sitting"), (b"a", b"b"), (b"same", b"same"), (b"flaw" * 9, b"lawn" * 11), (b"x" * 40, b"y")]


@functools.cache
def plain(a, b):
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            kept = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(kept, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table


def check(result, a, b):
    """The value is the table's, and the path of choices has this cost."""
    table = plain(a, b)
    assert result.value == table[-1, -1]
    i, j, cost = len(a), len(b), 0
    while i and j:
        choice = result.choice(i, j)
        after = (i - (choice != 2), j - (choice != 1))
        cost += int(table[i, j] - table[after])
        assert choice != 0 or table[i, j] - table[after] == (a[i - 1] != b[j - 1])
        i, j = after
    assert cost + i + j == result.value


@pytest.mark.parametrize("room", [None, 2000])
def test_every_backend_computes_the_recurrence(backend, room):
    for a, b in WORDS[:3] if backend.name == "python" else WORDS:
        engine = WaveEngine(backend, Solo(), EditDistance(a, b), room=room)
        check(engine.run(), a, b)
        alone = engine.run(trace=False)
        assert (alone.value, alone.choice) == (plain(a, b)[-1, -1], None)


SLOW_SHAPES = [(4, 3, 20), (8, 1, 1), (1, 3, 2), (5, 2, 16)]


@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (4, 1, 5), (3, 2, 4), *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW_SHAPES)],
    ids=str,
)
def test_lanes_of_a_tile_do_not_race(in_order, shape):
    for a, b in [*WORDS[:3], (b"abcabcabcabcabcab", b"bcacbacabbcabacbc")]:
        check(WaveEngine(in_order, Solo(), EditDistance(a, b), shape=shape).run(), a, b)


def test_any_two_strings(cpu):
    words = st.binary(min_size=1, max_size=60).map(lambda text: bytes(letter % 3 for letter in text))

    @settings(max_examples=80, deadline=None)
    @given(words, words, st.sampled_from([None, (1, 1, 1), (1, 7, 16), (1, 128, 1024)]))
    def compare(a, b, shape):
        check(WaveEngine(cpu, Solo(), EditDistance(a, b), shape=shape).run(), a, b)

    compare()


def test_several_ranks_are_refused(cpu):
    class Several(Solo):
        size = 2

    with pytest.raises(
        UserError, match="--mapping native computes a table on one device here: found 2 ranks, expected 1"
    ):
        WaveEngine(cpu, Several(), EditDistance(b"a", b"b"))


@bundle
class Ends:
    value: i64


@function
def paths(wave: i32, index: i32, window: Window, ends: Ends) -> i64:
    count = ends.value
    if index > 0 and index < wave:
        count = window.cells[window.one + index - 1] + window.cells[window.one + index]
    return count


class Pascal(Waves):
    value = i64
    cell = paths
    data = Ends(1)

    def __init__(self, rows):
        self.rows = rows

    def waves(self):
        return self.rows

    def cells(self, wave):
        return wave + 1


def test_a_wave_may_hold_numbers_of_64_bits(device):
    result = WaveEngine(device, Solo(), Pascal(38)).run()
    row = [1]
    for _ in range(37):
        row = [1, *(a + b for a, b in zip(row, row[1:], strict=False)), 1]
    assert result.last.tolist() == row
    assert row[18] > 2**32
    assert result.choice is None


# --- what is refused ---


@pytest.mark.parametrize("data", [{"value": 1}, None, Ends])
def test_data_that_are_no_bundle_are_refused(cpu, data):
    problem = Pascal(3)
    problem.data = data
    with pytest.raises(UserError, match=rf"Pascal: its data are .*{type(data).__name__}.* class that is a @bundle"):
        WaveEngine(cpu, Solo(), problem)
