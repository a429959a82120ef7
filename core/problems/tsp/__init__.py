"""The travelling salesman problem as the rest of the suite sees it: an instance by its name, and how long a tour is.

What an instance is stands in `tsp_instance`, below the readers and generators that make one; this module stands above
them, so that `load` can ask them all.
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
