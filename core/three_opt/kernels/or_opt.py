"""Iterated local search of tours: a local double bridge, a descent from its ends, and undoing if the tour is longer.

Martin, Otto, Felten, "Large-step Markov chains for the traveling salesman problem", Complex Systems 5(3), 1991, for the
double bridge; Johnson, McGeoch, "The traveling salesman problem: a case study in local optimization", 1997, section 5,
for the bridge of short segments.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import philox, splitmix64
from core.three_opt.kernels.three_opt import descend
from core.three_opt.kernels.tour_array import (
    CityLists,
    TourWalk,
    distance,
    enqueue,
    fill_queue,
    forward,
    reconnect,
    restore,
)

LEVELS = 8
"""Temperatures of a period."""


@bundle
class Kicks:
    """Rule of all walks.

    ``segment`` is the largest number of cities in a segment of the double bridge; two segments are shorter than the
    tour. A walk ends at length ``target``. Random numbers depend on ``seed`` and the numbers of walk and perturbation.
    A level of acceptance is ``slack`` at the start of a period of ``period`` perturbations, later less. See
    `improve_tours` for ``patience`` and ``reach``.
    """

    segment: i32
    patience: i32
    slack: i32
    reach: i32
    period: i32
    target: i32
    seed: u64


@kernel
def begin_tours(walks: Rows[TourWalk], seed: u64):
    """Begin every walk with the cities in ascending order from a random one on, all of them in the queue."""
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        first = i32(splitmix64(splitmix64(seed) + walk.number[0]) % u64(walk.n))
        for p in range(lane(), walk.n, team_size()):
            city = forward(p + first, walk.n)
            walk.tour[p] = city
            walk.place[city] = p
            walk.queue[p] = city
        fill_queue(walk)


@kernel
def resume_tours(walks: Rows[TourWalk]):
    """Continue every walk with its tour and an empty queue."""
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        for p in range(lane(), walk.n, team_size()):
            walk.place[walk.tour[p]] = p
        for k in range(lane(), walk.words, team_size()):
            walk.waiting[k] = 0
        if lane() == 0:
            walk.line.head = 0
            walk.line.count = 0


@function
def cross(words: Array[u32], segment: i32, walk: TourWalk, cities: CityLists) -> i32:
    """Exchange two adjacent segments at a random place; return the increase of the tour's length."""
    p = i32(mulhi(words[0], u32(walk.n)))
    first = 1 + i32(mulhi(words[1], u32(segment)))
    second = first + 1 + i32(mulhi(words[2], u32(segment)))
    a = walk.tour[p]
    b = walk.tour[forward(p + 1, walk.n)]
    c = walk.tour[forward(p + first, walk.n)]
    d = walk.tour[forward(p + first + 1, walk.n)]
    e = walk.tour[forward(p + second, walk.n)]
    f = walk.tour[forward(p + second + 1, walk.n)]
    barrier()
    if lane() == 0:
        enqueue(a, walk)
        enqueue(b, walk)
        enqueue(c, walk)
        enqueue(d, walk)
        enqueue(e, walk)
        enqueue(f, walk)
    reconnect(a, b, e, f, walk)
    reconnect(a, e, d, c, walk)
    reconnect(e, c, b, f, walk)
    added = distance(a, d, cities) + distance(e, b, cities) + distance(c, f, cities)
    return added - distance(a, b, cities) - distance(c, d, cities) - distance(e, f, cities)


@function
def perturb(kick: i32, rule: Kicks, words: Array[u32], walk: TourWalk, cities: CityLists) -> i32:
    """Perturb the tour by the random numbers that ``words`` gets; return the increase of its length."""
    words[0] = u32(kick)
    words[1] = 0
    words[2] = u32(walk.number[0])
    words[3] = u32(walk.number[0] >> 32)
    philox(words, u32(rule.seed), u32(rule.seed >> 32))
    if lane() == 0:
        walk.line.logged = 0
        walk.line.logs = 1
    barrier()
    added = cross(words, rule.segment, walk, cities)
    return added


@function
def accept(added: i32, kick: i32, most: i32, word: u32, rule: Kicks, walk: TourWalk) -> i32:
    """Return the increase of the tour's length, or restore the tour before its perturbation and return 0.

    A tour is accepted if it is longer by at most a random number of levels, and by at most ``most``. A level shrinks
    during a period. Each further level has half the probability, as in simulated annealing.
    """
    level = (kick % rule.period) * LEVELS // rule.period
    accepted = min(most, rule.slack * (LEVELS - level) // LEVELS * clz(word))
    if added <= accepted and walk.line.count == 0:
        return added
    restore(walk)
    return 0


@function
def copy_best(walk: TourWalk):
    for p in range(lane(), walk.n, team_size()):
        walk.best[p] = walk.tour[p]


@kernel
def improve_tours(walks: Rows[TourWalk], cities: CityLists, kicks: i32, rule: Kicks):
    """Descend from the start tour of every walk, unless that is done, and perturb its tour ``kicks`` times.

    After `Kicks.patience` perturbations without a better tour a walk accepts longer tours (`accept`), at most
    `Kicks.reach` longer than its best one, until it finds a better one.
    """
    winner = shared_array(1, u64)
    words = local_array(4, u32)
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        length = walk.control.length
        best = walk.control.best_length
        first = walk.control.kicks
        best_at = walk.control.best_at
        at_best = walk.control.at_best
        digest = walk.totals.digest
        kick_count = first
        barrier()
        # One call of `descend` for the descent before ``first`` and those after perturbations: it is most of the code.
        for kick in range(first - 1, first + kicks):
            most = 0
            change = 0
            if kick >= first:
                if best <= rule.target:
                    break
                if kick - best_at >= rule.patience:
                    most = rule.reach - (length - best)
                if at_best != 0 and most > 0:
                    copy_best(walk)
                    barrier()
                    at_best = 0
                change = perturb(kick, rule, words, walk, cities)
            decrease = descend(walk, cities, winner, True)
            change -= decrease
            if kick < first:
                length += change
                best = min(best, length)
                continue
            change = accept(change, kick, most, words[3], rule, walk)
            length += change
            if length < best:
                best = length
                best_at = kick + 1
                at_best = 1
            digest = splitmix64(digest + (u64(length) << 32 | u64(kick)) + u64(0x9E3779B97F4A7C15))
            kick_count += 1
        barrier()
        if lane() == 0:
            walk.control.length = length
            walk.control.best_length = best
            walk.control.kicks = kick_count
            walk.control.best_at = best_at
            walk.control.at_best = at_best
            walk.totals.digest = digest
        barrier()


@kernel
def keep_best(walks: Rows[TourWalk]):
    """Copy every walk's best tour to its `TourWalk.best`."""
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        if walk.control.at_best != 0:
            copy_best(walk)
