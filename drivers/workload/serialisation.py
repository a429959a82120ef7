"""Problems as bytes for other processes: by name what these can import, by value what a notebook's cells define."""

from __future__ import annotations

import pickle
from typing import Any

from core.errors import UserError


def serialise(problem: Any) -> bytes:
    """A problem or options as bytes, which `pickle.loads` reads.

    Raises
    ------
    UserError
        Something in it cannot be pickled.

    """
    try:
        # Other ranks run the same program, so what it defines has a name for them, and nothing more is imported.
        return pickle.dumps(problem, pickle.HIGHEST_PROTOCOL)
    except (AttributeError, TypeError, pickle.PicklingError):
        return serialise_by_value(problem)


def serialise_by_value(problem: Any) -> bytes:
    """The same, with the classes and kernel functions of the program that runs now.

    Raises
    ------
    UserError
        Something in it cannot be pickled.

    """
    import cloudpickle

    try:
        found: bytes = cloudpickle.dumps(problem)
    except (TypeError, pickle.PicklingError) as error:
        name = getattr(problem, "name", "an option")
        raise UserError(f"{name} cannot be serialised for other processes: {error}") from None
    return found
