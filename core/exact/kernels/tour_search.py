"""Shared data and results of lanes that search for a shortest tour."""

from __future__ import annotations

from core.exact.kernels.city_sets import ROW
from core.lang import *


@bundle
class TourSearch:
    """Shared data of all lanes.

    Attributes
    ----------
    limit : Array, 1
        Tours below this length are searched for.
    nodes : Array
        Number of nodes of each depth.
    counted : Array, 1
        Number of tours shorter than ``limit``, if they are counted; then ``limit`` is constant.
    """

    limit: Array[i32]
    nodes: Array[u64]
    counted: Array[u64]


@bundle
class BestTour:
    """Length and cities of the shortest tour that a lane has found below the limit."""

    length: Array[i32] = Row(1)
    tour: Array[u8] = Row(ROW)


@function
def lower_limit(limit: i32, search: TourSearch) -> i32:
    """Lower the limit of all lanes; return the least limit of any lane."""
    least = atomic_min(search.limit, 0, limit)
    return min(limit, least)


@function
def record_result(counted: u64, limit: i32, search: TourSearch, counting: Const[boolean]):
    """Add the number of tours that a lane has counted, or lower the limit to its shortest tour."""
    if not counting:
        atomic_min(search.limit, 0, limit)
    elif counted > 0:
        atomic_add(search.counted, 0, counted)
