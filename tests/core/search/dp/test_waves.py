"""The wave engine on Pascal's triangle, and what it refuses; `test_own_recurrence.py` has another problem of a user."""

import pytest

from cluster import Solo
from core.errors import UserError
from core.lang import Array, bundle, function, i32, i64, u32
from core.search.dp import Window
from core.search.dp.engine.recurrences import Waves
from core.search.dp.engine.waves import WaveEngine


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


def test_a_wave_may_hold_numbers_of_64_bits(device):
    result = WaveEngine(device, Solo(), Pascal(38)).run()
    row = [1]
    for _ in range(37):
        row = [1, *(a + b for a, b in zip(row, row[1:], strict=False)), 1]
    assert result.last.tolist() == row
    assert row[18] > 2**32
    assert result.choice is None


# --- what is refused ---


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
