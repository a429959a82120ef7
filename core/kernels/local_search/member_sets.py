"""Sets of small numbers in rows of a walk, from which a random member is drawn: such as the violated constraints.

A set has a bit for each number, and the number of members in every group of `GROUP` numbers and in all. So it depends
on its members alone, not on the order in which they came: every team has the same one, and checkpoints leave it out.
"""

from __future__ import annotations

from core.lang import *

WORD_BITS, GROUP_BITS = 5, 11
GROUP = 1 << GROUP_BITS
"""Numbers of a group."""


def set_sizes(most: int) -> tuple[int, int]:
    """Return the elements of the rows ``bits`` and ``tallies`` of a set of the numbers 0 to ``most - 1``."""
    groups = -(-most // GROUP)
    return groups << (GROUP_BITS - WORD_BITS), groups + 1


@function
def empty_set(bits: Array[u32], tallies: Array[i32], most: i32):
    """Remove all numbers; all lanes of a team call this, and meet before the set is used."""
    groups = (most + GROUP - 1) >> GROUP_BITS
    for word in range(lane(), groups << (GROUP_BITS - WORD_BITS), team_size()):
        bits[word] = u32(0)
    for group in range(lane(), groups + 1, team_size()):
        tallies[group] = 0


@function
def change_set(bits: Array[u32], tallies: Array[i32], most: i32, number: i32, step: i32):
    """Insert a number (``step`` 1) that is not there, or remove one that is (-1); one lane for each number."""
    groups = (most + GROUP - 1) >> GROUP_BITS
    bit = u32(step) << u32(number & 31)
    if team_size() == 1:
        bits[number >> WORD_BITS] = bits[number >> WORD_BITS] + bit
        tallies[number >> GROUP_BITS] += step
        tallies[groups] += step
    else:
        atomic_add(bits, number >> WORD_BITS, bit)
        atomic_add(tallies, number >> GROUP_BITS, step)
        atomic_add(tallies, groups, step)


@function
def set_size(tallies: Array[i32], most: i32) -> i32:
    """Return the number of members."""
    return tallies[(most + GROUP - 1) >> GROUP_BITS]


@function
def member_at(bits: Array[u32], tallies: Array[i32], rank: i32) -> i32:
    """Return the member before which there are ``rank`` smaller ones; ``rank`` is less than `set_size`."""
    left, group = rank, 0
    while left >= tallies[group]:
        left -= tallies[group]
        group += 1
    word = group << (GROUP_BITS - WORD_BITS)
    while left >= i32(popcount(bits[word])):
        left -= i32(popcount(bits[word]))
        word += 1
    rest = bits[word]
    for _ in range(left):
        rest = rest & (rest - u32(1))
    return (word << WORD_BITS) + 31 - i32(clz(rest & ~(rest - u32(1))))
