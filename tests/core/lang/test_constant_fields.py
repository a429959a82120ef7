"""Fields of bundles that are known when compiling, and launches with bundles that are refused."""

import numpy as np
import pytest

from backends.device import LaunchRefused
from core.errors import UserError
from core.lang import Array, Const, Row, boolean, bundle, function, i32, kernel, local_array, shared_array, unroll
from core.lang.bundles import Rows
from tests.core.lang.test_bundles import Walk


@bundle
class Shape:
    width: Const[i32]
    doubled: Const[boolean]
    factor: i32


@bundle
class Team:
    shape: Shape
    seen: Array[i32]


@bundle
class Ant:
    tour: Array[i32] = Row("n")
    n: Const[i32]


@function
def last(team: Team, copies: Const[i32]) -> i32:
    own = local_array(team.shape.width * copies, i32)
    for k in unroll(team.shape.width * copies):
        own[k] = k + team.seen[0]
    value = own[team.shape.width * copies - 1]
    if team.shape.doubled:
        value = 2 * value
    return value * team.shape.factor


@kernel
def lasts(shape: Shape, ants: Rows[Ant], out: Array[i32]):
    team = Team(shape, shared_array(shape.width, i32))
    team.seen[0] = 10
    out[0] = last(team, 1)
    other = Shape(2, not shape.doubled, 3)
    out[1] = last(Team(other, team.seen), shape.width)
    for a in range(ants.count):
        ant = ants[a]
        for k in unroll(ant.n):
            ant.tour[k] = 10 * a + k


@kernel
def made_of_a_number(n: i32, out: Array[i32]):
    shape = Shape(n, True, 1)
    out[0] = shape.width


def test_l51_every_value_makes_its_own_program(devices):
    for device in devices:
        for width, doubled, factor in ((4, True, 7), (1, False, -1), (3, True, 0)):
            ants, out = device.rows(Ant(n=3), 2), device.allocate(2, np.int32)
            device.launch(lasts, 1, 1, Shape(width, doubled, factor), ants, out)
            first = (width - 1 + 10) * (2 if doubled else 1) * factor
            second = (2 * width - 1 + 10) * (1 if doubled else 2) * 3
            assert device.download(out).tolist() == [first, second]
            assert device.download(ants.tour).tolist() == [0, 1, 2, 10, 11, 12]
        for wrong in (2**31, 1.5):
            with pytest.raises(LaunchRefused, match="lasts: argument shape.width is i32; .* does not fit"):
                device.launch(lasts, 1, 1, Shape(wrong, True, 1), ants, out)
        with pytest.raises(UserError, match="field width of Shape must be a constant"):
            device.launch(made_of_a_number, 1, 1, 3, out)


@kernel
def ends(walks: Rows[Walk], out: Array[i32]):
    out[0] = walks[walks.count - 1].control[2]


def test_l59_l60_and_l70_what_is_loaded_and_launched(devices):
    for backend in devices:
        walks, out = backend.rows(Walk(n=4), 3, S=np.uint8), backend.allocate(1, np.int32)
        assert [walks.solution.size, walks.solution.dtype, walks.control.size] == [12, np.uint8, 9]
        for wrong, words in (
            (walks.bundle, r"walks is Rows\[Walk\], not Walk"),
            (Rows(walks.bundle, 2), "walks.control has 9 elements; expected 2 rows"),
            (backend.rows(Ant(n=3), 3), r"walks is Rows\[Walk\], not Rows\[Ant\]"),
        ):
            with pytest.raises(LaunchRefused, match=words):
                backend.launch(ends, 1, 1, wrong, out)
        with pytest.raises(UserError, match="expected less than 2.31"):
            backend.rows(Walk(n=2**30), 2, S=np.uint8)
