"""Neighbours of a solution in the kernel language: which one an index means, how it is made, and when it is tabu.

A neighbour is three integers (i, j, k), -1 where not used; the four encodings are those of section 4 of `luong2013`.
"""

from __future__ import annotations

from core.kernels.index_mappings import pair_column, pair_row, triple_first, triple_rest
from core.lang import (
    Array,
    Const,
    Generic,
    function,
    i32,
    kernel,
    lane,
    team_count,
    team_rank,
    team_size,
    u32,
    u64,
)
from core.lang.library import random_below, random_word

S = Generic("S")

# Shapes: how many neighbours a solution of n elements has, and what index means which (i, j, k).
SINGLES, PAIRS, TRIPLES, CHOICES = range(4)
# Changes: what a move does to the solution.
FLIP, EXCHANGE, ASSIGN, REVERSE, OWN = range(5)
# Memories: what a tabu search forbids after a move: this move, or what it took away.
MOVES, ATTRIBUTES = range(2)
# Encodings, for random start solutions.
BITS, VALUES, PERMUTATION, REALS = range(4)

NEVER = 0x7FFFFFFF
"""The cost difference of an index that is no neighbour."""


@function
def first_of(shape: Const[i32], index: u32, n: i32, choices: i32) -> i32:
    """The i of neighbour ``index``."""
    if shape == PAIRS:
        return pair_row(index, n)
    if shape == TRIPLES:
        return triple_first(index, n)
    if shape == CHOICES:
        return i32(index // u32(choices - 1))
    return i32(index)


@function
def second_of(shape: Const[i32], index: u32, i: i32, n: i32, choices: i32, solution: Array[S]) -> i32:
    """The j of neighbour ``index``, given its i; among choices the new value, which is not the old one."""
    if shape == PAIRS:
        return pair_column(index, i, n)
    if shape == TRIPLES:
        return i + 1 + pair_row(triple_rest(index, i, n), n - i - 1)
    if shape == CHOICES:
        value = i32(index % u32(choices - 1))
        return value if value < i32(solution[i]) else value + 1
    return -1


@function
def third_of(shape: Const[i32], index: u32, i: i32, j: i32, n: i32) -> i32:
    """The k of neighbour ``index``, given its i and j."""
    if shape == TRIPLES:
        return i + 1 + pair_column(triple_rest(index, i, n), j - i - 1, n - i - 1)
    return -1


@function
def flipped(bits: Array[i32], p: i32, i: i32, j: i32, k: i32) -> i32:
    """Bit ``p`` of the neighbour (i, j, k) of a bit vector."""
    bit = bits[p]
    if p == i or p == j or p == k:
        return 1 - bit
    return bit


@function
def exchanged(permutation: Array[i32], p: i32, i: i32, j: i32, k: i32) -> i32:
    """Element ``p`` of the neighbour (i, j, k) of a permutation: i takes j's, j takes k's or i's, k takes i's."""
    source = p
    if p == i:
        source = j
    elif p == j:
        source = k if k >= 0 else i
    elif p == k:
        source = i
    return permutation[source]


@function
def change(kind: Const[i32], solution: Array[S], i: i32, j: i32, k: i32):
    """Make the move; every lane of the team calls this, between two barriers."""
    if kind == REVERSE:
        for p in range(lane(), (j - i) // 2, team_size()):
            solution[i + 1 + p], solution[j - p] = solution[j - p], solution[i + 1 + p]
    elif lane() == 0:
        if kind == FLIP:
            solution[i] = S(1) - solution[i]
            if j >= 0:
                solution[j] = S(1) - solution[j]
            if k >= 0:
                solution[k] = S(1) - solution[k]
        if kind == ASSIGN:
            solution[i] = S(j)
        if kind == EXCHANGE:
            kept = solution[i]
            solution[i] = solution[j]
            if k >= 0:
                solution[j] = solution[k]
                solution[k] = kept
            else:
                solution[j] = kept


@function
def is_tabu(
    memory_kind: Const[i32],
    kind: Const[i32],
    memory: Array[i32],
    solution: Array[S],
    index: u32,
    i: i32,
    j: i32,
    k: i32,
    n: i32,
    choices: i32,
    iteration: i32,
) -> i32:
    """Return 1 if the memory forbids this move in this iteration, else 0.

    With `ATTRIBUTES` a move is forbidden when everything that it would bring back is (Taillard 1991, section 3).
    """
    until = NEVER
    if memory_kind == MOVES:
        until = memory[index]
    elif kind == FLIP:
        until = memory[i]
        if j >= 0:
            until = min(until, memory[j])
        if k >= 0:
            until = min(until, memory[k])
    elif kind == ASSIGN:
        until = memory[i * choices + j]
    elif kind == EXCHANGE:
        until = memory[i * n + i32(solution[j])]
        last = i32(solution[i])
        if k >= 0:
            until = min(until, memory[j * n + i32(solution[k])])
            until = min(until, memory[k * n + last])
        else:
            until = min(until, memory[j * n + last])
    return 1 if until > iteration else 0


@function
def forbid(
    memory_kind: Const[i32],
    kind: Const[i32],
    memory: Array[i32],
    solution: Array[S],
    index: u32,
    i: i32,
    j: i32,
    k: i32,
    n: i32,
    choices: i32,
    until: i32,
):
    """Forbid to undo a move before iteration ``until``; ``solution`` is still the one before the move."""
    if memory_kind == MOVES:
        memory[index] = until
    elif kind == FLIP:
        memory[i] = until
        if j >= 0:
            memory[j] = until
        if k >= 0:
            memory[k] = until
    elif kind == ASSIGN:
        memory[i * choices + i32(solution[i])] = until
    elif kind == EXCHANGE:
        memory[i * n + i32(solution[i])] = until
        memory[j * n + i32(solution[j])] = until
        if k >= 0:
            memory[k * n + i32(solution[k])] = until


@kernel
def start_solutions(encoding: Const[i32], solutions: Array[S], walks: i32, first: i32, n: i32, choices: i32, seed: u64):
    """Random solutions for walks ``first``, ``first + 1`` ...: Philox keyed by (seed; walk, position).

    Real vectors are multiples of 2^-24 in [-1, 1).
    """
    for w in range(team_rank() * team_size() + lane(), walks, team_count() * team_size()):
        stream = u64(first + w)
        base = w * n
        for p in range(n):
            if encoding == PERMUTATION:
                solutions[base + p] = S(p)
            if encoding == BITS:
                solutions[base + p] = S(random_word(seed, stream, u32(p), u32(0)) >> 31)
            if encoding == VALUES:
                solutions[base + p] = S(random_below(u32(choices), seed, stream, u32(p)))
            if encoding == REALS:
                word = i32(random_word(seed, stream, u32(p), u32(0)) >> 7)
                solutions[base + p] = S(word - 0x1000000) / S(0x1000000)
        if encoding == PERMUTATION:
            for p in range(n - 1, 0, -1):
                q = i32(random_below(u32(p + 1), seed, stream, u32(p)))
                solutions[base + p], solutions[base + q] = solutions[base + q], solutions[base + p]
