"""Inputs of a search's kernels: the functions of an evaluation, and the rules of the algorithm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from core.lang import *

D = Generic("D")  # the problem's data and, as rows, the data of each walk

# Rules that choose a neighbour.
BEST, FIRST, TABU, ANNEAL, CUSTOM = range(5)
# Behaviour at a local optimum: stop, or restore the best, shake it and continue.
HALT, SHAKE_EVENLY, SHAKE_HARDER = range(3)

NO_KEY = 0xFFFFFFFFFFFFFFFF
"""Key of a scan that finds no neighbour to take."""
# Streams of random words; those of the start solutions are below the first.
SHAKING, PROPOSING, ACCEPTING, LASTING, RESTARTING = (k << 32 for k in range(1, 6))


@dataclass(frozen=True)
class Evaluation:
    """Functions that evaluate the neighbours of a solution, in the kernel language, and the data that they read.

    All evaluations of a problem give the same costs, with different speeds. Functions take the problem's bundle as
    ``data``; its rows are the memory of a walk.

    Attributes
    ----------
    delta : Function or None
        ``delta(solution, move, data) -> i32``: the change of cost by the move; one lane calls it.
    quick : Function or None
        ``quick(solution, index, move, data) -> i32``: the same from data of `refresh`.
    begin : Function or None
        ``begin(solution, data)``: build the walk's state; all lanes of one team call it.
    update : Function or None
        ``update(solution, move, data)``: update the state before a move; all lanes of one team call it.
    move : Function or None
        ``move(solution, move, data)``: make the move, if it is no change of `core.local_search.kernels.moves`.
    refresh : Function or None
        ``refresh(share, changed, move, solution, data)``: after the change, by all lanes of all teams; compute the data
        of `quick` for the neighbours of a `core.local_search.kernels.walks.Share`.
    partial : Function or None
        ``partial(worker, workers, solution, move, data) -> i32``: a part of `delta`; the workers' parts add up.
    quick_for : tuple of str
        Neighbourhoods supported by `quick`; the others are evaluated by `delta`.
    work : int
        Approximate number of steps for a neighbour; devices share large evaluations among lanes.
    value : Function or None
        ``value(solution, move, data) -> i32``: the cost of the neighbour, if there is no `delta`; one lane calls it.
    name : str
        Name among the evaluations of the problem.
    data : object
        The bundle of the functions, as `core.local_search.problem.Problem.evaluation` checks it.
    """

    delta: Function | None = None
    quick: Function | None = None
    begin: Function | None = None
    update: Function | None = None
    move: Function | None = None
    refresh: Function | None = None
    partial: Function | None = None
    quick_for: tuple[str, ...] = field(default=(), compare=False)
    work: int = field(default=16, compare=False)
    value: Function | None = None
    name: str = field(default="", compare=False)
    data: object = field(default=None, compare=False, repr=False)

    @property
    def functions(self) -> list[Function]:
        return [function for function in vars(self).values() if isinstance(function, Function)]

    @property
    def main(self) -> Function | None:
        """The function that every evaluation has: `delta`, or else `value`."""
        return self.delta or self.value

    def for_kernels(self, neighbourhood: str) -> Evaluation:
        """Return the functions for kernels of a neighbourhood, `quick` only if it is supported.

        They have no data, which a cache of kernels would keep.
        """
        kept: dict[str, None] = {} if neighbourhood in self.quick_for else {"quick": None, "refresh": None}
        return replace(self, data=None, **kept)


class Rules(NamedTuple):
    """The rules of a search, constants of its kernels.

    Attributes
    ----------
    shapes : tuple of int
        The shape of up to three neighbourhoods, tried in this order (see `core.local_search.kernels.moves`).
    change, memory : int
        Effect of a move, and its attributes in tabu memory.
    rule, at_optimum : int
        Choice of a neighbour, and behaviour without one.
    by_team : bool
        True for the solution level: the lanes of a team evaluate one neighbour together, by `Evaluation.partial`.
    note : Function or None
        ``note(walk)``, called after a step by the lane that made it; for a history
        `core.local_search.kernels.walks.record_improvement`.
    decode : tuple of Function
        Functions of a custom neighbourhood: see `core.local_search.kernels.neighbour_functions.decoders`.
    apply : Function or None
        ``apply(solution, move, n)``: make a custom neighbourhood's move; all lanes of one team call it.
    accepts : Function or None
        ``accepts(draw, parameters)`` of the rule `CUSTOM`: see `core.local_search.algorithms.Rule`.
    has_parameters : bool
        False if the draw is the only parameter of ``accepts``.
    lag : int
        Number of iterations between a `Draw` and its ``before``; 0 if unused.
    restarts : bool
        True if walks restart at random solutions: see `core.local_search.kernels.escapes`.
    """

    shapes: tuple[int, ...]
    change: int
    memory: int
    rule: int
    at_optimum: int
    by_team: bool = False
    note: Function | None = None
    decode: tuple[Function, ...] = ()
    apply: Function | None = None
    accepts: Function | None = None
    has_parameters: bool = False
    lag: int = 0
    restarts: bool = False

    @property
    def draws(self) -> bool:
        """True if an iteration is a draw of a random neighbour."""
        return self.rule in (ANNEAL, CUSTOM)
