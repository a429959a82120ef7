"""A walk of local search: its state in rows of arrays, the settings of all walks, and their named arrays.

`core.local_search.kernels.template` makes a walk's iterations, `core.local_search.kernels.moves` its moves.
With a history a walk records each improvement of its best cost, until the host reads it.
"""

from __future__ import annotations

from core.lang import *
from core.lang.library import splitmix64

S = Generic("S")
R = Generic("R")  # `WalkSettings` or a subclass
W = Generic("W")  # a `Walk` or a subclass


class WalkStatus(NamedArray):
    """Status of a walk."""

    cost: i32
    """Cost of the present solution."""
    best_cost: i32
    """Cost of the best solution so far."""
    iteration: i32
    """Number of iterations made."""
    best_at: i32
    """Iteration that found the best solution so far."""
    stop: i32
    """State of the walk, or its reason to stop: `RUNNING` and following."""
    level: i32
    """Neighbourhood of the next scan."""
    changed: i32
    """Effect of the last iteration: `NOTHING_CHANGED` and following."""
    move_i: i32
    """First number of the last move."""
    move_j: i32
    """Second number of the last move."""
    move_k: i32
    """Third number of the last move."""
    home_cost: i32
    """Cost of `Walk.home`."""
    shakes: i32
    """Number of random moves of the last shake."""
    at_best: i32
    """1 if the present solution is the best so far. The walk copies it to `Walk.best` when it leaves it, so a walk that
    improves in every iteration copies nothing."""


# Values of `WalkStatus.changed`.
NOTHING_CHANGED = 0
"""The iteration made no move."""
ONE_MOVE = 1
"""The iteration made one move: `WalkStatus.move_i` and following."""
EVERYTHING = 2
"""The solution is new: another start, a shake or a restart."""

# Values of `WalkStatus.stop`.
RUNNING = 0
"""The walk continues."""
LOCAL_OPTIMUM = 1
"""No neighbour can be taken."""
TARGET_REACHED = 2
"""The best cost is at most `WalkLimits.target`."""
NO_IMPROVEMENT = 3
"""`WalkLimits.patience` iterations have not improved the best cost."""
ITERATIONS_DONE = 4
"""The walk has made `WalkLimits.most_iterations` iterations."""
RESTING = 5
"""A walk with a history waits until the host has read its records."""


class WalkTotals(NamedArray):
    """Totals of a walk."""

    digest: u64
    """Digest of the walk's moves."""
    evaluations: u64
    """Number of evaluated neighbours."""


class WalkLimits(NamedArray):
    """Limits and parameters of a run."""

    most_iterations: i32
    """Largest number of iterations."""
    target: i32
    """Cost at which a walk stops."""
    patience: i32
    """Iterations without improvement before a walk stops."""
    tenure: i32
    """Fixed part of the tabu tenure."""
    tenure_span: i32
    """Largest random part of the tabu tenure."""
    strength: i32
    """Random moves of a shake."""
    plateau: i32
    """Draws at one temperature."""
    batch: i32
    """Draws evaluated side by side."""
    seed: i32
    """Seed of all random words."""
    restart: i32
    """Iterations without improvement before a walk restarts."""


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

    ``best`` is the best solution so far, unless that is the present one (`WalkStatus.at_best`). ``memory`` is the tabu
    memory of ``room`` words, ``home`` the local optimum to which an iterated search returns, ``heat`` the temperature,
    ``number`` the walk's number among the walks of all ranks. A solution has ``length`` elements; an element of a
    vector of values has ``choices`` values.
    """

    status: WalkStatus = Row()
    totals: WalkTotals = Row()
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

    limits: WalkLimits
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
    """A move and its kind, one of the changes of `core.local_search.kernels.moves`."""

    change: Const[i32]


@bundle
class Share:
    """The part of neighbours ``first`` to ``end - 1`` for one of several workers; a worker is a team or a lane."""

    worker: i32
    workers: i32
    first: u32
    end: u32


class RecordCounts(NamedArray):
    """Counts of a walk with a history, which the host reads and writes."""

    due: i32
    """Number of steps left before the walk rests."""
    recorded: i32
    """Number of improvements recorded."""


@bundle
class RecordingWalk(Walk):
    """A walk with ``places`` records of improvements: iteration, cost and number of evaluations."""

    counts: RecordCounts = Row()
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
    steps_left = walk.counts.due - 1
    walk.counts.due = steps_left
    is_resting = steps_left <= 0
    iteration = walk.status.iteration
    if walk.status.best_at == iteration:
        recorded = walk.counts.recorded
        walk.iterations[recorded] = iteration
        walk.costs[recorded] = walk.status.best_cost
        walk.evaluations[recorded] = walk.totals.evaluations
        walk.counts.recorded = recorded + 1
        is_resting = is_resting or recorded + 1 >= walk.places
    if is_resting and walk.status.stop == RUNNING:
        walk.status.stop = RESTING


@function
def copy_solution(source: Array[S], target: Array[S], length: i32):
    """Copy a solution by all lanes of the team."""
    for p in range(lane(), length, team_size()):
        target[p] = source[p]


@function
def keep_best(walk: Walk):
    """Copy the present solution to `Walk.best` if it is the best so far; call it before the walk leaves it."""
    if walk.status.at_best == 1:
        copy_solution(walk.solution, walk.best, walk.length)


@function
def mixed(digest: u64, index: u32, cost: i32) -> u64:
    """Return the digest of a trajectory after one more move."""
    return splitmix64(digest + u64(0x9E3779B97F4A7C15) ^ ((u64(index) << 32) | u64(u32(cost))))
