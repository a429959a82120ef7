"""Iterated greedy search: remove some elements, improve the rest, insert them again, and improve all.

R. Ruiz, T. Stutzle, "A simple and effective iterated greedy algorithm for the permutation flowshop scheduling problem",
European Journal of Operational Research 177(3), 2007. The improvement of the rest is from J. Dubois-Lacoste, F.
Pagnozzi, T. Stutzle, "An iterated greedy algorithm with optimization of partial solutions for the makespan permutation
flowshop problem", Computers and Operations Research 81, 2017.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from core.kernels.insertion.order_walk import (
    BEST_AT,
    BEST_COST,
    COST,
    DIGEST,
    EVALUATIONS,
    IS_NEW,
    ROUNDS,
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
# Streams of random words: of the elements to remove and the acceptance, and of the orders in which elements are tried.
REMOVING, OF_REST, OF_ALL = 0, 1 << 30, 1 << 31


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


class GreedyKernels(NamedTuple):
    """The kernels of `greedy_kernels`: `construct` greedy orders, and `improve` orders."""

    construct: Kernel
    improve: Kernel


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
def greedy_kernels(insertion: Function) -> GreedyKernels:
    """Make the kernels for a problem's costs of insertions: see `core.problems.insertion.Insertion`."""

    @function
    def insert_best(element: i32, count: i32, one: OrderWalk, data: D, scratch: Array[u64]) -> i32:
        """Insert an element where it costs least into ``count`` others; return the change of the cost."""
        copy_order(one.order, one.rest, count)
        barrier()
        insertion(one.rest, count, element, one.costs, data)
        barrier()
        key = best_place(count + 1, one.costs, scratch)
        position = i32(packed_index(key))
        put_in(element, position, position, count + 1, one)
        barrier()
        return packed_cost(key)

    @function
    def remove(position: i32, count: i32, one: OrderWalk, data: D) -> i32:
        """Remove the element at a position from an order of ``count``; return the change of the cost."""
        element = one.order[position]
        leave_out(position, count, one)
        barrier()
        insertion(one.rest, count - 1, element, one.costs, data)
        barrier()
        close_gap(count - 1, one)
        change = -one.costs[position]
        barrier()
        return change

    @function
    def reinsert(element: i32, count: i32, one: OrderWalk, data: D, scratch: Array[u64]) -> i32:
        """Move an element to its best position, if that is cheaper; return the change of the cost."""
        position = one.place[element]
        leave_out(position, count, one)
        barrier()
        insertion(one.rest, count - 1, element, one.costs, data)
        barrier()
        key = best_place(count, one.costs, scratch)
        change = packed_cost(key) - one.costs[position]
        if change < 0:
            to = i32(packed_index(key))
            put_in(element, to, min(to, position), max(to, position) + 1, one)
        barrier()
        return change

    @function
    def descend(
        count: i32, step: i32, stream: u32, one: OrderWalk, rule: GreedyRule, data: D, scratch: Array[u64]
    ) -> i32:
        """Reinsert ``count`` elements in random order until none becomes cheaper; return the change of the cost."""
        copy_order(one.order, one.queue, count)
        barrier()
        if lane() == 0:
            shuffle(one.queue, count, step, stream, one.number[0], rule.seed)
        barrier()
        total, in_vain, k, tried = 0, 0, 0, 0
        while in_vain < count:
            change = reinsert(one.queue[k], count, one, data, scratch)
            total += change
            in_vain = 0 if change < 0 else in_vain + 1
            k = k + 1 if k + 1 < count else 0
            tried += 1
        if lane() == 0:
            one.totals[EVALUATIONS] += u64(tried) * u64(count)
        return total

    @function
    def perturb(step: i32, one: OrderWalk, rule: GreedyRule, data: D, scratch: Array[u64]) -> i32:
        """Remove random elements, insert them again, and improve the order; return the change of the cost."""
        words = local_array(4, u32)
        change = 0
        for k in range(rule.removed):
            if k & 3 == 0:
                draw(words, step, u32(REMOVING) + 1 + u32(k >> 2), one.number[0], rule.seed)
            position = i32(mulhi(words[k & 3], u32(one.n - k)))
            if lane() == 0:
                one.removed[k] = one.order[position]
            barrier()
            saved = remove(position, one.n - k, one, data)
            change += saved
        left = one.n - rule.removed
        if left > 1:
            gained = descend(left, step, u32(OF_REST), one, rule, data, scratch)
            change += gained
        for k in range(rule.removed):
            added = insert_best(one.removed[k], left + k, one, data, scratch)
            change += added
        if lane() == 0:
            one.totals[EVALUATIONS] += u64(rule.removed) * u64(2 * one.n - rule.removed + 1)
        improved = descend(one.n, step, u32(OF_ALL), one, rule, data, scratch)
        return change + improved

    @kernel
    def construct_orders(walks: Rows[OrderWalk], problem: Rows[D], seed: u64):
        """Let every walk insert all elements in random order, each where it costs least."""
        scratch = shared_array(team_size(), u64)
        for w in range(team_rank(), walks.count, team_count()):
            one, data = walks[w], problem[w]
            for p in range(lane(), one.n, team_size()):
                one.queue[p] = p
            barrier()
            if lane() == 0:
                shuffle(one.queue, one.n, -1, u32(OF_ALL), one.number[0], seed)
            barrier()
            for k in range(one.n):
                insert_best(one.queue[k], k, one, data, scratch)

    @kernel
    def improve_orders(walks: Rows[OrderWalk], problem: Rows[D], rounds: i32, rule: GreedyRule):
        """Improve the start order of every walk, unless that is done, and perturb it ``rounds`` times."""
        scratch = shared_array(team_size(), u64)
        words = local_array(4, u32)
        for w in range(team_rank(), walks.count, team_count()):
            one, data = walks[w], problem[w]
            cost, best, best_at = one.control[COST], one.control[BEST_COST], one.control[BEST_AT]
            done, is_new = one.control[ROUNDS], one.control[IS_NEW]
            digest = one.totals[DIGEST]
            copy_order(one.order, one.home, one.n)
            barrier()
            take_order(one.home, one)
            barrier()
            if is_new != 0:
                change = descend(one.n, -1, u32(OF_REST), one, rule, data, scratch)
                cost += change
                best = cost
                copy_order(one.order, one.best, one.n)
                copy_order(one.order, one.home, one.n)
                barrier()
            for step in range(done, done + rounds):
                if best <= rule.target:
                    break
                change = perturb(step, one, rule, data, scratch)
                draw(words, step, u32(REMOVING), one.number[0], rule.seed)
                digest = splitmix64(digest + (u64(u32(cost + change)) << 32 | u64(step)) + u64(0x9E3779B97F4A7C15))
                if change <= tolerance(words[0], rule.slack):
                    cost += change
                    copy_order(one.order, one.home, one.n)
                    if cost < best:
                        best = cost
                        best_at = step + 1
                        copy_order(one.order, one.best, one.n)
                else:
                    take_order(one.home, one)
                done += 1
                barrier()
            barrier()
            if lane() == 0:
                one.control[COST] = cost
                one.control[BEST_COST] = best
                one.control[ROUNDS] = done
                one.control[BEST_AT] = best_at
                one.control[IS_NEW] = 0
                one.totals[DIGEST] = digest
            barrier()

    return GreedyKernels(construct_orders, improve_orders)
