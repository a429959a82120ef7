"""The wave engine on problems that are no part of the suite: a cellular automaton, and Pascal's triangle."""

import os

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.lang import Array, bundle, function, i32, i64, u32
from core.search.dp import Window
from core.search.dp.engine.recurrences import Waves
from core.search.dp.engine.waves import WaveEngine


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


def automaton_by_numpy(seeds, steps):
    rows = [seeds]
    for _ in range(steps - 1):
        rows.append(np.roll(rows[-1], 1) ^ (rows[-1] | np.roll(rows[-1], -1)))
    return np.array(rows)


def check_run(backend, cells, steps, **window):
    """Compare all cells of an automaton's run, and its last wave, with NumPy's; return the result."""
    seeds = np.random.default_rng(cells).integers(0, 2, cells, np.uint32)
    engine, expected = WaveEngine(backend, Solo(), Automaton(seeds, steps), **window), automaton_by_numpy(seeds, steps)
    for _ in range(2):
        result = engine.run()
        rows = [[result.choice(wave, k) for k in range(cells)] for wave in reversed(range(steps))][::-1]
        assert np.array_equal(rows, expected)
        assert np.array_equal(result.last, expected[-1])
    untraced = engine.run(trace=False)
    assert untraced.choice is None
    assert np.array_equal(untraced.last, expected[-1])
    return result


def test_decisions_of_one_bit_are_kept_at_any_width(cpu):
    for cells in (1, 31, 32, 33, 1024, 1025, 2100):
        check_run(cpu, cells, 4)


def test_lanes_of_a_team_may_run_in_any_order(in_order):
    check_run(in_order, 70, 3, shape=(4,))


def test_a_window_smaller_than_the_problem_changes_nothing(device, tmp_path):
    for folder in (None, str(tmp_path)):
        assert check_run(device, 40, 9, room=512, folder=folder).streamed_bytes > 0
    assert os.listdir(tmp_path) == []


def test_a_wave_may_hold_numbers_of_64_bits(device):
    result = WaveEngine(device, Solo(), Pascal(38)).run()
    row = [1]
    for _ in range(37):
        row = [1, *(a + b for a, b in zip(row, row[1:], strict=False)), 1]
    assert result.last.tolist() == row
    assert row[18] > 2**32
    assert result.choice is None


def test_progress_comes_by_waves(cpu):
    reported = []
    WaveEngine(cpu, Solo(), Automaton(np.ones(3), 1000)).run(progress=lambda done, of: reported.append((done, of)))
    assert len(reported) >= 3
    assert reported == sorted(set(reported))
    assert all(of == 1000 and 0 < done <= 1000 for done, of in reported)


# --- what is refused ---


def test_a_room_for_less_than_two_waves_is_refused_with_its_bytes(cpu):
    engine = WaveEngine(cpu, Solo(), Automaton(np.ones(40), 9), room=200)
    with pytest.raises(UserError, match=r"bytes of device memory; 200 are allowed.*--device-memory.*--no-trace"):
        engine.run()
    assert engine.run(trace=False).last.tolist() == automaton_by_numpy(np.ones(40, np.uint32), 9)[-1].tolist()


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

    with pytest.raises(UserError, match="found 2 ranks"):
        WaveEngine(cpu, Two(), Pascal(3))
