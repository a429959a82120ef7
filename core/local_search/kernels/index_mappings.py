"""Elements of a pair, triple or insertion by its index: pairs and triples in lexicographic order (`luong2013`, 4.6.1).

Exact for every index of n <= 65,535 elements 0 to n - 1. An index of a pair has 31 bits, an index of an insertion 32.
The functions for triples take u32 up to n = 2,954 and u64 beyond. A triple is its first element and a pair of later
elements. Insertions fill a square of n - 1 rows and columns: on and above its diagonal are insertions to the right,
(row, column + 1), below it insertions to the left by two places or more, (row + 1, column). An insertion to the left
by one place has no index: it equals the insertion of the element before it to the right.
"""

from __future__ import annotations

from core.lang import *

T = Generic("T")


@function
def pair_index(i: i32, j: i32, n: i32) -> u32:
    """Return the index of the pair i < j: proposition 1."""
    return u32(i) * u32(n - 1) + u32(j - 1) - u32(i) * u32(i + 1) // 2


@function
def pair_row(index: u32, n: i32) -> i32:
    """Return the i of pair ``index``: proposition 2.

    Counted from the last pair, rows begin at the triangular numbers. The paper's root of 8r + 1 does not fit 32 bits,
    so it is divided by 4. This loses digits, and ``sqrt`` rounds correctly, so the result may be one too large, never
    too small.
    """
    from_end = pair_index(n - 2, n - 1, n) - index
    rows_from_end = u32(sqrt(2.0 * f32(from_end) + 0.25) - 0.5)
    if rows_from_end * (rows_from_end + 1) // 2 > from_end:
        rows_from_end -= 1
    return n - 2 - i32(rows_from_end)


@function
def pair_column(index: u32, i: i32, n: i32) -> i32:
    """Return the j of pair ``index`` with this i."""
    return i + 1 + i32(index - pair_index(i, i + 1, n))


@function
def triples(n: T) -> T:
    """Return the number of triples of n elements."""
    # The product may wrap around. The constant times 3 is 1 modulo 2^32 and 2^64, so it divides by 3 even then.
    return n * (n - 1) // 2 * (n - 2) * T(0xAAAAAAAAAAAAAAAB)


@function
def triple_first(index: T, n: i32) -> i32:
    """Return the i of triple ``index``, by bisection."""
    from_end = triples(T(n)) - index
    low, high = 0, n - 3
    while low < high:
        middle = (low + high + 1) // 2
        if triples(T(n - middle)) >= from_end:
            low = middle
        else:
            high = middle - 1
    return low


@function
def triple_rest(index: T, i: i32, n: i32) -> u32:
    """Return the index of (j - i - 1, k - i - 1) among the pairs of the n - i - 1 elements after i."""
    return u32(index - (triples(T(n)) - triples(T(n - i))))


@function
def insertion_source(index: u32, n: i32) -> i32:
    """Return the i of insertion ``index``."""
    row = index // u32(n - 1)
    return i32(row) if index - row * u32(n - 1) >= row else i32(row) + 1


@function
def insertion_target(index: u32, n: i32) -> i32:
    """Return the j of insertion ``index``."""
    row = index // u32(n - 1)
    column = index - row * u32(n - 1)
    return i32(column) + 1 if column >= row else i32(column)
