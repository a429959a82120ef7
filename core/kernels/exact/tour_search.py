"""Shared data and private state of lanes that search for a shortest tour."""

from __future__ import annotations

from core.kernels.exact.city_sets import ROW
from core.lang import *


@bundle
class TourSearch:
    """What all lanes share.

    Attributes
    ----------
    limit : Array, 1
        The length that a tour must beat.
    nodes : Array
        Adds the nodes of each depth.
    counted : Array, 1
        Adds the tours shorter than ``limit``, where they are counted: ``limit`` stays then.
    """

    limit: Array[i32]
    nodes: Array[u64]
    counted: Array[u64]


@bundle
class BestTour:
    """The shortest tour that one lane met, if it met any below the limit: its length and its cities."""

    length: Array[i32] = Row(1)
    tour: Array[u8] = Row(ROW)


@function
def lower_limit(limit: i32, search: TourSearch) -> i32:
    """Tell all lanes of a limit; the least that any lane told of."""
    least = atomic_min(search.limit, 0, limit)
    return min(limit, least)


@function
def record_result(counted: u64, limit: i32, search: TourSearch, counting: Const[boolean]):
    """Add what a lane counted, or tell of the shortest tour that it met."""
    if not counting:
        atomic_min(search.limit, 0, limit)
    elif counted > 0:
        atomic_add(search.counted, 0, counted)
