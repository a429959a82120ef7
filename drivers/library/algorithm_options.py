"""From an algorithm as Python makes it to the options that say the same on a command line."""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from core.search.local_search import Algorithm
from drivers.options.local_search import ALGORITHMS, SearchOptions


def options_of_algorithm(algorithm: Algorithm) -> dict[str, Any]:
    """The options that make an algorithm, by name; what its maker would choose is left out.

    Raises
    ------
    UserError
        No options make it.

    """
    usual = SearchOptions(algorithm=algorithm.name).chosen_algorithm()
    own = {name: getattr(algorithm, name) for name in ALGORITHMS[algorithm.name]}
    said = {name: value for name, value in own.items() if value != getattr(usual, name)}
    if SearchOptions(algorithm=algorithm.name, **said).chosen_algorithm() != algorithm:
        raise UserError(f"{algorithm}: no options say that: expected best improvement with {algorithm.name}")
    return {"algorithm": algorithm.name, **said}
