"""Kernels of the paper's mapping of Ant System: pheromone up to its largest."""

import numpy as np

from core.ant_colony.kernels import published_ants
from core.ant_colony.kernels.ants import Ant
from core.ant_colony.kernels.pheromone import Update
from core.ant_colony.kernels.published_ants import PheromoneMatrix

LARGEST = 2**32 - 1
N = 7
START = [1, 5, 2**31, LARGEST - 10, LARGEST]
"""Pheromone before the update; the last values overflow the largest."""


def updated(backend, launch):
    """Pheromone of all edges after an update by three ants, and by equations 2 and 3 up to the largest."""
    rng = np.random.default_rng(1)
    before = np.triu(rng.choice(np.array(START, np.uint32), (N, N)), 1)
    before = before + before.T
    tours = np.array([np.arange(N), np.arange(N), rng.permutation(N)], np.uint16)
    lengths = np.array([2, 3, 1000], np.uint32)
    update = Update(rho=2**22, quota=3 * 2**29, lower_bound=2, floor_ratio=1, stagnation=0, smoothing=0)
    trails = backend.load(PheromoneMatrix(before.reshape(-1), N))
    ants = backend.rows(Ant(n=N, first=0), len(tours))
    backend.write(ants.tour, tours.reshape(-1))
    backend.write(ants.length, lengths)
    launch(ants, update, trails)
    right = before.astype(object) - (before.astype(object) * update.rho >> 32)
    for tour, length in zip(tours.tolist(), lengths.tolist(), strict=True):
        for i, j in zip(tour, tour[1:] + tour[:1], strict=True):
            right[i, j] += update.quota // length
            right[j, i] += update.quota // length
    assert (right > LARGEST).sum() >= 4
    return backend.download(trails.pheromone).tolist(), [min(sum_, LARGEST) for sum_ in right.reshape(-1).tolist()]


def test_one_lane_or_all_lanes_update_pheromone_up_to_its_largest(backend):
    lanes = min(N, backend.capabilities.max_team_size)

    def alone(*arguments):
        backend.launch(published_ants.update_by_one_lane, 1, 1, *arguments)

    def both(ants, update, trails):
        backend.launch(published_ants.evaporate_edges, 3, lanes, trails, update)
        backend.launch(published_ants.deposit_edges, 2, lanes, ants, update, trails)

    for launch in (alone, both):
        pheromone, right = updated(backend, launch)
        assert pheromone == right
