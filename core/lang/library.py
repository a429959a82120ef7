"""Functions of the kernel language, written in it: team reductions, packed minima and counter-based random numbers.

Philox4x32-10 is from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; the
rejection in `random_below` from Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
"""

from __future__ import annotations

from core.lang import *

T = Generic("T")


@function
def sum_of_two(a: T, b: T) -> T:
    return a + b


@function
def smaller(a: T, b: T) -> T:
    return min(a, b)


@function
def larger(a: T, b: T) -> T:
    return max(a, b)


def team_reduction(combine: Function) -> Function:
    """Make ``reduce_lanes(value, scratch)``, which combines the values of all lanes of a team, for every lane.

    ``combine(a, b)`` is associative and commutative. ``scratch`` is a shared array of ``team_size()`` elements.
    """

    @function
    def reduce_lanes(value: T, scratch: Array[T]) -> T:
        """Return all lanes' values combined; ``scratch`` is a shared array of ``team_size()`` elements."""
        scratch[lane()] = value
        barrier()
        width = team_size()
        while width > 1:
            half = (width + 1) // 2
            if lane() < width - half:
                scratch[lane()] = combine(scratch[lane()], scratch[lane() + half])
            barrier()
            width = half
        combined = scratch[0]
        barrier()
        return combined

    return reduce_lanes


team_sum = team_reduction(sum_of_two)
"""``team_sum(value, scratch)``: sum of all lanes' values, for every lane; see `team_reduction`."""
team_min = team_reduction(smaller)
"""``team_min(value, scratch)``: smallest of all lanes' values, for every lane."""
team_max = team_reduction(larger)
"""``team_max(value, scratch)``: largest of all lanes' values, for every lane."""


@function
def pack(cost: i32, index: u32) -> u64:
    """Return one integer ordered by cost, then by index."""
    return (u64(u32(cost) ^ 0x80000000) << 32) | u64(index)


@function
def packed_cost(key: u64) -> i32:
    return i32(u32(key >> 32) ^ 0x80000000)


@function
def packed_index(key: u64) -> u32:
    return u32(key)


@function
def team_argmin(cost: i32, index: u32, scratch: Array[u64]) -> u64:
    """Return `pack` of the smallest cost of the team, ties to the smallest index; ``scratch`` as for `team_min`."""
    return team_min(pack(cost, index), scratch)


@function
def philox(words: Array[u32], key_low: u32, key_high: u32):
    """Philox4x32-10: replace the four counter words in ``words`` by four random ones."""
    low, high = key_low, key_high
    for _ in range(10):
        first = mulhi(words[0], u32(0xD2511F53))
        second = mulhi(words[2], u32(0xCD9E8D57))
        first_low = words[0] * 0xD2511F53
        second_low = words[2] * 0xCD9E8D57
        words[0] = second ^ words[1] ^ low
        words[1] = second_low
        words[2] = first ^ words[3] ^ high
        words[3] = first_low
        low = low + 0x9E3779B9
        high = high + 0xBB67AE85


@function
def random_word(seed: u64, stream: u64, step: u32, attempt: u32) -> u32:
    """Return 32 random bits that depend only on the arguments."""
    words = local_array(4, u32)
    words[0] = step
    words[1] = attempt
    words[2] = u32(stream)
    words[3] = u32(stream >> 32)
    philox(words, u32(seed), u32(seed >> 32))
    return words[0]


@function
def random_below(bound: u32, seed: u64, stream: u64, step: u32) -> u32:
    """Return a uniform integer in [0, bound), exactly unbiased; ``bound`` is at least 1."""
    threshold = (0 - bound) % bound
    attempt = u32(0)
    word = random_word(seed, stream, step, attempt)
    while word * bound < threshold:
        attempt += 1
        word = random_word(seed, stream, step, attempt)
    return mulhi(word, bound)


@function
def splitmix64(x: u64) -> u64:
    """Return a bijection on 64 bits that spreads every bit (the finalizer of SplitMix64)."""
    x = (x ^ (x >> 30)) * u64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> 27)) * u64(0x94D049BB133111EB)
    return x ^ (x >> 31)
