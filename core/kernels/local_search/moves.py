"""Neighbours of a solution in the kernel language: which one an index means, how it is made, and when it is tabu.

The four encodings are those of section 4 of `luong2013`.
"""

from __future__ import annotations

from core.kernels.local_search.index_mappings import (
    insertion_source,
    insertion_target,
    pair_column,
    pair_row,
    triple_first,
    triple_rest,
)
from core.kernels.local_search.walks import AnyMove, Move, S, Walk
from core.lang import *
from core.lang.library import random_below, random_word

# Shapes: how many neighbours a solution of n elements has, and what index means which (i, j, k); CUSTOM: functions of a
# user's own say so.
SINGLES, PAIRS, TRIPLES, CHOICES, INSERTIONS, CUSTOM = range(6)
# Changes: what a move does to the solution. REVERSE turns positions i + 1 to j round, as 2-opt of a closed tour does,
# SEGMENT positions i to j; INSERT takes out the element at i and puts it at j; OWN: a function of the problem's or of
# the neighbourhood's own makes it.
FLIP, EXCHANGE, ASSIGN, REVERSE, OWN, INSERT, SEGMENT = range(7)
# Memories: what a tabu search forbids after a move: this move, or what it took away.
MOVES, ATTRIBUTES = range(2)
# Encodings, for random start solutions.
BITS, VALUES, PERMUTATION, REALS = range(4)

NEVER = 0x7FFFFFFF
"""The cost difference of an index that is no neighbour."""


@function
def first_of(shape: Const[i32], index: u32, one: Walk) -> i32:
    """The i of neighbour ``index``."""
    if shape == PAIRS:
        return pair_row(index, one.length)
    if shape == TRIPLES:
        return triple_first(index, one.length)
    if shape == CHOICES:
        return i32(index // u32(one.choices - 1))
    if shape == INSERTIONS:
        return insertion_source(index, one.length)
    return i32(index)


@function
def second_of(shape: Const[i32], index: u32, i: i32, one: Walk) -> i32:
    """The j of neighbour ``index``, given its i; among choices the new value, which is not the old one."""
    n = one.length
    if shape == PAIRS:
        return pair_column(index, i, n)
    if shape == TRIPLES:
        return i + 1 + pair_row(triple_rest(index, i, n), n - i - 1)
    if shape == CHOICES:
        value = i32(index % u32(one.choices - 1))
        return value if value < i32(one.solution[i]) else value + 1
    if shape == INSERTIONS:
        return insertion_target(index, n)
    return -1


@function
def third_of(shape: Const[i32], index: u32, i: i32, j: i32, one: Walk) -> i32:
    """The k of neighbour ``index``, given its i and j."""
    n = one.length
    if shape == TRIPLES:
        return i + 1 + pair_column(triple_rest(index, i, n), j - i - 1, n - i - 1)
    return -1


@function
def flipped(bits: Array[i32], p: i32, move: Move) -> i32:
    """Bit ``p`` of the neighbour to which a move leads from a bit vector."""
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
    """Element ``p`` of the neighbour to which an exchange leads from a permutation."""
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
    """Element ``p`` of the neighbour in which the permutation's element at i is taken out and put at j."""
    return permutation[place_before_insertion(p, move)]


@function
def place_before_reversal(p: i32, move: Move) -> i32:
    """Return the place of element ``p`` before positions i to j are reversed."""
    return move.i + move.j - p if move.i <= p <= move.j else p


@function
def reversed_(permutation: Array[i32], p: i32, move: Move) -> i32:
    """Element ``p`` of the neighbour in which positions i to j of a permutation are turned round."""
    return permutation[place_before_reversal(p, move)]


@function
def moved(solution: Array[S], p: i32, move: AnyMove) -> S:
    """Element ``p`` of the neighbour to which a move of any neighbourhood leads.

    ``AnyMove(-1, -1, -1, move.change)`` leads to the solution itself. Where ``move.change == OWN``, a function of the
    neighbourhood's own makes the move, and another must read its neighbours.
    """
    place = p
    if move.change == OWN:
        assert move.change != OWN, "moved knows no moves of your own: read their neighbours by a function of your own"
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
    """Take out the element at i and put it at j; what lies between moves up by one, as many places at a time as lanes.

    A lane keeps an element that another is about to write over. One barrier for each round is enough: the next round
    reads only places behind those that this one writes.
    """
    # Not `abs(j - i)`: as the end of this loop, ptxas 13.0 reads it from a register that is not set yet (sm_90).
    ahead = 1 if i < j else -1
    places = (j - i) * ahead
    taken = solution[i]
    for first in range(0, places, team_size()):
        p = first + lane()
        kept = solution[i + ahead * min(p + 1, places)]
        barrier()
        if p < places:
            solution[i + ahead * p] = kept
    if lane() == 0:
        solution[j] = taken


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
            kept = solution[i]
            solution[i] = solution[j]
            if k >= 0:
                solution[j] = solution[k]
                solution[k] = kept
            else:
                solution[j] = kept


@function
def is_tabu(memory_kind: Const[i32], kind: Const[i32], one: Walk, index: u32, move: Move, iteration: i32) -> boolean:
    """Return True if the walk's memory forbids this move in this iteration.

    With `ATTRIBUTES` a move is forbidden if all attributes that it would restore are (Taillard 1991, section 3): for an
    insertion the moved element; for an insertion by one place, which exchanges two elements, both.
    """
    i, j, k, n = move.i, move.j, move.k, one.length
    until = NEVER
    if memory_kind == MOVES:
        until = one.memory[index]
    elif kind == FLIP:
        until = one.memory[i]
        if j >= 0:
            until = min(until, one.memory[j])
        if k >= 0:
            until = min(until, one.memory[k])
    elif kind == ASSIGN:
        until = one.memory[i * one.choices + j]
    elif kind == EXCHANGE:
        until = one.memory[i * n + i32(one.solution[j])]
        last = i32(one.solution[i])
        if k >= 0:
            until = min(until, one.memory[j * n + i32(one.solution[k])])
            until = min(until, one.memory[k * n + last])
        else:
            until = min(until, one.memory[j * n + last])
    elif kind == INSERT:
        until = one.memory[j * n + i32(one.solution[i])]
        if j == i + 1:
            until = min(until, one.memory[i * n + i32(one.solution[j])])
    return until > iteration


@function
def forbid(memory_kind: Const[i32], kind: Const[i32], one: Walk, index: u32, move: Move, until: i32):
    """Forbid to undo a move before iteration ``until``; the walk's solution is still the one before the move."""
    i, j, k, n = move.i, move.j, move.k, one.length
    if memory_kind == MOVES:
        one.memory[index] = until
    elif kind == FLIP:
        one.memory[i] = until
        if j >= 0:
            one.memory[j] = until
        if k >= 0:
            one.memory[k] = until
    elif kind == ASSIGN:
        one.memory[i * one.choices + i32(one.solution[i])] = until
    elif kind == EXCHANGE:
        one.memory[i * n + i32(one.solution[i])] = until
        one.memory[j * n + i32(one.solution[j])] = until
        if k >= 0:
            one.memory[k * n + i32(one.solution[k])] = until
    elif kind == INSERT:
        one.memory[i * n + i32(one.solution[i])] = until
        if j == i + 1:
            one.memory[j * n + i32(one.solution[j])] = until


@kernel
def start_solutions(encoding: Const[i32], walks: Rows[Walk], seed: u64):
    """Random solutions for all walks: Philox keyed by (seed; walk, position).

    Real vectors are multiples of 2^-24 in [-1, 1).
    """
    for w in range(team_rank() * team_size() + lane(), walks.count, team_count() * team_size()):
        one = walks[w]
        stream = one.number[0]
        for p in range(one.length):
            if encoding == PERMUTATION:
                one.solution[p] = S(p)
            if encoding == BITS:
                one.solution[p] = S(random_word(seed, stream, u32(p), u32(0)) >> 31)
            if encoding == VALUES:
                one.solution[p] = S(random_below(u32(one.choices), seed, stream, u32(p)))
            if encoding == REALS:
                word = i32(random_word(seed, stream, u32(p), u32(0)) >> 7)
                one.solution[p] = S(word - 0x1000000) / S(0x1000000)
        if encoding == PERMUTATION:
            for p in range(one.length - 1, 0, -1):
                q = i32(random_below(u32(p + 1), seed, stream, u32(p)))
                one.solution[p], one.solution[q] = one.solution[q], one.solution[p]
