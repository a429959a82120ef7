"""The wave engine on problems that are no part of the suite: edit distance in a few lines, and a cellular automaton."""

import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluster import Solo
from core.errors import UserError
from core.lang import Array, bundle, function, i32, i64, u8, u32
from core.search.dp import Window, waves
from core.search.dp.waves import WaveEngine, Waves

SUBSTITUTE, DELETE, INSERT = 0, 1, 2


@function
def first_row(wave: i32, columns: i32) -> i32:
    """The row of a wave's cell 0."""
    return wave - columns if wave > columns else 0


@bundle
class Texts:
    text: Array[u8]
    other: Array[u8]
    columns: i32


@function
def edits(wave: i32, index: i32, window: Window, choice: Array[u32], texts: Texts) -> i32:
    """Fewest edits between the first i letters of a text and j = wave - i of another; cells of a wave go by i."""
    columns = texts.columns
    i = first_row(wave, columns) + index
    j = wave - i
    if i == 0:
        choice[0] = u32(2)
        return j
    above = window.cells[window.one + i - 1 - first_row(wave - 1, columns)] + 1
    if j == 0:
        choice[0] = u32(1)
        return i
    left = window.cells[window.one + i - first_row(wave - 1, columns)] + 1
    differs = 0 if texts.text[i - 1] == texts.other[j - 1] else 1
    best = window.cells[window.two + i - 1 - first_row(wave - 2, columns)] + differs
    choice[0] = u32(0)
    if above < best:
        best = above
        choice[0] = u32(1)
    if left < best:
        best = left
        choice[0] = u32(2)
    return best


class EditDistance(Waves):
    value = i32
    lookback = 2
    choices = 2
    cell = edits

    def __init__(self, text, other):
        self.rows, self.columns = len(text), len(other)
        self.data = Texts(padded(text), padded(other), len(other))

    def waves(self):
        return self.rows + self.columns + 1

    def cells(self, wave):
        return min(wave, self.rows) - max(0, wave - self.columns) + 1


@bundle
class Ring:
    seeds: Array[u32]
    around: i32


@function
def rule_30(wave: i32, index: i32, window: Window, choice: Array[u32], ring: Ring) -> u32:
    """Wolfram's rule 30 on a ring; the choice is the cell itself."""
    if wave == 0:
        choice[0] = ring.seeds[index]
        return ring.seeds[index]
    left = window.cells[window.one + (index + ring.around - 1) % ring.around]
    right = window.cells[window.one + (index + 1) % ring.around]
    alive = left ^ (window.cells[window.one + index] | right)
    choice[0] = alive
    return alive


class Automaton(Waves):
    value = u32
    choices = 1
    cell = rule_30

    def __init__(self, seeds, steps):
        self.steps = steps
        self.data = Ring(seeds.astype(np.uint32), len(seeds))

    def waves(self):
        return self.steps

    def cells(self, wave):
        return self.data.around


@bundle
class Ends:
    value: i64


@function
def paths(wave: i32, index: i32, window: Window, choice: Array[u32], ends: Ends) -> i64:
    """Pascal's triangle."""
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


def padded(text):
    return np.frombuffer(text + b"\0", np.uint8)


def by_rows(text, other):
    """The table, row by row, in plain Python."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(text, 1):
        before, row = row, [i]
        for j, second in enumerate(other, 1):
            row.append(sorted((before[j - 1] + (letter != second), before[j] + 1, row[-1] + 1))[0])
    return row[-1]


def replayed(decisions, text, other):
    """Apply the traced edits from the end: returns the number of edits and the text that they make."""
    i, j, count, made = len(text), len(other), 0, []
    while i or j:
        choice = decisions.at(i + j, i - max(0, i + j - len(other)))
        if choice == SUBSTITUTE:
            i, j = i - 1, j - 1
            count += text[i] != other[j]
            made.append(other[j])
        elif choice == INSERT:
            j -= 1
            count += 1
            made.append(other[j])
        else:
            assert choice == DELETE
            i -= 1
            count += 1
        assert i >= 0 and j >= 0
    return count, bytes(reversed(made))


def automaton_by_numpy(seeds, steps):
    rows = [seeds]
    for _ in range(steps - 1):
        rows.append(np.roll(rows[-1], 1) ^ (rows[-1] | np.roll(rows[-1], -1)))
    return np.array(rows)


def distance_with_edits(backend, text, other, **window):
    """The distance without decisions, after a look at the edits that a run with decisions traces."""
    engine = WaveEngine(backend, Solo(), EditDistance(text, other), **window)
    traced = engine.run(trace=True)
    assert traced.last.shape == (1,)
    assert replayed(traced.decisions, text, other) == (traced.last[0], other)
    plain = engine.run(trace=False)
    assert plain.decisions is None
    assert plain.last[0] == traced.last[0]
    return int(plain.last[0])


@settings(max_examples=100, deadline=None)
@given(st.text("abc", max_size=40), st.text("abc", max_size=40))
@example("", "")
@example("", "abc")
@example("abc", "")
@example("kitten", "sitting")
def test_edit_distance_is_that_of_plain_python_and_its_edits_make_the_other_text(cpu, text, other):
    text, other = text.encode(), other.encode()
    assert distance_with_edits(cpu, text, other) == by_rows(text, other)


def test_every_backend_computes_and_traces_edit_distance(device):
    for text, other in ((b"", b""), (b"kitten", b"sitting"), (b"ab" * 9, b"aab" * 5), (b"a" * 35, b"")):
        assert distance_with_edits(device, text, other) == by_rows(text, other)


def test_lanes_of_a_team_may_run_in_any_order(in_order, monkeypatch):
    monkeypatch.setattr(waves, "TEAM_SIZE", 4)
    for text, other in ((b"kitten", b"sitting"), (b"ab" * 9, b"aab" * 6)):
        assert distance_with_edits(in_order, text, other) == by_rows(text, other)
    seeds = np.random.default_rng(1).integers(0, 2, 70, np.uint32)
    assert np.array_equal(run_of(in_order, seeds, 3), automaton_by_numpy(seeds, 3))


def run_of(backend, seeds, steps, **window):
    """All cells of an automaton's run, from its decisions; its last wave must say the same."""
    found = WaveEngine(backend, Solo(), Automaton(seeds, steps), **window).run()
    rows = [[found.decisions.at(wave, k) for k in range(len(seeds))] for wave in reversed(range(steps))][::-1]
    assert np.array_equal(found.last, rows[-1])
    return np.array(rows)


def test_decisions_of_one_bit_are_kept_at_any_width(cpu):
    for cells in (1, 31, 32, 33, 1024, 1025, 2100):
        seeds = np.random.default_rng(cells).integers(0, 2, cells, np.uint32)
        assert np.array_equal(run_of(cpu, seeds, 4), automaton_by_numpy(seeds, 4))


def test_decisions_of_two_bits_are_kept_where_a_wave_takes_many_words(cpu):
    rng = np.random.default_rng(3)
    text, other = (bytes(rng.integers(97, 101, n, np.uint8)) for n in (620, 700))
    assert distance_with_edits(cpu, text, other) == by_rows(text, other)


def test_a_wave_may_hold_numbers_of_64_bits(device):
    found = WaveEngine(device, Solo(), Pascal(38)).run()
    row = [1]
    for _ in range(37):
        row = [1, *(a + b for a, b in zip(row, row[1:], strict=False)), 1]
    assert found.last.tolist() == row
    assert row[18] > 2**32
    assert found.decisions is None


def through_a_small_window(backend, folder):
    text, other = b"ab" * 8 + b"c", b"aab" * 6
    row = 32 * 4
    for room in (2 * row, 9 * row):
        engine = WaveEngine(backend, Solo(), EditDistance(text, other), room=room, folder=folder)
        found = engine.run()
        assert engine.rows.streamed_bytes > 0
        assert replayed(found.decisions, text, other) == (by_rows(text, other), other)
    seeds = np.random.default_rng(4).integers(0, 2, 40, np.uint32)
    assert np.array_equal(run_of(backend, seeds, 9, room=2 * 2 * row, folder=folder), automaton_by_numpy(seeds, 9))


def test_a_window_smaller_than_the_problem_changes_nothing(device):
    through_a_small_window(device, None)


def test_decisions_that_leave_the_device_may_go_to_files(cpu, tmp_path):
    through_a_small_window(cpu, str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_an_engine_runs_again(cpu):
    text, other = b"ab" * 15, b"aab" * 11
    engine = WaveEngine(cpu, Solo(), EditDistance(text, other), room=300)
    for _ in range(3):
        found = engine.run()
        assert replayed(found.decisions, text, other) == (by_rows(text, other), other)


def test_progress_comes_by_waves(cpu):
    told = []
    WaveEngine(cpu, Solo(), Automaton(np.ones(3), 1000)).run(progress=lambda done, of: told.append((done, of)))
    assert len(told) >= 3
    assert told == sorted(set(told))
    assert all(of == 1000 and 0 < done <= 1000 for done, of in told)


# --- what is refused ---


def test_a_room_for_less_than_two_waves_is_refused_with_its_bytes(cpu):
    with pytest.raises(UserError, match=r"256 bytes of device memory; 200 are allowed.*--device-memory.*--no-trace"):
        WaveEngine(cpu, Solo(), EditDistance(b"ab" * 15, b"aab" * 11), room=200).run()
    kept = WaveEngine(cpu, Solo(), EditDistance(b"ab" * 15, b"aab" * 11), room=200).run(trace=False)
    assert kept.last[0] == by_rows(b"ab" * 15, b"aab" * 11)


def test_numbers_of_cells_that_indices_do_not_reach_are_refused(cpu):
    class Far(Pascal):
        def first(self, wave):
            return 2**31 - 4

    with pytest.raises(UserError, match="cell 2147483648 of wave 3: expected at most 2147483647"):
        WaveEngine(cpu, Solo(), Far(5)).run()


@pytest.mark.parametrize("data", [{"value": 1}, None, Ends])
def test_data_that_are_no_bundle_are_refused(cpu, data):
    problem = Pascal(3)
    problem.data = data
    with pytest.raises(UserError, match=rf"Pascal: its data are .*{type(data).__name__}.* class that is a @bundle"):
        WaveEngine(cpu, Solo(), problem)


def test_several_ranks_are_refused(cpu):
    class Two(Solo):
        size = 2

    with pytest.raises(UserError, match="--tiling auto with several ranks"):
        WaveEngine(cpu, Two(), Pascal(3))
