"""A walk of local search: its state in rows of arrays, the settings of all walks, and the words of both.

`core.kernels.local_search.template` makes a walk's iterations, `core.kernels.local_search.moves` its moves.
With a history a walk records each improvement of its best cost, until the host reads it.
"""

from __future__ import annotations

from core.lang import *

S = Generic("S")
R = Generic("R")  # `WalkSettings` or a subclass
W = Generic("W")  # a `Walk` or a subclass

# The words of a walk's `control`: the cost where it stands, and the best so far; iterations made, and in which it came
# to the best; why it stopped; which of its neighbourhoods it looks at; what the last iteration changed, and by which
# move; the cost of `home`; how many random moves the last shake made; whether it stands at the best so far, which is
# copied to `best` only when the walk leaves it: a walk that improves in every iteration would copy in every iteration.
COST, BEST_COST, ITERATION, BEST_AT, STOP, LEVEL, CHANGED, MOVE_I, MOVE_J, MOVE_K, HOME_COST, SHAKES, AT_BEST = range(
    13
)
CONTROL = 13
# Values of CHANGED, about the last iteration.
NOTHING_CHANGED, ONE_MOVE, EVERYTHING = range(3)
# Values of STOP; a walk that records its improvements waits until the host has read them
# (`core.kernels.local_search.walks`).
RUNNING, LOCAL_OPTIMUM, TARGET_REACHED, NO_IMPROVEMENT, ITERATIONS_DONE, RESTING = range(6)
# The words of a walk's `totals`.
DIGEST, EVALUATIONS = range(2)
TOTALS = 2
# The words of a run's `limits`: largest number of iterations, target cost, iterations without improvement; fixed and
# random part of the tabu tenure; random moves of a shake; draws at one temperature, and the number evaluated side by
# side; iterations without a better best before a restart; chance of a random repair, in 65536ths.
MOST_ITERATIONS, TARGET, PATIENCE, TENURE, TENURE_SPAN, STRENGTH, PLATEAU, BATCH, SEED, RESTART, NOISE = range(11)
LIMITS = 11
# The numbers of a run's `cooling`: the factor, then -ln((r + 1/2) / 4096) for r = 0 ... 4095.
FACTOR, DRAWS = 0, 1
COOLING = 4097
# Behind them where a walk restarts: the temperature of the start.
HEAT_AT_START = 4097
# The last words of the memory of a walk that restarts: its restarts, and the iteration after which it began again.
RESTARTS, BEGAN_AT = 2, 1
RESTART_WORDS = 2
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


# Words of a walk's `counts`: steps left, and improvements recorded, before the host reads them.
DUE, RECORDED = range(2)
COUNTS = 2


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
