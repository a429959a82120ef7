"""Travelling salesman problem: instances, lengths of tours, and the problem for local search.

`instance` is below the readers and generators in `core.problems.instances`. They are below this module, whose `load`
calls them all.
"""

import os

from core.problems.tsp.instance import FEWEST_CITIES, MOST_CITIES, TspInstance, checked_tour, tour_length

__all__ = ["FEWEST_CITIES", "MOST_CITIES", "TspInstance", "checked_tour", "load", "tour_length"]


def load(spec: str, data: str | os.PathLike | None = None) -> TspInstance:
    """Return an instance by path, name or generator specification.

    Parameters
    ----------
    spec : str
        A TSPLIB file; a name such as "kroA100", looked up as `core.problems.instances.sources.load` says; or
        "uniform:100:seed=1" and its like, see `core.problems.instances.generators`.
    data : path, optional
        Folder of instances, searched first.

    Raises
    ------
    InstanceError
        Nothing of that name at hand, or a file that is not a valid instance.
    """
    # here, because ranks that receive an instance import this module and load none
    from core.problems.instances import sources

    return sources.load(spec, data)
