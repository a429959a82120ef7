"""Iterated greedy search: remove some elements, improve the rest, insert them again, and improve all.

R. Ruiz, T. Stutzle, "A simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem",
European Journal of Operational Research 177(3), 2007. The improvement of the rest is from J. Dubois-Lacoste, F.
Pagnozzi, T. Stutzle, "An iterated greedy algorithm with optimization of partial solutions for the makespan permutation
flowshop problem", Computers and Operations Research 81, 2017.
"""

from __future__ import annotations

from functools import lru_cache

from core.kernels.insertion.order_walk import (
    AS_GIVEN,
    OrderWalk,
    close_gap,
    copy_order,
    draw,
    leave_out,
    put_in,
    shuffle,
    take_order,
)
from core.kernels.two_opt.climbs import splitmix64
from core.lang import *
from core.lang.library import pack, packed_cost, packed_index, team_min

D = Generic("D")
# Phases of a round. Elements are improved before and after the insertions.
REMOVING, IMPROVING, INSERTING, DONE = range(4)
# Streams of random words: for acceptance, for the elements to remove, and for the orders of insertion trials.
ACCEPTING, CHOOSING, OF_REST, OF_ALL = 0, 1, 1 << 30, 1 << 31


@bundle
class GreedyRule:
    """Settings of all walks: elements to remove, scale of acceptance, target cost, and seed.

    A worse order is accepted if its cost is at most `tolerance` of ``slack`` higher. This is simulated annealing at a
    constant temperature; ``slack`` is the temperature in units of 1 / (64 ln 2).
    """

    removed: i32
    slack: i32
    target: i32
    seed: u64


@function
def tolerance(word: u32, slack: i32) -> i32:
    """Return ``slack`` / 64 times minus the binary logarithm of a uniform number, linear between powers of two."""
    leading = clz(word)
    fraction = u32(0)
    if leading < 31:
        fraction = (word << u32(leading + 1)) >> 6
    logarithm = (u32(leading + 1) << 26) - fraction
    return i32(mulhi(u32(slack), logarithm))


@function
def best_place(count: i32, costs: Array[i32], scratch: Array[u64]) -> u64:
    """Return the least of ``count`` costs and its first position as a key, equal on all lanes."""
    least = 0x7FFFFFFF
    position = 0
    for p in range(lane(), count, team_size()):
        if costs[p] < least:
            least = costs[p]
            position = p
    return team_min(pack(least, u32(position)), scratch)


@function
def queue_elements(count: i32, step: i32, walk: OrderWalk, rule: GreedyRule):
    """Write the ``count`` elements of the order to the queue, and shuffle them."""
    copy_order(walk.order, walk.queue, count)
    barrier()
    if lane() == 0:
        stream = u32(OF_REST) if count < walk.n else u32(OF_ALL)
        shuffle(walk.queue, count, step, stream, walk.number[0], rule.seed)
    barrier()


@lru_cache(maxsize=32)
def greedy_kernel(insertion: Function) -> Kernel:
    """Make the kernel from a problem's costs of insertions: see `core.problems.insertion.Insertion`."""

    @function
    def rebuild(
        first: i32, step: i32, removed: i32, walk: OrderWalk, rule: GreedyRule, data: D, scratch: Array[u64]
    ) -> i32:
        """Do the phases of a round from ``first`` on with ``removed`` elements; return the change of the cost.

        All phases evaluate insertions at one place, so that the program contains the problem's function once. A
        negative ``in_vain`` marks the beginning of a phase of improvement.
        """
        words = local_array(4, u32)
        phase, count, k, change = first, walk.n, 0, 0
        in_vain = -1
        evaluated = u64(0)
        while phase != DONE:
            element, position = 0, count
            if phase == REMOVING:
                if k & 3 == 0:
                    draw(words, step, u32(CHOOSING) + u32(k >> 2), walk.number[0], rule.seed)
                position = i32(mulhi(words[k & 3], u32(count)))
                element = walk.order[position]
            elif phase == INSERTING:
                element = walk.removed[k]
            else:
                if in_vain < 0:
                    in_vain = 0
                    queue_elements(count, step, walk, rule)
                element = walk.queue[k]
                position = walk.place[element]
            rest_count = count - 1 if position < count else count
            leave_out(position, count, walk)
            barrier()
            insertion(walk.rest, rest_count, element, walk.costs, data)
            barrier()
            key = best_place(rest_count + 1, walk.costs, scratch)
            destination, increase = i32(packed_index(key)), packed_cost(key)
            evaluated += u64(rest_count + 1)
            k += 1
            if phase == REMOVING:
                change -= walk.costs[position]
                if lane() == 0:
                    walk.removed[k - 1] = element
                close_gap(rest_count, walk)
                count = rest_count
                if k == removed:
                    phase = IMPROVING if count > 1 else INSERTING
                    k = 0
            elif phase == INSERTING:
                change += increase
                put_in(element, destination, destination, count + 1, walk)
                count += 1
                if k == removed:
                    phase = IMPROVING
                    k = 0
            else:
                increase -= walk.costs[position]
                in_vain += 1
                if increase < 0:
                    change += increase
                    put_in(element, destination, min(destination, position), max(destination, position) + 1, walk)
                    in_vain = 0
                if k == count:
                    k = 0
                if in_vain == count:
                    phase = INSERTING if count < walk.n else DONE
                    k = 0
                    in_vain = -1
            barrier()
        if lane() == 0:
            walk.totals.evaluations += evaluated
        return change

    @kernel
    def improve_orders(walks: Rows[OrderWalk], problem: Rows[D], rounds: i32, rule: GreedyRule):
        """Make ``rounds`` rounds of every walk, after an initial round of each new walk."""
        scratch = shared_array(team_size(), u64)
        words = local_array(4, u32)
        for w in range(team_rank(), walks.count, team_count()):
            walk, data = walks[w], problem[w]
            cost, best, best_at = walk.control.cost, walk.control.best_cost, walk.control.best_at
            rounds_made, start = walk.control.rounds, walk.control.start
            digest = walk.totals.digest
            copy_order(walk.order, walk.home, walk.n)
            barrier()
            take_order(walk.home, walk)
            barrier()
            first = rounds_made if start == 0 else -1
            for step in range(first, rounds_made + rounds):
                if step >= 0 and best <= rule.target:
                    break
                phase, removed = REMOVING, rule.removed
                if step < 0:
                    phase, removed = IMPROVING if start == AS_GIVEN else REMOVING, walk.n
                change = rebuild(phase, step, removed, walk, rule, data, scratch)
                draw(words, step, u32(ACCEPTING), walk.number[0], rule.seed)
                digest = splitmix64(digest + (u64(u32(cost + change)) << 32 | u64(u32(step))) + u64(0x9E3779B97F4A7C15))
                if step < 0 or change <= tolerance(words[0], rule.slack):
                    cost += change
                    copy_order(walk.order, walk.home, walk.n)
                    if step < 0 or cost < best:
                        best = cost
                        best_at = step + 1
                        copy_order(walk.order, walk.best, walk.n)
                else:
                    take_order(walk.home, walk)
                barrier()
                if step >= 0:
                    rounds_made += 1
            if lane() == 0:
                walk.control.cost = cost
                walk.control.best_cost = best
                walk.control.rounds = rounds_made
                walk.control.best_at = best_at
                walk.control.start = 0
                walk.totals.digest = digest
            barrier()

    return improve_orders
