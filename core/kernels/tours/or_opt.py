"""Iterated local search of tours: a local double bridge, a descent from its ends, and undoing if the tour is longer.

Martin, Otto, Felten, "Large-step Markov chains for the traveling salesman problem", Complex Systems 5(3), 1991, for the
double bridge; Johnson, McGeoch, "The traveling salesman problem: a case study in local optimization", 1997, section 5,
for the bridge of short segments.
"""

from __future__ import annotations

from core.kernels.tours.three_opt import descend
from core.kernels.tours.tour_array import (
    AT_BEST,
    BEST_AT,
    BEST_LENGTH,
    COUNT,
    DIGEST,
    HEAD,
    KICKS,
    LENGTH,
    LOGGED,
    LOGS,
    CityLists,
    TourWalk,
    dequeue,
    distance,
    enqueue,
    forward,
    reconnect,
    undo,
)
from core.kernels.two_opt.climbs import splitmix64
from core.lang import *
from core.lang.library import philox

LEVELS = 8
"""Temperatures of a period."""


@bundle
class Kicks:
    """The rule of all walks.

    ``segment`` is the largest number of cities in a segment of the double bridge, two of which are shorter than the
    tour. A walk ends at length ``target``. ``seed`` is that of all random numbers, which depend on the numbers of walk
    and perturbation too. A level of acceptance is at most ``slack``, in the first part of ``period`` perturbations.
    See `improve_tours` for ``patience`` and ``reach``.
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
    """Let every walk begin with cities 0 to n - 1 in their order, of which all wait, from a random one on."""
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        first = i32(splitmix64(splitmix64(seed) + one.number[0]) % u64(one.n))
        for p in range(lane(), one.n, team_size()):
            city = forward(p + first, one.n)
            one.tour[p] = city
            one.place[city] = p
            one.queue[p] = city
        for k in range(lane(), one.words, team_size()):
            one.waiting[k] = 0xFFFFFFFF
        if lane() == 0:
            one.line[HEAD] = 0
            one.line[COUNT] = one.n
            one.line[LOGGED] = 0
            one.line[LOGS] = 0


@kernel
def resume_tours(walks: Rows[TourWalk]):
    """Let every walk continue with its tour, in which no city waits."""
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        for p in range(lane(), one.n, team_size()):
            one.place[one.tour[p]] = p
        for k in range(lane(), one.words, team_size()):
            one.waiting[k] = 0
        if lane() == 0:
            one.line[HEAD] = 0
            one.line[COUNT] = 0


@function
def cross(words: Array[u32], segment: i32, one: TourWalk, cities: CityLists) -> i32:
    """Exchange two adjacent segments at a random place; return the increase of the tour's length."""
    p = i32(mulhi(words[0], u32(one.n)))
    first = 1 + i32(mulhi(words[1], u32(segment)))
    second = first + 1 + i32(mulhi(words[2], u32(segment)))
    a = one.tour[p]
    b = one.tour[forward(p + 1, one.n)]
    c = one.tour[forward(p + first, one.n)]
    d = one.tour[forward(p + first + 1, one.n)]
    e = one.tour[forward(p + second, one.n)]
    f = one.tour[forward(p + second + 1, one.n)]
    barrier()
    if lane() == 0:
        enqueue(a, one)
        enqueue(b, one)
        enqueue(c, one)
        enqueue(d, one)
        enqueue(e, one)
        enqueue(f, one)
    reconnect(a, b, e, f, one)
    reconnect(a, e, d, c, one)
    reconnect(e, c, b, f, one)
    added = distance(a, d, cities) + distance(e, b, cities) + distance(c, f, cities)
    return added - distance(a, b, cities) - distance(c, d, cities) - distance(e, f, cities)


@function
def perturb(kick: i32, rule: Kicks, most: i32, one: TourWalk, cities: CityLists, winner: Array[u64]) -> i32:
    """Perturb the tour and descend; return the increase of its length. A rejected tour is undone: 0.

    A tour is accepted if it is longer by at most a random number of levels, and by at most ``most``. A level shrinks
    during a period. Each further level has half the probability, as in simulated annealing.
    """
    words = local_array(4, u32)
    words[0] = u32(kick)
    words[1] = 0
    words[2] = u32(one.number[0])
    words[3] = u32(one.number[0] >> 32)
    philox(words, u32(rule.seed), u32(rule.seed >> 32))
    if lane() == 0:
        one.line[LOGGED] = 0
        one.line[LOGS] = 1
    barrier()
    added = cross(words, rule.segment, one, cities)
    gained = descend(one, cities, winner)
    added -= gained
    level = (kick % rule.period) * LEVELS // rule.period
    accepted = min(most, rule.slack * (LEVELS - level) // LEVELS * clz(words[3]))
    if added > accepted or one.line[COUNT] > 0:
        barrier()
        undo(one)
        if lane() == 0:
            while one.line[COUNT] > 0:
                dequeue(one)
        barrier()
        added = 0
    return added


@function
def copy_best(one: TourWalk):
    """Copy the present tour, which is the best one."""
    for p in range(lane(), one.n, team_size()):
        one.best[p] = one.tour[p]


@kernel
def improve_tours(walks: Rows[TourWalk], cities: CityLists, kicks: i32, rule: Kicks):
    """Descend from the start tour of every walk, unless that is done, and perturb it ``kicks`` times.

    After `Kicks.patience` perturbations without a better tour a walk accepts longer tours (`perturb`), up to
    `Kicks.reach` longer than its best one, until it finds a better one.
    """
    winner = shared_array(1, u64)
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        length = one.control[LENGTH]
        best = one.control[BEST_LENGTH]
        done = one.control[KICKS]
        best_at = one.control[BEST_AT]
        at_best = one.control[AT_BEST]
        digest = one.totals[DIGEST]
        barrier()
        gained = descend(one, cities, winner)
        length -= gained
        best = min(best, length)
        for kick in range(done, done + kicks):
            if best <= rule.target:
                break
            most = rule.reach - (length - best) if kick - best_at >= rule.patience else 0
            if at_best != 0 and most > 0:
                copy_best(one)
                barrier()
                at_best = 0
            change = perturb(kick, rule, most, one, cities, winner)
            length += change
            if length < best:
                best = length
                best_at = kick + 1
                at_best = 1
            digest = splitmix64(digest + (u64(length) << 32 | u64(kick)) + u64(0x9E3779B97F4A7C15))
            done += 1
        barrier()
        if lane() == 0:
            one.control[LENGTH] = length
            one.control[BEST_LENGTH] = best
            one.control[KICKS] = done
            one.control[BEST_AT] = best_at
            one.control[AT_BEST] = at_best
            one.totals[DIGEST] = digest
        barrier()


@kernel
def keep_best(walks: Rows[TourWalk]):
    """Copy every walk's best tour to its `TourWalk.best`."""
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        if one.control[AT_BEST] != 0:
            copy_best(one)
