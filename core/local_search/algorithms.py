"""Algorithms of the family: the neighbour that each takes, and its action at a local optimum.

Tabu search after Glover (1989) and Taillard (1991); iterated local search after Lourenco, Martin and Stutzle (2003);
variable neighbourhood search after Hansen and Mladenovic (2001); simulated annealing after Kirkpatrick (1983). `Rule`
makes others of a function that accepts or rejects random neighbours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import KW_ONLY, Field, dataclass, field, fields
from functools import cache, partial
from typing import Any, Literal, get_args

import numpy as np

from core.arguments import checked_class, choice, flag, integer, number, refuse
from core.errors import UserError
from core.lang import Function, boolean
from core.lang.bundles import fields_of, row_sizes
from core.lang.digest import source_digest
from core.local_search.checks.signatures import check_function
from core.local_search.kernels.hooks import ANNEAL, BEST, CUSTOM, FIRST, HALT, SHAKE_EVENLY, SHAKE_HARDER, TABU
from core.local_search.kernels.walks import COOLING, Draw
from core.local_search.problem import checked_data

MOST_SHAKES, MOST_LAG = 255, 1_000_000
MOST_DRAWS = 2**31 - 1
MOST_TEMPERATURE = 1e30
TabuList = Literal["auto", "attributes", "moves"]

natural = partial(integer, least=0, most=MOST_DRAWS)
positive = partial(integer, least=1, most=MOST_DRAWS)
shakes = partial(integer, least=1, most=MOST_SHAKES)


def factor(name: str, value: object) -> float:
    checked = number(name, value)
    if not 0 < checked <= 1:
        refuse(name, value, "a number above 0, at most 1")
    return checked


def parameter(default: object, check: Callable[[str, Any], Any], recorded: bool = True) -> Any:
    """Declare a parameter of an algorithm.

    ``check`` returns a checked value, or raises `UserError`; it does not see the default. ``recorded`` is False if the
    trajectory does not depend on the parameter, or if the algorithm's name has its value.
    """
    return field(default=default, metadata={"check": check, "recorded": recorded})


@dataclass(frozen=True, repr=False)
class Algorithm:
    """Base class of algorithms, which are frozen dataclasses of their parameters.

    An algorithm without one of the numbers below has the neutral value of this class.

    Attributes
    ----------
    name : str
        Name in programs and records.
    rule, at_optimum : int
        See `core.local_search.kernels.hooks`.
    first : bool
        True to take the first better neighbour by index instead of the best one.
    draws : bool
        True if an iteration is a draw of a random neighbour.
    strength : int
        Random moves that shake a local optimum (at most, if they grow).
    plateau, batch : int
        Draws at one temperature, and draws evaluated side by side.
    restart : int
        Iterations without a better best solution before a restart; 0: never. Hill climbing with 1 restarts at local
        optima.
    lag : int
        Iterations back of the ``before`` of a `Draw`.
    """

    at_optimum, first, draws = HALT, False, False
    strength, plateau, batch = 1, 1, 1
    restart, lag = 0, 0

    def __post_init__(self) -> None:
        for one in self.parameter_fields():
            value = getattr(self, one.name)
            if value is not one.default:
                object.__setattr__(self, one.name, one.metadata["check"](one.name, value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.arguments())})"

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def rule(self) -> int:
        return FIRST if self.first else BEST

    @property
    def scans(self) -> bool:
        """True if an iteration evaluates whole neighbourhoods."""
        return not self.draws

    @classmethod
    @cache
    def parameter_fields(cls) -> tuple[Field[Any], ...]:
        """Return the fields that `parameter` declares."""
        return tuple(one for one in fields(cls) if one.metadata)

    def arguments(self) -> list[str]:
        """Return the arguments of the call that makes this algorithm, without default values."""
        values = {one: getattr(self, one.name) for one in self.parameter_fields()}
        return [f"{one.name}={value!r}" for one, value in values.items() if value != one.default]

    @property
    def recorded_parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record; ``first`` and ``restart`` only if they are set."""
        values = {one.name: getattr(self, one.name) for one in self.parameter_fields() if one.metadata["recorded"]}
        kept = {name: value for name, value in values.items() if value or name not in ("first", "restart")}
        return {"algorithm": self.name, **kept}

    def cooling_table(self, start: float = 0.0) -> np.ndarray:
        """Return the values of `core.local_search.kernels.walks.COOLING`, which only annealing reads.

        ``start`` is the temperature after a restart.
        """
        return np.zeros(1, np.float32)


@checked_class
@dataclass(frozen=True, repr=False)
class HillClimbing(Algorithm):
    """Take the best neighbour, or the first better one by index, until there is none.

    With ``restart=1`` a walk begins again at each local optimum.
    """

    first: bool = parameter(False, flag, recorded=False)
    restart: int = parameter(0, partial(integer, least=0, most=1))

    @property
    def name(self) -> str:
        return "first" if self.first else "hill"


@checked_class
@dataclass(frozen=True, repr=False)
class TabuSearch(Algorithm):
    """Take the best neighbour that is not forbidden, or that is better than the best so far (aspiration).

    Parameters
    ----------
    tenure, tenure_span
        A move stays forbidden for ``tenure`` to ``tenure + tenure_span`` iterations; None: chosen from the problem.
    tabu_memory
        ``attributes`` (what a move takes away may not come back) or ``moves`` (the same move may not be made again), or
        ``auto``: attributes where the neighbourhood has them.
    restart
        Iterations without a better best solution before a walk begins again; 0: never.
    """

    tenure: int | None = parameter(None, natural)
    tenure_span: int | None = parameter(None, natural)
    tabu_memory: TabuList = parameter("auto", partial(choice, choices=get_args(TabuList)))
    restart: int = parameter(0, natural)
    name, rule = "tabu", TABU


@checked_class
@dataclass(frozen=True, repr=False)
class IteratedLocalSearch(Algorithm):
    """Shake each local optimum by ``strength`` random moves; return from a worse one to the last one kept.

    A walk begins again after ``restart`` iterations without a better best solution; 0: never.
    """

    strength: int = parameter(3, shakes)
    first: bool = parameter(False, flag)
    restart: int = parameter(0, natural)
    name, at_optimum = "ils", SHAKE_EVENLY


@checked_class
@dataclass(frozen=True, repr=False)
class VariableNeighbourhoodSearch(Algorithm):
    """Descend through all neighbourhoods; shake by 1, 2 ... ``strength`` moves, from 1 again after a success.

    A walk begins again after ``restart`` iterations without a better best solution; 0: never.
    """

    strength: int = parameter(5, shakes)
    restart: int = parameter(0, natural)
    name, at_optimum = "vns", SHAKE_HARDER


@checked_class
@dataclass(frozen=True, repr=False)
class SimulatedAnnealing(Algorithm):
    """Draw neighbours at random and take the first that Metropolis' rule accepts; an iteration is a draw.

    Draws are evaluated in batches, side by side; those behind an accepted one are drawn again from there, so the
    trajectory is that of one draw after the other.

    Parameters
    ----------
    temperature
        Of the start; 0: chosen from random moves.
    cooling
        Factor applied to the temperature after each plateau.
    plateau, batch
        Draws at one temperature, and draws evaluated side by side.
    restart
        Draws without a better best solution before a walk begins again, at the first temperature; 0: never.
    """

    temperature: float = parameter(0.0, partial(number, least=0, most=MOST_TEMPERATURE))
    cooling: float = parameter(0.98, factor)
    plateau: int = parameter(1000, positive)
    batch: int = parameter(256, positive, recorded=False)
    restart: int = parameter(0, natural)
    name, rule, draws = "annealing", ANNEAL, True

    def cooling_table(self, start: float = 0.0) -> np.ndarray:
        """Return the factor, -ln(u) in the middle of 4096 intervals, and with restarts the temperature ``start``."""
        u = (np.arange(COOLING - 1) + 0.5) / (COOLING - 1)
        return np.concatenate([[self.cooling], -np.log(u), [start] if self.restart else []]).astype(np.float32)


@checked_class
@dataclass(frozen=True, repr=False)
class Rule(Algorithm):
    """Draw neighbours at random and take the first that a function accepts; an iteration is a draw.

    Parameters
    ----------
    accepts
        ``accepts(draw: Draw, parameters: YourBundle) -> boolean``, a ``@function``; without ``parameters`` it takes the
        draw alone. It decides by the draw and the parameters alone, so that draws can be evaluated side by side.
    parameters
        A ``@bundle`` of numbers and arrays. Other values need no further compilation.
    lag
        Iterations back of ``draw.before``; 0: it is the present cost.
    batch
        Draws evaluated side by side; the trajectory is the same.
    restart
        Draws without a better best solution before a walk begins again; 0: never.

    Raises
    ------
    UserError
        No function, parameters that are no bundle, or a number that is out of range.
    KernelError
        The function has other parameters or another result.
    """

    accepts: Function
    parameters: object = None
    _: KW_ONLY
    lag: int = parameter(0, partial(integer, least=0, most=MOST_LAG))
    batch: int = parameter(256, positive, recorded=False)
    restart: int = parameter(0, natural)
    name, rule, draws, plateau = "rule", CUSTOM, True, MOST_DRAWS

    def __post_init__(self) -> None:
        wanted: dict[str, Any] = {"draw": Draw}
        if self.parameters is not None:
            object.__setattr__(self, "parameters", checked_data("rule", self.parameters))
            wanted["parameters"] = type(self.parameters)
            for row in row_sizes(self.parameters):
                raise UserError(f"the parameters of a rule have the row {row}: expected numbers, arrays")
        check_function("a rule", "accepts", self.accepts, wanted, boolean)
        super().__post_init__()

    def arguments(self) -> list[str]:
        data = [] if self.parameters is None else [repr(self.parameters)]
        return [self.accepts.name, *data, *super().arguments()]

    @property
    def recorded_parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record; the function and arrays by their digests."""
        values = super().recorded_parameters
        values |= {"rule": self.accepts.name, "rule_digest": source_digest([self.accepts])[:16]}
        for name in () if self.parameters is None else fields_of(type(self.parameters)):
            value = getattr(self.parameters, name)
            is_array = isinstance(value, np.ndarray)
            values[f"parameter_{name}"] = hashlib.sha256(value.tobytes()).hexdigest()[:16] if is_array else value
        return values


ALGORITHMS: dict[str, Algorithm] = {
    one.name: one
    for one in (
        HillClimbing(),
        HillClimbing(first=True),
        TabuSearch(),
        IteratedLocalSearch(),
        VariableNeighbourhoodSearch(),
        SimulatedAnnealing(),
    )
}
"""Algorithms with default parameters, by their names in programs."""
