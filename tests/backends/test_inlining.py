"""Functions that are called once are written into their callers, and programs compute the same."""

import numpy as np

from backends.emit.inlining import inline_single_calls, often_copied
from core.lang import Array, atomic_add, barrier, function, i32, kernel, lane, local_array, team_rank, view


@function
def twice(x: i32) -> i32:
    half = x
    return x + half


@function
def early(x: i32) -> i32:
    if x > 2:
        return 7
    return x


@function
def filled(x: i32, rounds: i32, values: Array[i32]) -> i32:
    room = local_array(4, i32)
    total = 0
    for k in range(rounds):
        room[k] = x
        x += 1
    for k in range(rounds):
        total += room[k] * values[k]
    return total


@function
def add(x: i32, sums: Array[i32]):
    barrier()
    if lane() == 0:
        atomic_add(sums, team_rank(), x)


@function
def last(values: Array[i32]) -> i32:
    total = values[0]
    return total


@kernel
def called_once(values: Array[i32], sums: Array[i32]):
    x = twice(1)
    total = 5  # a name that the functions have too
    for k in range(3):
        result = filled(twice(k) + x, 4, values)
        total += result
    two = early(total)
    three = last(view(values, 2))
    add(total * 100 + two * 10 + three + x, sums)


def left_of(kernel):
    """Functions that are not inlined."""
    program = inline_single_calls(kernel.specialise({}, 1))
    return sorted(f.source.name for f in program.functions if f is not program.kernel)


def test_functions_called_once_vanish_unless_they_return_early_or_take_a_part_of_an_array():
    assert left_of(called_once) == ["early", "last", "twice"]


def test_what_is_written_into_the_caller_computes_the_same(backend):
    values = [3, -1, 4, 1, 5]
    total = 5 + sum((2 * (k + 1) + m) * values[m] for k in range(3) for m in range(4))
    expected = total * 100 + 7 * 10 + values[2] + 2
    for size in (1, 7):
        if size <= backend.capabilities.max_team_size:
            sums = backend.upload(np.zeros(2, np.int32))
            backend.launch(called_once, 2, size, backend.upload(np.array(values, np.int32)), sums)
            assert backend.download(sums).tolist() == [expected, expected]


@function
def sorted_in_place(first: i32, end: i32, values: Array[i32]) -> i32:
    swaps = 0
    for left in range(first, end):
        least, place = values[left], left
        for right in range(left + 1, end):
            if values[right] < least:
                least = values[right]
                place = right
        if place != left:
            values[place] = values[left]
            values[left] = least
            swaps += 1
    for k in range(first + 1, end):
        if values[k - 1] > values[k]:
            swaps += 1000
    if swaps < 0:
        return -1
    rest = swaps % 7
    bits = local_array(2, i32)
    bits[0] = rest
    bits[1] = swaps
    last_bit = bits[rest % 2]
    return last_bit


@kernel
def called_often(values: Array[i32], counts: Array[i32]):
    if lane() == 0:
        first = sorted_in_place(0, 4, values)
        two = sorted_in_place(4, 8, values)
        three = sorted_in_place(8, 12, values)
        four = sorted_in_place(0, 12, values)
        counts[0] = first + 10 * two + 100 * three + 1000 * four


def test_a_long_function_with_many_calls_stays_one_and_computes_the_same(backend):
    often = often_copied(inline_single_calls(called_often.specialise({}, 1)))
    assert [f.source.name for f in often] == ["sorted_in_place"]
    assert not often_copied(inline_single_calls(called_once.specialise({}, 1)))
    drawn = np.random.default_rng(5).permutation(12).astype(np.int32)
    values, counts = backend.upload(drawn), backend.upload(np.zeros(1, np.int32))
    backend.launch(called_often, 1, 1, values, counts)
    assert backend.download(values).tolist() == list(range(12))

    def expected(first, end):
        swaps = 0
        for left in range(first, end):
            place = left + int(np.argmin(drawn[left:end]))
            swaps += place != left
            drawn[[left, place]] = drawn[[place, left]]
        return swaps if swaps % 7 % 2 else swaps % 7

    ranges = ((0, 4), (4, 8), (8, 12), (0, 12))
    assert backend.download(counts)[0] == sum(10**k * expected(*one) for k, one in enumerate(ranges))
