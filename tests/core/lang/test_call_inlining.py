"""Functions that are one expression are written out where they are called, unless that computes something twice."""

from core.lang import Array, function, i32, kernel, tree, u32


@function
def only(city: i32) -> u32:
    return u32(1) << u32(city)


@function
def square(x: i32) -> i32:
    return x * x


@function
def element(values: Array[i32], k: i32) -> i32:
    return values[k]


@kernel
def calls(k: i32, values: Array[i32], sets: Array[u32]):
    sets[0] = only(k + 2)
    values[1] = square(k)
    values[2] = square(k + 1)
    values[3] = element(values, k)


def called(node):
    if isinstance(node, tree.Call):
        yield node.function.source.name
    if isinstance(node, (list, tuple)):
        for part in node:
            yield from called(part)


def test_only_functions_of_numbers_whose_arguments_are_computed_once_are_written_out():
    assert list(called(calls.specialise({}, 1).kernel.body)) == ["square", "element"]
