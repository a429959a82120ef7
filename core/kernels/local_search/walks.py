"""A walk of local search: its state in rows of arrays, the settings of all walks, and the words of both.

`core.kernels.local_search.template` makes a walk's iterations, `core.kernels.local_search.moves` its moves.
With a history a walk records each improvement of its best cost, until the host reads it.
"""

from __future__ import annotations

from core.kernels.two_opt.climbs import splitmix64
from core.lang import *

S = Generic("S")
R = Generic("R")  # `WalkSettings` or a subclass
W = Generic("W")  # a `Walk` or a subclass

# Words of a walk's `control`.
COST = 0
"""Cost of the present solution."""
BEST_COST = 1
"""Cost of the best solution so far."""
ITERATION = 2
"""Number of iterations made."""
BEST_AT = 3
"""Iteration that found the best solution so far."""
STOP = 4
"""State of the walk, or its reason to stop: `RUNNING` and following."""
LEVEL = 5
"""Neighbourhood of the next scan."""
CHANGED = 6
"""Effect of the last iteration: `NOTHING_CHANGED` and following."""
MOVE_I = 7
"""First number of the last move."""
MOVE_J = 8
"""Second number of the last move."""
MOVE_K = 9
"""Third number of the last move."""
HOME_COST = 10
"""Cost of `Walk.home`."""
SHAKES = 11
"""Number of random moves of the last shake."""
AT_BEST = 12
"""1 if the present solution is the best so far. The walk copies it to `Walk.best` when it leaves it, so a walk that
improves in every iteration copies nothing."""
CONTROL = 13
"""Number of words of `control`."""

# Values of `CHANGED`.
NOTHING_CHANGED = 0
"""The iteration made no move."""
ONE_MOVE = 1
"""The iteration made one move: `MOVE_I` and following."""
EVERYTHING = 2
"""The solution is new: another start, a shake or a restart."""

# Values of `STOP`.
RUNNING = 0
"""The walk continues."""
LOCAL_OPTIMUM = 1
"""No neighbour can be taken."""
TARGET_REACHED = 2
"""The best cost is at most `TARGET`."""
NO_IMPROVEMENT = 3
"""`PATIENCE` iterations have not improved the best cost."""
ITERATIONS_DONE = 4
"""The walk has made `MOST_ITERATIONS` iterations."""
RESTING = 5
"""A walk with a history waits until the host has read its records."""

# Words of a walk's `totals`.
DIGEST = 0
"""Digest of the walk's moves."""
EVALUATIONS = 1
"""Number of evaluated neighbours."""
TOTALS = 2
"""Number of words of `totals`."""

# Words of a run's `limits`.
MOST_ITERATIONS = 0
"""Largest number of iterations."""
TARGET = 1
"""Cost at which a walk stops."""
PATIENCE = 2
"""Iterations without improvement before a walk stops."""
TENURE = 3
"""Fixed part of the tabu tenure."""
TENURE_SPAN = 4
"""Largest random part of the tabu tenure."""
STRENGTH = 5
"""Random moves of a shake."""
PLATEAU = 6
"""Draws at one temperature."""
BATCH = 7
"""Draws evaluated side by side."""
SEED = 8
"""Seed of all random words."""
RESTART = 9
"""Iterations without improvement before a walk restarts."""
NOISE = 10
"""Chance of a random repair, in 65536ths."""
LIMITS = 11
"""Number of words of `limits`."""

# Numbers of a run's `cooling`.
FACTOR = 0
"""Factor of the temperature after each plateau."""
DRAWS = 1
"""First of 4096 numbers -ln((r + 1/2) / 4096) for r = 0, 1, ..."""
COOLING = 4097
"""Number of elements of `cooling` without restarts."""
HEAT_AT_START = 4097
"""Temperature of the start, with restarts."""

# Words at the end of the memory of a walk that restarts, counted from the end.
RESTARTS = 2
"""Number of restarts."""
BEGAN_AT = 1
"""Iteration of the last restart."""
RESTART_WORDS = 2
"""Number of these words."""

RESTART_MOVES = 4
"""Random moves of a restart for each element of a solution."""


@bundle
class Walk:
    """The state of a walk.

    ``control`` and ``totals`` have the words listed above. ``best`` is the best solution so far, unless that is the
    present one (`AT_BEST`). ``memory`` is the tabu memory of ``room`` words, ``home`` the local optimum to which an
    iterated search returns, ``heat`` the temperature, ``number`` the walk's number among the walks of all ranks. A
    solution has ``length`` elements; an element of a vector of values has ``choices`` values.
    """

    control: Array[i32] = Row(CONTROL)
    totals: Array[u64] = Row(TOTALS)
    number: Array[u64] = Row(1)
    heat: Array[f32] = Row(1)
    memory: Array[i32] = Row("room")
    solution: Array[S] = Row("length")
    best: Array[S] = Row("length")
    home: Array[S] = Row("length")
    room: i32
    length: i32
    choices: i32


@bundle
class WalkSettings:
    """Data shared by all walks of a run; ``sizes`` has the number of neighbours in each neighbourhood."""

    limits: Array[i32]
    sizes: Array[u32]
    cooling: Array[f32]


@bundle
class Draw:
    """Random neighbour of a walk, for a rule of acceptance.

    Costs: ``cost`` of the present solution, ``new`` of the neighbour, ``best`` of the best solution so far, and
    ``before`` of the walk some iterations ago, or at its start. ``iteration`` counts draws from 0, ``random`` has 32
    random bits.
    """

    cost: i32
    new: i32
    best: i32
    before: i32
    iteration: i32
    random: u32


@bundle
class Move:
    """A neighbour of a solution as three integers, -1 if not used."""

    i: i32
    j: i32
    k: i32


@bundle
class AnyMove(Move):
    """A move and its kind, one of the changes of `core.kernels.local_search.moves`."""

    change: Const[i32]


@bundle
class Share:
    """The part of neighbours ``first`` to ``end - 1`` for one of several workers; a worker is a team or a lane."""

    worker: i32
    workers: i32
    first: u32
    end: u32


# Words of a walk's `counts`, which the host reads and writes.
DUE = 0
"""Number of steps left before the walk rests."""
RECORDED = 1
"""Number of improvements recorded."""
COUNTS = 2
"""Number of words of `counts`."""


@bundle
class RecordingWalk(Walk):
    """A walk with ``places`` records of improvements: iteration, cost and number of evaluations."""

    counts: Array[i32] = Row(COUNTS)
    iterations: Array[i32] = Row("places")
    costs: Array[i32] = Row("places")
    evaluations: Array[u64] = Row("places")
    places: i32


@function
def record_improvement(walk: RecordingWalk):
    """Record an improvement of the best cost after a step; called by the lane that made the step.

    The walk rests when no place is left, so that no record is lost, and after its last step, so that it makes no more
    steps while the host continues other walks.
    """
    steps_left = walk.counts[DUE] - 1
    walk.counts[DUE] = steps_left
    is_resting = steps_left <= 0
    iteration = walk.control[ITERATION]
    if walk.control[BEST_AT] == iteration:
        recorded = walk.counts[RECORDED]
        walk.iterations[recorded] = iteration
        walk.costs[recorded] = walk.control[BEST_COST]
        walk.evaluations[recorded] = walk.totals[EVALUATIONS]
        walk.counts[RECORDED] = recorded + 1
        is_resting = is_resting or recorded + 1 >= walk.places
    if is_resting and walk.control[STOP] == RUNNING:
        walk.control[STOP] = RESTING


@function
def copy_solution(source: Array[S], target: Array[S], length: i32):
    """Copy a solution by all lanes of the team."""
    for p in range(lane(), length, team_size()):
        target[p] = source[p]


@function
def keep_best(walk: Walk):
    """Copy the present solution to `Walk.best` if it is the best so far; call it before the walk leaves it."""
    if walk.control[AT_BEST] == 1:
        copy_solution(walk.solution, walk.best, walk.length)


@function
def mixed(digest: u64, index: u32, cost: i32) -> u64:
    """Return the digest of a trajectory after one more move."""
    return splitmix64(digest + u64(0x9E3779B97F4A7C15) ^ ((u64(index) << 32) | u64(u32(cost))))
