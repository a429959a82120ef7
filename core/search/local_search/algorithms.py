"""The members of the family: which neighbour each takes, and what it does at a local optimum.

Tabu search after Glover (1989) and Taillard (1991); iterated local search after Lourenco, Martin and Stutzle (2003);
variable neighbourhood search after Hansen and Mladenovic (2001); simulated annealing after Kirkpatrick (1983).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.arguments import flag, integer, number, refuse
from core.errors import UserError
from core.kernels.local_search.hooks import ANNEAL, BEST, FIRST, HALT, SHAKE_EVENLY, SHAKE_HARDER, TABU
from core.kernels.local_search.walks import COOLING

MOST_SHAKES = 255


class Algorithm(NamedTuple):
    """One algorithm with its parameters; the functions below make it.

    Attributes
    ----------
    name : str
    rule, at_optimum : int
        See `core.kernels.local_search.hooks`.
    strength : int
        Random moves that shake a local optimum (at most, if they grow).
    tenure, tenure_span : int or None
        A move stays forbidden for ``tenure`` to ``tenure + tenure_span`` iterations; None: chosen from the problem.
    tabu_memory : str
        ``attributes`` (what a move takes away may not come back) or ``moves`` (the same move may not be made again),
        or ``auto``: attributes where the neighbourhood has them.
    temperature, cooling : float
        Of the start, and the factor applied after each plateau; temperature 0: chosen from random moves.
    plateau, batch : int
        Draws at one temperature, and draws looked at side by side.

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

    @property
    def parameters(self) -> dict[str, object]:
        """What decides the trajectory, for the record."""
        kept: dict[str, object] = {"algorithm": self.name}
        if self.rule == TABU:
            kept |= {"tenure": self.tenure, "tenure_span": self.tenure_span, "tabu_memory": self.tabu_memory}
        if self.at_optimum != HALT:
            kept["strength"] = self.strength
        if self.rule == ANNEAL:
            kept |= {"temperature": self.temperature, "cooling": self.cooling, "plateau": self.plateau}
        return kept


def checked_algorithm(algorithm: object) -> Algorithm:
    """The algorithm itself; raises `UserError` for anything else."""
    if not isinstance(algorithm, Algorithm):
        refuse("algorithm", algorithm, "an algorithm such as TabuSearch()")
    return algorithm


def HillClimbing(first: bool = False) -> Algorithm:  # noqa: N802
    """Take the best neighbour, or the first better one by index, until there is none."""
    return Algorithm("first" if flag("first", first) else "hill", FIRST if first else BEST)


def TabuSearch(  # noqa: N802
    tenure: int | None = None, tenure_span: int | None = None, tabu_memory: str = "auto"
) -> Algorithm:
    """Take the best neighbour that is not forbidden, or that is better than the best so far (aspiration)."""
    for name, value in (("tenure", tenure), ("tenure_span", tenure_span)):
        if value is not None:
            integer(name, value, 0)
    if tabu_memory not in ("auto", "attributes", "moves"):
        raise UserError(f"tabu search that remembers {tabu_memory!r}: expected auto, attributes or moves")
    return Algorithm("tabu", TABU, tenure=tenure, tenure_span=tenure_span, tabu_memory=tabu_memory)


def IteratedLocalSearch(strength: int = 3, first: bool = False) -> Algorithm:  # noqa: N802
    """Shake each local optimum by ``strength`` random moves; a worse one is given up for the last one kept."""
    return Algorithm("ils", FIRST if flag("first", first) else BEST, SHAKE_EVENLY, strength=_shakes(strength))


def VariableNeighbourhoodSearch(strength: int = 5) -> Algorithm:  # noqa: N802
    """Descend through all neighbourhoods; shake by 1, 2 ... ``strength`` moves, from 1 again after a success."""
    return Algorithm("vns", BEST, SHAKE_HARDER, strength=_shakes(strength))


MOST_TEMPERATURE = 1e30
MOST_DRAWS = 2**31 - 1


def SimulatedAnnealing(  # noqa: N802
    temperature: float = 0.0, cooling: float = 0.98, plateau: int = 1000, batch: int = 256
) -> Algorithm:
    """Draw neighbours at random and take the first that Metropolis' rule accepts; an iteration is a draw.

    Draws are looked at in batches, side by side; those behind an accepted one are drawn again from there, so the
    trajectory is that of one draw after the other.
    """
    number("temperature", temperature), number("cooling", cooling)
    integer("plateau", plateau), integer("batch", batch)
    if not 0 < cooling <= 1:
        raise UserError(f"simulated annealing with a cooling factor of {cooling}: expected more than 0, at most 1")
    if not 0 <= temperature < MOST_TEMPERATURE:
        raise UserError(
            f"simulated annealing at temperature {temperature}: expected 0 (chosen by itself) to {MOST_TEMPERATURE:.0e}"
        )
    if not (1 <= plateau <= MOST_DRAWS and 1 <= batch <= MOST_DRAWS):
        raise UserError(f"simulated annealing with plateau {plateau} and batch {batch}: expected 1 to {MOST_DRAWS}")
    return Algorithm("annealing", ANNEAL, temperature=temperature, cooling=cooling, plateau=plateau, batch=batch)


def _shakes(strength: int) -> int:
    if not 1 <= integer("strength", strength) <= MOST_SHAKES:
        raise UserError(f"a shake of {strength} random moves: expected 1 to {MOST_SHAKES}")
    return strength


def cooling_table(factor: float) -> np.ndarray:
    """Values of `core.kernels.local_search.walks.COOLING`: the factor, and -ln(u) in the middle of 4096 intervals."""
    u = (np.arange(COOLING - 1) + 0.5) / (COOLING - 1)
    return np.concatenate([[factor], -np.log(u)]).astype(np.float32)
