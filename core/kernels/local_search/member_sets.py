"""Sets of small numbers in rows of a walk, such as the violated constraints, from which random members are drawn.

A set has a bit for each number, the number of members in every group of `GROUP` numbers, and their total. So it does
not depend on the order of insertions: every team has the same set, and checkpoints leave it out.
"""

from __future__ import annotations

from core.lang import *

WORD_BITS, GROUP_BITS = 5, 11
GROUP = 1 << GROUP_BITS
"""Size of a group."""


def set_sizes(number_count: int) -> tuple[int, int]:
    """Return the sizes of the rows ``bits`` and ``tallies`` of a set of the numbers 0 to ``number_count - 1``."""
    groups = -(-number_count // GROUP)
    return groups << (GROUP_BITS - WORD_BITS), groups + 1


@function
def empty_set(bits: Array[u32], tallies: Array[i32], number_count: i32):
    """Remove all numbers; all lanes of a team call this, and a barrier follows before the set is used."""
    groups = (number_count + GROUP - 1) >> GROUP_BITS
    for word in range(lane(), groups << (GROUP_BITS - WORD_BITS), team_size()):
        bits[word] = u32(0)
    for group in range(lane(), groups + 1, team_size()):
        tallies[group] = 0


@function
def change_set(bits: Array[u32], tallies: Array[i32], number_count: i32, number: i32, step: i32):
    """Insert a new number (``step`` 1) or remove a member (-1); one lane for each number."""
    groups = (number_count + GROUP - 1) >> GROUP_BITS
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
def set_size(tallies: Array[i32], number_count: i32) -> i32:
    """Return the number of members."""
    return tallies[(number_count + GROUP - 1) >> GROUP_BITS]


@function
def member_at(bits: Array[u32], tallies: Array[i32], rank: i32) -> i32:
    """Return the member that has ``rank`` smaller members; ``rank`` is less than `set_size`."""
    remaining, group = rank, 0
    while remaining >= tallies[group]:
        remaining -= tallies[group]
        group += 1
    word = group << (GROUP_BITS - WORD_BITS)
    while remaining >= i32(popcount(bits[word])):
        remaining -= i32(popcount(bits[word]))
        word += 1
    members = bits[word]
    for _ in range(remaining):
        members = members & (members - u32(1))
    return (word << WORD_BITS) + 31 - i32(clz(members & ~(members - u32(1))))
