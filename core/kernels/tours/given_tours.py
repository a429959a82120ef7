"""Descents by moves of three edges from given tours, such as those of ants."""

from __future__ import annotations

from core.kernels.tours.three_opt import descend
from core.kernels.tours.tour_array import COUNT, HEAD, LOGGED, LOGS, CityLists, TourWalk
from core.lang import *


@kernel
def improve_given_tours(tours: Array[u16], count: i32, walks: Rows[TourWalk], cities: CityLists):
    """Replace each of ``count`` tours by a local optimum; a team descends in the memory of the walk of its number.

    All cities wait at first, in the order of the tour.
    """
    winner = shared_array(1, u64)
    one = walks[team_rank()]
    for t in range(team_rank(), count, walks.count):
        for p in range(lane(), one.n, team_size()):
            city = i32(tours[t * one.n + p])
            one.tour[p] = city
            one.place[city] = p
            one.queue[p] = city
        for k in range(lane(), one.words, team_size()):
            one.waiting[k] = 0xFFFFFFFF
        if lane() == 0:
            one.line[HEAD] = 0
            one.line[COUNT] = one.n
            one.line[LOGGED] = 0
            one.line[LOGS] = 0
        barrier()
        descend(one, cities, winner)
        barrier()
        for p in range(lane(), one.n, team_size()):
            tours[t * one.n + p] = u16(one.tour[p])
        barrier()
