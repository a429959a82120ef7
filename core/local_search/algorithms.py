"""Algorithms of the family: the neighbour that each takes, and its action at a local optimum.

Tabu search after Glover (1989) and Taillard (1991); iterated local search after Lourenco, Martin and Stutzle (2003);
variable neighbourhood search after Hansen and Mladenovic (2001); simulated annealing after Kirkpatrick (1983). `Rule`
makes others of a function that accepts or rejects random neighbours.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.arguments import checked_call, flag, integer, number, refuse, refuse_choice
from core.errors import UserError
from core.lang import Function, boolean
from core.lang.bundles import fields_of, row_sizes
from core.lang.digest import source_digest
from core.local_search.kernels.hooks import ANNEAL, BEST, CUSTOM, FIRST, HALT, SHAKE_EVENLY, SHAKE_HARDER, TABU
from core.local_search.kernels.walks import COOLING, Draw

MOST_SHAKES = 255


class Algorithm(NamedTuple):
    """One algorithm with its parameters; the functions below make it.

    Attributes
    ----------
    rule, at_optimum : int
        See `core.local_search.kernels.hooks`.
    strength : int
        Random moves that shake a local optimum (at most, if they grow).
    tenure, tenure_span : int or None
        A move stays forbidden for ``tenure`` to ``tenure + tenure_span`` iterations; None: chosen from the problem.
    tabu_memory : str
        ``attributes`` (what a move takes away may not come back) or ``moves`` (the same move may not be made again), or
        ``auto``: attributes where the neighbourhood has them.
    temperature, cooling : float
        Of the start, and the factor applied after each plateau; temperature 0: chosen from random moves.
    plateau, batch : int
        Draws at one temperature, and draws evaluated side by side.
    restart : int
        Iterations without a better best solution before a restart; 0: never. Hill climbing with 1 restarts at local
        optima.
    accepts : Function or None
        The function of a `Rule`.
    rule_data : bundle or None
        Its parameters.
    lag : int
        Iterations back of the ``before`` of a `Draw`.
    """

    name: str
    rule: int
    at_optimum: int = HALT
    strength: int = 1
    tenure: int | None = None
    tenure_span: int | None = None
    tabu_memory: str = "auto"
    temperature: float = 0.0
    cooling: float = 0.98
    plateau: int = 1
    batch: int = 1
    restart: int = 0
    accepts: Function | None = None
    rule_data: Any = None
    lag: int = 0

    @property
    def draws(self) -> bool:
        """True if an iteration is a draw of a random neighbour."""
        return self.rule in (ANNEAL, CUSTOM)

    @property
    def scans(self) -> bool:
        """True if an iteration evaluates whole neighbourhoods."""
        return not self.draws

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record."""
        values: dict[str, object] = {"algorithm": self.name}
        if self.rule == TABU:
            values |= {"tenure": self.tenure, "tenure_span": self.tenure_span, "tabu_memory": self.tabu_memory}
        if self.at_optimum != HALT:
            values["strength"] = self.strength
            values |= {"first": True} if self.rule == FIRST else {}
        if self.rule == ANNEAL:
            values |= {"temperature": self.temperature, "cooling": self.cooling, "plateau": self.plateau}
        if self.accepts is not None:
            values |= {"rule": self.accepts.name, "rule_digest": source_digest([self.accepts])[:16], "lag": self.lag}
            values |= {f"parameter_{name}": recorded(value) for name, value in parameters_of(self.rule_data).items()}
        if self.restart:
            values["restart"] = self.restart
        return values

    def __repr__(self) -> str:
        if self.accepts is not None:
            parameters = "" if self.rule_data is None else f", {self.rule_data!r}"
            return written("Rule", self, {"lag": 0, "batch": 256, "restart": 0}, f"{self.accepts.name}{parameters}")
        maker, usual = WRITTEN[self.name]
        first = "first=True" if self.rule == FIRST else ""
        return written(maker, self, usual, first)


WRITTEN: dict[str, tuple[str, dict[str, object]]] = {
    "hill": ("HillClimbing", {"restart": 0}),
    "first": ("HillClimbing", {"restart": 0}),
    "tabu": ("TabuSearch", {"tenure": None, "tenure_span": None, "tabu_memory": "auto", "restart": 0}),
    "ils": ("IteratedLocalSearch", {"strength": 3, "restart": 0}),
    "vns": ("VariableNeighbourhoodSearch", {"strength": 5, "restart": 0}),
    "annealing": (
        "SimulatedAnnealing",
        {"temperature": 0.0, "cooling": 0.98, "plateau": 1000, "batch": 256, "restart": 0},
    ),
}
"""Function that makes an algorithm, and the usual values of its parameters."""


def written(maker: str, algorithm: Algorithm, usual: dict[str, object], first: str = "") -> str:
    """Return the call that makes an algorithm, with the parameters that have unusual values."""
    named = (f"{name}={getattr(algorithm, name)!r}" for name in usual if getattr(algorithm, name) != usual[name])
    return f"{maker}({', '.join(filter(None, (first, *named)))})"


def parameters_of(data: Any) -> dict[str, Any]:
    """Return the fields of a rule's parameters by name."""
    return {} if data is None else {name: getattr(data, name) for name in fields_of(type(data))}


def recorded(value: Any) -> object:
    """Return a parameter of a rule for the record; of an array its digest."""
    return hashlib.sha256(value.tobytes()).hexdigest()[:16] if isinstance(value, np.ndarray) else value


def checked_algorithm(algorithm: object) -> Algorithm:
    """Return the algorithm. Raises `UserError` for anything else."""
    if not isinstance(algorithm, Algorithm):
        refuse("algorithm", algorithm, "an algorithm such as TabuSearch()")
    return algorithm


@checked_call
def HillClimbing(first: bool = False, restart: int = 0) -> Algorithm:  # noqa: N802
    """Take the best neighbour, or the first better one by index, until there is none.

    With ``restart=1`` a walk begins again at each local optimum.
    """
    name = "first" if flag("first", first) else "hill"
    return Algorithm(name, FIRST if first else BEST, restart=integer("restart", restart, 0, 1))


@checked_call
def TabuSearch(  # noqa: N802
    tenure: int | None = None, tenure_span: int | None = None, tabu_memory: str = "auto", restart: int = 0
) -> Algorithm:
    """Take the best neighbour that is not forbidden, or that is better than the best so far (aspiration).

    A walk begins again after ``restart`` iterations without a better best solution; 0: never.
    """
    for name, value in (("tenure", tenure), ("tenure_span", tenure_span)):
        if value is not None:
            integer(name, value, 0, MOST_DRAWS)
    if tabu_memory not in ("auto", "attributes", "moves"):
        refuse_choice("tabu_memory", tabu_memory, ("auto", "attributes", "moves"))
    return Algorithm(
        "tabu", TABU, tenure=tenure, tenure_span=tenure_span, tabu_memory=tabu_memory, restart=restarts(restart)
    )


@checked_call
def IteratedLocalSearch(strength: int = 3, first: bool = False, restart: int = 0) -> Algorithm:  # noqa: N802
    """Shake each local optimum by ``strength`` random moves; return from a worse one to the last one kept.

    A walk begins again after ``restart`` iterations without a better best solution; 0: never.
    """
    rule = FIRST if flag("first", first) else BEST
    return Algorithm("ils", rule, SHAKE_EVENLY, strength=shakes(strength), restart=restarts(restart))


@checked_call
def VariableNeighbourhoodSearch(strength: int = 5, restart: int = 0) -> Algorithm:  # noqa: N802
    """Descend through all neighbourhoods; shake by 1, 2 ... ``strength`` moves, from 1 again after a success.

    A walk begins again after ``restart`` iterations without a better best solution; 0: never.
    """
    return Algorithm("vns", BEST, SHAKE_HARDER, strength=shakes(strength), restart=restarts(restart))


MOST_TEMPERATURE = 1e30
MOST_DRAWS = 2**31 - 1
restarts = partial(integer, "restart", least=0, most=MOST_DRAWS)
shakes = partial(integer, "strength", least=1, most=MOST_SHAKES)


@checked_call
def SimulatedAnnealing(  # noqa: N802
    temperature: float = 0.0, cooling: float = 0.98, plateau: int = 1000, batch: int = 256, restart: int = 0
) -> Algorithm:
    """Draw neighbours at random and take the first that Metropolis' rule accepts; an iteration is a draw.

    Draws are evaluated in batches, side by side; those behind an accepted one are drawn again from there, so the
    trajectory is that of one draw after the other. A walk begins again, at the first temperature, after ``restart``
    draws without a better best solution; 0: never.
    """
    number("temperature", temperature, 0, MOST_TEMPERATURE)
    if not 0 < number("cooling", cooling) <= 1:
        refuse("cooling", cooling, "a number above 0, at most 1")
    integer("plateau", plateau, 1, MOST_DRAWS), integer("batch", batch, 1, MOST_DRAWS)
    return Algorithm(
        "annealing",
        ANNEAL,
        temperature=temperature,
        cooling=cooling,
        plateau=plateau,
        batch=batch,
        restart=restarts(restart),
    )


MOST_LAG = 1_000_000


@checked_call
def Rule(  # noqa: N802
    accepts: Function, parameters: Any = None, *, lag: int = 0, batch: int = 256, restart: int = 0
) -> Algorithm:
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
    from core.local_search.checks.signatures import check_function
    from core.local_search.problem import checked_data

    data = None if parameters is None else checked_data("rule", parameters)
    if data is not None and row_sizes(data):
        raise UserError(
            f"the parameters of a rule have the row {next(iter(row_sizes(data)))}: expected numbers, arrays"
        )
    wanted = {"draw": Draw} | ({} if data is None else {"parameters": type(data)})
    check_function("a rule", "accepts", accepts, wanted, boolean)
    integer("lag", lag, 0, MOST_LAG), integer("batch", batch, 1, MOST_DRAWS)
    return Algorithm(
        "rule",
        CUSTOM,
        plateau=MOST_DRAWS,
        batch=batch,
        restart=restarts(restart),
        accepts=accepts,
        rule_data=data,
        lag=lag,
    )


def cooling_table(factor: float, start: float | None = None) -> np.ndarray:
    """Return the values of `core.local_search.kernels.walks.COOLING`.

    These are the factor, and -ln(u) in the middle of 4096 intervals. If walks restart, the temperature of the ``start``
    follows.
    """
    u = (np.arange(COOLING - 1) + 0.5) / (COOLING - 1)
    return np.concatenate([[factor], -np.log(u), [] if start is None else [start]]).astype(np.float32)
