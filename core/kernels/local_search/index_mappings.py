"""Pairs and triples in lexicographic order, index to elements and back (section 4.6.1 of `luong2013`), and insertions.

Exact for every index of n <= 65,535 elements 0 to n - 1. An index of a pair has 31 bits, one of an insertion 32; the
functions for triples take u32 up to n = 2,954 and u64 beyond. A triple is its first element and a pair of those after
it. Insertions fill a square of n - 1 rows and columns: on and above its diagonal are those to the right, (row, column +
1), below it those to the left by two places or more, (row + 1, column). One to the left by a single place gives what
the one to the right gives that takes out the element before, so it has no index.
"""

from __future__ import annotations

from core.lang import *

T = Generic("T")


@function
def pair_index(i: i32, j: i32, n: i32) -> u32:
    """The index of the pair i < j: proposition 1."""
    return u32(i) * u32(n - 1) + u32(j - 1) - u32(i) * u32(i + 1) // 2


@function
def pair_row(index: u32, n: i32) -> i32:
    """The i of pair ``index``: proposition 2.

    From the back, rows begin at the triangular numbers. The root is of the paper's 8r + 1 divided by 4, which would
    leave 32 bits; as it loses digits, and ``sqrt`` rounds correctly, the result may be one too large, never too small.
    """
    rest = pair_index(n - 2, n - 1, n) - index
    back = u32(sqrt(2.0 * f32(rest) + 0.25) - 0.5)
    if back * (back + 1) // 2 > rest:
        back -= 1
    return n - 2 - i32(back)


@function
def pair_column(index: u32, i: i32, n: i32) -> i32:
    """The j of pair ``index``, given its i."""
    return i + 1 + i32(index - pair_index(i, i + 1, n))


@function
def triples(n: T) -> T:
    """Return the number of triples of n elements."""
    # As n (n-1) (n-2) / 6 may wrap: the constant times 3 is 1 modulo 2^32 and 2^64, so it divides by 3 even then.
    return n * (n - 1) // 2 * (n - 2) * T(0xAAAAAAAAAAAAAAAB)


@function
def triple_index(i: T, j: T, k: T, n: T) -> T:
    """The index of the triple i < j < k."""
    return triples(n) - triples(n - i) + T(pair_index(i32(j - i - 1), i32(k - i - 1), i32(n - i - 1)))


@function
def triple_first(index: T, n: i32) -> i32:
    """The i of triple ``index``, by bisection."""
    rest = triples(T(n)) - index
    low, high = 0, n - 3
    while low < high:
        middle = (low + high + 1) // 2
        if triples(T(n - middle)) >= rest:
            low = middle
        else:
            high = middle - 1
    return low


@function
def triple_rest(index: T, i: i32, n: i32) -> u32:
    """The index of (j - i - 1, k - i - 1) among the pairs of the n - i - 1 elements after i."""
    return u32(index - (triples(T(n)) - triples(T(n - i))))


@function
def insertion_index(i: i32, j: i32, n: i32) -> u32:
    """The index of taking out the element at i and putting it at j, where j is neither i nor i - 1."""
    if j > i:
        return u32(i) * u32(n - 1) + u32(j - 1)
    return u32(i - 1) * u32(n - 1) + u32(j)


@function
def insertion_source(index: u32, n: i32) -> i32:
    """The i of insertion ``index``."""
    row = index // u32(n - 1)
    return i32(row) if index - row * u32(n - 1) >= row else i32(row) + 1


@function
def insertion_target(index: u32, n: i32) -> i32:
    """The j of insertion ``index``."""
    row = index // u32(n - 1)
    column = index - row * u32(n - 1)
    return i32(column) + 1 if column >= row else i32(column)
