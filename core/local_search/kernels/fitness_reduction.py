"""Smallest key of an array of fitnesses, by an iterated reduction on the device (section 3.3 of `luong2013`).

A team halves its part in shared memory until one key is left, O(log n) for n lanes; the keys of all teams are reduced
again, launch after launch, until one is left. Only this one is copied to the host ("GPUTexR", section 6.7).
"""

from __future__ import annotations

from functools import cache

from core.lang import *
from core.lang.library import pack as packed
from core.lang.library import team_min
from core.local_search.kernels.hooks import FIRST, NO_KEY
from core.local_search.kernels.moves import NEVER

BLOCK = 512
"""Values that a team reduces to one: two for each lane of the paper's blocks of 256."""


@cache
def reduction_kernels(rule: int) -> tuple[Kernel, Kernel]:
    """Make the kernels of the first launch and of later ones, for a rule of `core.local_search.kernels.hooks`."""

    @function
    def key_of(index: u32, fitness: i32) -> u64:
        """Return the key of a neighbour: cost and index, or the index alone if the first better one wins."""
        if rule == FIRST:
            return u64(index) if fitness < 0 else u64(NO_KEY)
        return packed(fitness, index) if fitness != NEVER else u64(NO_KEY)

    @kernel
    def reduce_fitnesses(first: u32, end: u32, fitnesses: Array[i32], keys: Array[u64]):
        """Reduce every block of fitnesses to one key, of neighbours ``first`` to ``end - 1``."""
        scratch = shared_array(team_size(), u64)
        count = end - first
        for block in range(u32(team_rank()), (count - 1) // u32(BLOCK) + 1, u32(team_count())):
            begin = block * u32(BLOCK)
            smallest = u64(NO_KEY)
            for offset in range(u32(lane()), min(count - begin, u32(BLOCK)), u32(team_size())):
                smallest = min(smallest, key_of(first + begin + offset, fitnesses[begin + offset]))
            least = team_min(smallest, scratch)
            if lane() == 0:
                keys[block] = least

    @kernel
    def reduce_keys(count: u32, keys: Array[u64], block_keys: Array[u64]):
        """Reduce every block of ``count`` keys to one key."""
        scratch = shared_array(team_size(), u64)
        for block in range(u32(team_rank()), (count - 1) // u32(BLOCK) + 1, u32(team_count())):
            begin = block * u32(BLOCK)
            smallest = u64(NO_KEY)
            for offset in range(u32(lane()), min(count - begin, u32(BLOCK)), u32(team_size())):
                smallest = min(smallest, keys[begin + offset])
            least = team_min(smallest, scratch)
            if lane() == 0:
                block_keys[block] = least

    return reduce_fitnesses, reduce_keys
