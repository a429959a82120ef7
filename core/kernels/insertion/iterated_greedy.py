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
    BEST_AT,
    BEST_COST,
    COST,
    DIGEST,
    EVALUATIONS,
    ROUNDS,
    START,
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
# The phases of a round. Elements are improved before and after the insertions.
REMOVING, IMPROVING, INSERTING, DONE = range(4)
# Streams of random words: of the acceptance, of the elements to remove, and of the orders in which elements are tried.
ACCEPTING, CHOOSING, OF_REST, OF_ALL = 0, 1, 1 << 30, 1 << 31


@bundle
class GreedyRule:
    """The rule of all walks: elements to remove, scale of acceptance, cost to reach, and seed.

    A dearer order is accepted if it costs at most `tolerance` of ``slack`` more: with the probability of simulated
    annealing at a constant temperature, which ``slack`` is in units of 1 / (64 ln 2).
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
    """Return the least of ``count`` costs and its first position as a key, the same on all lanes."""
    least = 0x7FFFFFFF
    position = 0
    for p in range(lane(), count, team_size()):
        if costs[p] < least:
            least = costs[p]
            position = p
    return team_min(pack(least, u32(position)), scratch)


@lru_cache(maxsize=32)
def greedy_kernel(insertion: Function) -> Kernel:
    """Make the kernel for a problem's costs of insertions: see `core.problems.insertion.Insertion`."""

    @function
    def rebuild(
        first: i32, step: i32, removed: i32, one: OrderWalk, rule: GreedyRule, data: D, scratch: Array[u64]
    ) -> i32:
        """Do the phases of a round from ``first`` on with ``removed`` elements; return the change of the cost.

        All phases evaluate insertions at one place, so that a program holds the problem's function once. A negative
        ``in_vain`` says that a phase of improvement begins.
        """
        words = local_array(4, u32)
        phase, count, k, change = first, one.n, 0, 0
        in_vain = -1
        evaluated = u64(0)
        while phase != DONE:
            element, position = 0, count
            if phase == REMOVING:
                if k & 3 == 0:
                    draw(words, step, u32(CHOOSING) + u32(k >> 2), one.number[0], rule.seed)
                position = i32(mulhi(words[k & 3], u32(count)))
                element = one.order[position]
            elif phase == INSERTING:
                element = one.removed[k]
            else:
                if in_vain < 0:
                    in_vain = 0
                    copy_order(one.order, one.queue, count)
                    barrier()
                    if lane() == 0:
                        stream = u32(OF_REST) if count < one.n else u32(OF_ALL)
                        shuffle(one.queue, count, step, stream, one.number[0], rule.seed)
                    barrier()
                element = one.queue[k]
                position = one.place[element]
            others = count - 1 if position < count else count
            leave_out(position, count, one)
            barrier()
            insertion(one.rest, others, element, one.costs, data)
            barrier()
            key = best_place(others + 1, one.costs, scratch)
            to, added = i32(packed_index(key)), packed_cost(key)
            evaluated += u64(others + 1)
            k += 1
            if phase == REMOVING:
                change -= one.costs[position]
                if lane() == 0:
                    one.removed[k - 1] = element
                close_gap(others, one)
                count = others
                if k == removed:
                    phase = IMPROVING if count > 1 else INSERTING
                    k = 0
            elif phase == INSERTING:
                change += added
                put_in(element, to, to, count + 1, one)
                count += 1
                if k == removed:
                    phase = IMPROVING
                    k = 0
            else:
                added -= one.costs[position]
                in_vain += 1
                if added < 0:
                    change += added
                    put_in(element, to, min(to, position), max(to, position) + 1, one)
                    in_vain = 0
                if k == count:
                    k = 0
                if in_vain == count:
                    phase = INSERTING if count < one.n else DONE
                    k = 0
                    in_vain = -1
            barrier()
        if lane() == 0:
            one.totals[EVALUATIONS] += evaluated
        return change

    @kernel
    def improve_orders(walks: Rows[OrderWalk], problem: Rows[D], rounds: i32, rule: GreedyRule):
        """Make ``rounds`` rounds of every walk, and before them the first one of a walk at its start."""
        scratch = shared_array(team_size(), u64)
        words = local_array(4, u32)
        for w in range(team_rank(), walks.count, team_count()):
            one, data = walks[w], problem[w]
            cost, best, best_at = one.control[COST], one.control[BEST_COST], one.control[BEST_AT]
            done, start = one.control[ROUNDS], one.control[START]
            digest = one.totals[DIGEST]
            copy_order(one.order, one.home, one.n)
            barrier()
            take_order(one.home, one)
            barrier()
            first = done if start == 0 else -1
            for step in range(first, done + rounds):
                if step >= 0 and best <= rule.target:
                    break
                phase, removed = REMOVING, rule.removed
                if step < 0:
                    phase, removed = IMPROVING if start == AS_GIVEN else REMOVING, one.n
                change = rebuild(phase, step, removed, one, rule, data, scratch)
                draw(words, step, u32(ACCEPTING), one.number[0], rule.seed)
                digest = splitmix64(digest + (u64(u32(cost + change)) << 32 | u64(u32(step))) + u64(0x9E3779B97F4A7C15))
                if step < 0 or change <= tolerance(words[0], rule.slack):
                    cost += change
                    copy_order(one.order, one.home, one.n)
                    if step < 0 or cost < best:
                        best = cost
                        best_at = step + 1
                        copy_order(one.order, one.best, one.n)
                else:
                    take_order(one.home, one)
                barrier()
                if step >= 0:
                    done += 1
            if lane() == 0:
                one.control[COST] = cost
                one.control[BEST_COST] = best
                one.control[ROUNDS] = done
                one.control[BEST_AT] = best_at
                one.control[START] = 0
                one.totals[DIGEST] = digest
            barrier()

    return improve_orders
