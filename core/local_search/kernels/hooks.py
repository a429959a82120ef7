"""Inputs of a search's kernels: the problem's functions, and the rules of the algorithm."""

from __future__ import annotations

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


class Hooks(NamedTuple):
    """Functions of a problem for the template, in the kernel language; ``data`` is the problem's bundle.

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
    value : Function or None
        ``value(solution, move, data) -> i32``: the cost of the neighbour, if there is no `delta`; one lane calls it.
    """

    delta: Function | None
    quick: Function | None = None
    begin: Function | None = None
    update: Function | None = None
    move: Function | None = None
    refresh: Function | None = None
    partial: Function | None = None
    value: Function | None = None


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
        True for the solution level: the lanes of a team evaluate one neighbour together, by `Hooks.partial`.
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
