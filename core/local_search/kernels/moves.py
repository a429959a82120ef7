"""Neighbours of a solution in the kernel language: from index to move, making a move, and tabu memory.

The four encodings are those of section 4 of `luong2013`.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import random_below, random_word
from core.local_search.kernels.index_mappings import (
    insertion_source,
    insertion_target,
    pair_column,
    pair_row,
    triple_first,
    triple_rest,
)
from core.local_search.kernels.walks import AnyMove, Move, S, Walk

# Shapes: number of neighbours, and the move (i, j, k) of each index; CUSTOM: by functions of the user.
SINGLES, PAIRS, TRIPLES, CHOICES, INSERTIONS, CUSTOM = range(6)
# Changes: the effect of a move on the solution. REVERSE reverses positions i + 1 to j, as 2-opt of a closed tour does,
# SEGMENT positions i to j; INSERT removes the element at i and inserts it at j; OWN: by a function of the problem or of
# the neighbourhood.
FLIP, EXCHANGE, ASSIGN, REVERSE, OWN, INSERT, SEGMENT = range(7)
# Memories of a tabu search: it forbids the move that was made, or the attributes that the move removed.
MOVES, ATTRIBUTES = range(2)
# Encodings, for random start solutions.
BITS, VALUES, PERMUTATION, REALS = range(4)

NEVER = 0x7FFFFFFF
"""Cost difference of an index without a neighbour."""


@function
def first_of(shape: Const[i32], index: u32, walk: Walk) -> i32:
    """Return the i of neighbour ``index``."""
    if shape == PAIRS:
        return pair_row(index, walk.length)
    if shape == TRIPLES:
        return triple_first(index, walk.length)
    if shape == CHOICES:
        return i32(index // u32(walk.choices - 1))
    if shape == INSERTIONS:
        return insertion_source(index, walk.length)
    return i32(index)


@function
def second_of(shape: Const[i32], index: u32, i: i32, walk: Walk) -> i32:
    """Return the j of neighbour ``index`` with this i; for `CHOICES` the new value, other than the present one."""
    n = walk.length
    if shape == PAIRS:
        return pair_column(index, i, n)
    if shape == TRIPLES:
        return i + 1 + pair_row(triple_rest(index, i, n), n - i - 1)
    if shape == CHOICES:
        value = i32(index % u32(walk.choices - 1))
        return value if value < i32(walk.solution[i]) else value + 1
    if shape == INSERTIONS:
        return insertion_target(index, n)
    return -1


@function
def third_of(shape: Const[i32], index: u32, i: i32, j: i32, walk: Walk) -> i32:
    """Return the k of neighbour ``index`` with this i and j."""
    n = walk.length
    if shape == TRIPLES:
        return i + 1 + pair_column(triple_rest(index, i, n), j - i - 1, n - i - 1)
    return -1


@function
def flipped(bits: Array[i32], p: i32, move: Move) -> i32:
    """Return bit ``p`` of a bit vector after a move."""
    bit = bits[p]
    if p == move.i or p == move.j or p == move.k:
        return 1 - bit
    return bit


@function
def source_of(p: i32, move: Move) -> i32:
    """Return the source of element ``p`` in an exchange: i gets j's, j gets k's or (without a k) i's, k gets i's."""
    source = p
    if p == move.i:
        source = move.j
    elif p == move.j:
        source = move.k if move.k >= 0 else move.i
    elif p == move.k:
        source = move.i
    return source


@function
def exchanged(permutation: Array[i32], p: i32, move: Move) -> i32:
    """Return element ``p`` of a permutation after an exchange."""
    return permutation[source_of(p, move)]


@function
def place_before_insertion(p: i32, move: Move) -> i32:
    """Return the place of element ``p`` before i is removed and inserted at j."""
    place = p
    if p == move.j:
        place = move.i
    elif move.i <= p < move.j:
        place = p + 1
    elif move.j < p <= move.i:
        place = p - 1
    return place


@function
def inserted(permutation: Array[i32], p: i32, move: Move) -> i32:
    """Return element ``p`` of a permutation after the insertion of element i at j."""
    return permutation[place_before_insertion(p, move)]


@function
def place_before_reversal(p: i32, move: Move) -> i32:
    """Return the place of element ``p`` before positions i to j are reversed."""
    return move.i + move.j - p if move.i <= p <= move.j else p


@function
def reversed_(permutation: Array[i32], p: i32, move: Move) -> i32:
    """Return element ``p`` of a permutation after the reversal of positions i to j."""
    return permutation[place_before_reversal(p, move)]


@function
def moved(solution: Array[S], p: i32, move: AnyMove) -> S:
    """Return element ``p`` of a solution after a move of any neighbourhood.

    ``AnyMove(-1, -1, -1, move.change)`` leaves the solution unchanged. With ``move.change == OWN`` a function of the
    neighbourhood makes the move, so a custom function must read its neighbours.
    """
    place = p
    if move.change == OWN:
        assert move.change != OWN, "moved makes no custom moves: read their neighbours by a custom function"
    if move.change == FLIP:
        if p == move.i or p == move.j or p == move.k:
            return S(1) - solution[p]
    if move.change == ASSIGN:
        if p == move.i:
            return S(move.j)
    if move.change == EXCHANGE:
        place = source_of(p, move)
    if move.change == INSERT:
        place = place_before_insertion(p, move)
    if move.change == SEGMENT:
        place = place_before_reversal(p, move)
    if move.change == REVERSE:
        if move.i < p <= move.j:
            place = move.i + 1 + move.j - p
    return solution[place]


@function
def insert(solution: Array[S], i: i32, j: i32):
    """Remove the element at i and insert it at j; elements between shift by one, `team_size()` places at a time.

    A lane reads an element before another lane overwrites it. One barrier for each round is enough: the next round
    reads only places after those that this round writes.
    """
    # Not `abs(j - i)`: ptxas 13.0 then reads the end of this loop from a register that is not set yet (sm_90).
    direction = 1 if i < j else -1
    distance = (j - i) * direction
    element = solution[i]
    for first in range(0, distance, team_size()):
        p = first + lane()
        shifted = solution[i + direction * min(p + 1, distance)]
        barrier()
        if p < distance:
            solution[i + direction * p] = shifted
    if lane() == 0:
        solution[j] = element


@function
def reverse_segment(solution: Array[S], first: i32, last: i32):
    """Reverse the elements at ``first`` to ``last``."""
    for p in range(lane(), (last - first + 1) // 2, team_size()):
        solution[first + p], solution[last - p] = solution[last - p], solution[first + p]


@function
def change(kind: Const[i32], solution: Array[S], move: Move):
    """Make the move; every lane of the team calls this, between two barriers."""
    i, j, k = move.i, move.j, move.k
    if kind == REVERSE:
        reverse_segment(solution, i + 1, j)
    elif kind == SEGMENT:
        reverse_segment(solution, i, j)
    elif kind == INSERT:
        insert(solution, i, j)
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
            element = solution[i]
            solution[i] = solution[j]
            if k >= 0:
                solution[j] = solution[k]
                solution[k] = element
            else:
                solution[j] = element


@function
def is_tabu(memory_kind: Const[i32], kind: Const[i32], walk: Walk, index: u32, move: Move, iteration: i32) -> boolean:
    """Return True if the walk's memory forbids this move in this iteration.

    With `ATTRIBUTES` a move is forbidden if all attributes that it restores are forbidden (Taillard 1991, section 3).
    An insertion restores the place of the moved element. By one place it exchanges two elements and restores both.
    """
    i, j, k, n = move.i, move.j, move.k, walk.length
    expiry = NEVER
    if memory_kind == MOVES:
        expiry = walk.memory[index]
    elif kind == FLIP:
        expiry = walk.memory[i]
        if j >= 0:
            expiry = min(expiry, walk.memory[j])
        if k >= 0:
            expiry = min(expiry, walk.memory[k])
    elif kind == ASSIGN:
        expiry = walk.memory[i * walk.choices + j]
    elif kind == EXCHANGE:
        expiry = walk.memory[i * n + i32(walk.solution[j])]
        element = i32(walk.solution[i])
        if k >= 0:
            expiry = min(expiry, walk.memory[j * n + i32(walk.solution[k])])
            expiry = min(expiry, walk.memory[k * n + element])
        else:
            expiry = min(expiry, walk.memory[j * n + element])
    elif kind == INSERT:
        expiry = walk.memory[j * n + i32(walk.solution[i])]
        if j == i + 1:
            expiry = min(expiry, walk.memory[i * n + i32(walk.solution[j])])
    return expiry > iteration


@function
def forbid(memory_kind: Const[i32], kind: Const[i32], walk: Walk, index: u32, move: Move, expiry: i32):
    """Forbid the reversal of a move before iteration ``expiry``; call it before the move is made."""
    i, j, k, n = move.i, move.j, move.k, walk.length
    if memory_kind == MOVES:
        walk.memory[index] = expiry
    elif kind == FLIP:
        walk.memory[i] = expiry
        if j >= 0:
            walk.memory[j] = expiry
        if k >= 0:
            walk.memory[k] = expiry
    elif kind == ASSIGN:
        walk.memory[i * walk.choices + i32(walk.solution[i])] = expiry
    elif kind == EXCHANGE:
        walk.memory[i * n + i32(walk.solution[i])] = expiry
        walk.memory[j * n + i32(walk.solution[j])] = expiry
        if k >= 0:
            walk.memory[k * n + i32(walk.solution[k])] = expiry
    elif kind == INSERT:
        walk.memory[i * n + i32(walk.solution[i])] = expiry
        if j == i + 1:
            walk.memory[j * n + i32(walk.solution[j])] = expiry


@kernel
def start_solutions(encoding: Const[i32], walks: Rows[Walk], seed: u64):
    """Write random solutions of all walks: Philox keyed by (seed; walk, position).

    Real vectors are multiples of 2^-24 in [-1, 1).
    """
    for w in range(team_rank() * team_size() + lane(), walks.count, team_count() * team_size()):
        walk = walks[w]
        stream = walk.number[0]
        for p in range(walk.length):
            if encoding == PERMUTATION:
                walk.solution[p] = S(p)
            if encoding == BITS:
                walk.solution[p] = S(random_word(seed, stream, u32(p), u32(0)) >> 31)
            if encoding == VALUES:
                walk.solution[p] = S(random_below(u32(walk.choices), seed, stream, u32(p)))
            if encoding == REALS:
                word = i32(random_word(seed, stream, u32(p), u32(0)) >> 7)
                walk.solution[p] = S(word - 0x1000000) / S(0x1000000)
        if encoding == PERMUTATION:
            for p in range(walk.length - 1, 0, -1):
                q = i32(random_below(u32(p + 1), seed, stream, u32(p)))
                walk.solution[p], walk.solution[q] = walk.solution[q], walk.solution[p]
