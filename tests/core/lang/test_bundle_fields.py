"""Fields of bundles: those that are known when compiling, and those whose names are words of rows."""

import numpy as np
import pytest

from core.errors import UserError
from core.lang import Array, Const, Generic, Row, Rows, bundle, function, i32, kernel, local_array, unroll
from core.lang.source import KernelError

T = Generic("T")


@bundle
class Shape:
    n: Const[i32]
    steps: Const[i32]


@bundle
class Board:
    shape: Shape
    cells: Row(i32, "k")
    k: Const[i32]


@function
def fill(board: Board, shape: Shape):
    room = local_array(shape.n, i32)
    for p in unroll(shape.steps):
        room[p] = p
    for p in range(board.shape.n):
        board.cells[p] = room[p % shape.steps] + shape.n


@kernel
def fill_all(boards: Rows[Board], n: Const[i32], one: Board):
    for b in range(boards.count):
        fill(boards[b], Shape(n, 2))
    shape = Shape(3, 1)
    fill(one, shape)


@kernel
def not_constant(n: i32, cells: Array[i32]):
    shape = Shape(n, 1)
    cells[0] = shape.n


@bundle
class Counted:
    count: i32
    cells: Array[i32]


@function
def write_count(given: Counted):
    given.cells[0] = given.count


@kernel
def counts(given: Counted):
    write_count(given)


def test_a_field_may_be_called_count(backend):
    cells = backend.upload(np.zeros(1, np.int32))
    backend.launch(counts, 1, 1, Counted(7, cells))
    assert backend.download(cells).tolist() == [7]


@pytest.mark.parametrize("n", [4, 7])
def test_constants_travel_with_launches_and_calls(backend, n):
    boards = backend.rows(Board(Shape(4, 2), k=5), 2)
    one = backend.load(Board(Shape(3, 9), None, 4))
    backend.write(boards.cells, np.zeros(10, np.int32))
    backend.write(one.cells, np.zeros(4, np.int32))
    backend.launch(fill_all, 1, 1, boards, n, one)
    assert backend.download(boards.cells).tolist() == [n, n + 1, n, n + 1, 0] * 2
    assert backend.download(one.cells).tolist() == [3, 3, 3, 0]


def test_a_number_that_is_no_constant_is_refused(backend):
    with pytest.raises(KernelError, match="field n of Shape must be a constant"):
        backend.launch(not_constant, 1, 1, 3, backend.upload(np.zeros(1, np.int32)))


def test_a_constant_of_a_type_that_is_bound_later_is_no_field():
    with pytest.raises(UserError, match="Open.n: .*is no type of a field"):

        @bundle
        class Open:
            n: Const[T]
