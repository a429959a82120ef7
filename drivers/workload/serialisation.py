"""Problems as bytes for other processes: importable objects by name, objects of a notebook's cells by value."""

from __future__ import annotations

import pickle

from core.errors import UserError


def serialise(problem: object) -> bytes:
    """Return a problem or options as bytes for `pickle.loads`. Raises `UserError` if they cannot be pickled."""
    try:
        # Other ranks run the same program, so they find its objects by name, and nothing more is imported.
        return pickle.dumps(problem, pickle.HIGHEST_PROTOCOL)
    except (AttributeError, TypeError, pickle.PicklingError):
        return serialise_by_value(problem)


def serialise_by_value(problem: object) -> bytes:
    """Like `serialise`, with the classes and kernel functions of the running program."""
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(problem)
    except (TypeError, pickle.PicklingError) as error:
        name = getattr(problem, "name", "an option")
        raise UserError(f"{name} cannot be serialised for other processes: {error}") from None
    return content
