"""Enumeration of subsets, as the bits of a number."""

from core.lang import *


@function
def gap(numbers: Array[i64], target: i64, subset: i64) -> i64:
    """Return the distance of a subset's sum from the target."""
    total = i64(0)
    for item in set_bits(u64(subset)):
        total += numbers[item]
    return abs(total - target)


@kernel
def nearest(numbers: Array[i64], n: i32, target: i64, first: i64, end: i64, best: Array[i64]):
    """Reduce the gaps of subsets ``first`` to ``end`` - 1 to the least one; of equal ones the smallest subset wins."""
    for subset in range(first + team_rank() * team_size() + lane(), end, team_count() * team_size()):
        atomic_min(best, 0, gap(numbers, target, subset) << n | subset)
