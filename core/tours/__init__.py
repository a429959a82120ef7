"""Tours of cities: instances and scorer, distances, start tours, near cities, the local search problem.

A `TspInstance` has coordinates or distances; `TspTour` is its `Problem`. `load` makes an instance by name; others also
import `instance`, `problem`, `distances`, `tour_files`, `small_tours`, `start_tours`, `neighbour_lists` and
`alpha_nearness`. Readers of instances import `generators` and `tsplib_layout`; they belong in `core.instances`.
"""

import os
from collections.abc import Sequence

from core.errors import warn_caller
from core.tours.instance import FEWEST_CITIES, MOST_CITIES, TspInstance, tour_length

__all__ = ["FEWEST_CITIES", "MOST_CITIES", "TspInstance", "load", "tour_length"]


def load(
    spec: str, data: str | os.PathLike | None = None, *, drop: str | Sequence[str] = (), symmetric: bool = True
) -> TspInstance:
    """Return an instance by path, name or generator specification, with a warning for each of its `notes`.

    ``spec`` is a TSPLIB file, a name such as "kroA100" (see `core.instances.sources.load`) or a specification
    such as "uniform:100:seed=1" (see `core.tours.generators`). ``data`` is a folder of instances, searched
    first. ``drop`` has names of keys and sections of the file that no search obeys, such as "FIXED_EDGES_SECTION": the
    instance is that of the file without them. Asymmetric distances are refused unless ``symmetric`` is False.

    Raises `InstanceError` if nothing has that name, or for an invalid file.
    """
    # here, because ranks that receive an instance import this module and load none
    from core.instances import sources

    instance = sources.load(spec, data, drop=(drop,) if isinstance(drop, str) else tuple(drop), symmetric=symmetric)
    for note in instance.notes:
        warn_caller(note)
    return instance
