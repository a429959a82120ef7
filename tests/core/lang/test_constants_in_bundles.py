"""Fields that are known when compiling: a bundle's ``Const`` is a constant wherever the bundle goes."""

import numpy as np
import pytest

from backends.base import LaunchRefused
from backends.cpu import CpuBackend
from backends.python import PythonBackend
from core.errors import UserError
from core.lang import Array, Const, Row, Rows, boolean, bundle, function, i32, kernel, local_array, shared_array, unroll


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
    tour: Row(i32, "n")
    n: Const[i32]


@function
def last(team: Team, copies: Const[i32]) -> i32:
    own = local_array(team.shape.width * copies, i32)
    for k in unroll(team.shape.width * copies):
        own[k] = k + team.seen[0]
    found = own[team.shape.width * copies - 1]
    if team.shape.doubled:
        found = 2 * found
    return found * team.shape.factor


@kernel
def lasts(shape: Shape, ants: Rows[Ant], out: Array[i32]):
    team = Team(shape, shared_array(shape.width, i32))
    team.seen[0] = 10
    out[0] = last(team, 1)
    other = Shape(2, not shape.doubled, 3)
    out[1] = last(Team(other, team.seen), shape.width)
    for a in range(ants.count):
        one = ants[a]
        for k in unroll(one.n):
            one.tour[k] = 10 * a + k


@pytest.fixture(params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.mark.parametrize("shape", [(4, True, 7), (1, False, -1), (3, True, 0)], ids=str)
def test_every_value_makes_its_own_program(device, shape):
    width, doubled, factor = shape
    ants, out = device.rows(Ant(n=3), 2), device.allocate(2, np.int32)
    device.launch(lasts, 1, 1, Shape(*shape), ants, out)
    first = (width - 1 + 10) * (2 if doubled else 1) * factor
    second = (2 * width - 1 + 10) * (1 if doubled else 2) * 3
    assert device.download(out).tolist() == [first, second]
    assert device.download(ants.tour).tolist() == [0, 1, 2, 10, 11, 12]


def test_a_constant_that_does_not_fit_is_refused_by_the_name_of_its_field(device):
    ants, out = device.rows(Ant(n=3), 2), device.allocate(2, np.int32)
    for width in (2**31, 1.5):
        with pytest.raises(LaunchRefused, match="lasts: argument shape.width is i32; .* does not fit"):
            device.launch(lasts, 1, 1, Shape(width, True, 1), ants, out)


def test_a_number_that_is_no_constant_is_refused_for_a_field_that_is_one(device):
    @kernel
    def made_of_a_number(n: i32, out: Array[i32]):
        shape = Shape(n, True, 1)
        out[0] = shape.width

    with pytest.raises(UserError, match="field width of Shape must be a constant"):
        device.launch(made_of_a_number, 1, 1, 3, device.allocate(1, np.int32))


def test_a_constant_of_no_scalar_type_is_refused():
    with pytest.raises(UserError, match="Sizes.n: Const.* is no type of a field"):

        @bundle
        class Sizes:
            n: Const[Array[i32]]
