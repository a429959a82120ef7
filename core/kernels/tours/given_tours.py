"""Descents by moves of three edges from given tours, such as those of ants."""

from __future__ import annotations

from core.kernels.tours.three_opt import descend
from core.kernels.tours.tour_array import COUNT, HEAD, LOGGED, LOGS, CityLists, TourWalk
from core.lang import *


@kernel
def improve_given_tours(tours: Array[u16], count: i32, walks: Rows[TourWalk], cities: CityLists):
    """Replace each of ``count`` tours by a local optimum; a team descends in the memory of the walk of its number.

    At first all cities are in the queue, in the order of the tour.
    """
    winner = shared_array(1, u64)
    walk = walks[team_rank()]
    for t in range(team_rank(), count, walks.count):
        for p in range(lane(), walk.n, team_size()):
            city = i32(tours[t * walk.n + p])
            walk.tour[p] = city
            walk.place[city] = p
            walk.queue[p] = city
        for k in range(lane(), walk.words, team_size()):
            walk.waiting[k] = 0xFFFFFFFF
        if lane() == 0:
            walk.line[HEAD] = 0
            walk.line[COUNT] = walk.n
            walk.line[LOGGED] = 0
            walk.line[LOGS] = 0
        barrier()
        descend(walk, cities, winner)
        barrier()
        for p in range(lane(), walk.n, team_size()):
            tours[t * walk.n + p] = u16(walk.tour[p])
        barrier()
