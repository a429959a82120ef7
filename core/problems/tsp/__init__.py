"""Travelling salesman problem: instance and scorer, distances, tour files, and the problem for local search.

A `TspInstance` has coordinates or distances; `TspTour` is its `Problem`. `load` makes an instance by name; others also
import `instance`, `problem`, `distances`, `tour_files`, `small_tours`. Readers of instances import `generators` and
`tsplib_layout`; they belong in `core.problems.instances`. Kernels of other searches belong in `core.kernels`.
"""

import os

from core.problems.tsp.instance import FEWEST_CITIES, MOST_CITIES, TspInstance, tour_length

__all__ = ["FEWEST_CITIES", "MOST_CITIES", "TspInstance", "load", "tour_length"]


def load(spec: str, data: str | os.PathLike | None = None) -> TspInstance:
    """Return an instance by path, name or generator specification.

    ``spec`` is a TSPLIB file, a name such as "kroA100" (see `core.problems.instances.sources.load`) or a specification
    such as "uniform:100:seed=1" (see `core.problems.tsp.generators`). ``data`` is a folder of instances, searched
    first.

    Raises `InstanceError` if nothing has that name, or for an invalid file.
    """
    # here, because ranks that receive an instance import this module and load none
    from core.problems.instances import sources

    return sources.load(spec, data)
