"""Kernels of the paper's mapping of Ant System: where the wheel has a city, weights, and pheromone up to its largest."""

import numpy as np
import pytest

from core.kernels import ants_published, pheromone
from core.kernels.ants import Ant
from core.kernels.ants_published import PheromoneMatrix, Place, Scales, WeighingAnt, place_on_wheel, weight
from core.kernels.pheromone import Trails, Update
from core.kernels.roulette import COLUMNS, Choice
from core.lang import Array, Rows, f32, i32, kernel, u32
from core.search.ant_colony.published import PublishedColony

LARGEST = 2**32 - 1
N = 7


@kernel
def places(n: i32, found: Array[i32]):
    """Store every city's place on the wheel."""
    for city in range(n):
        found[city] = place_on_wheel(city, n)


@pytest.mark.parametrize("n", [3, 31, 32, 33, 63, 64, 65, 97, 1024, 1057])
def test_a_city_is_where_a_walk_through_all_columns_meets_it(oracle, n):
    found = oracle.allocate(n, np.int32)
    oracle.launch(places, 1, 1, n, found)
    walk = [city for column in range(COLUMNS) for city in range(column, n, COLUMNS)]
    assert [walk[place] for place in oracle.download(found)] == list(range(n))
    assert PublishedColony.numbered(np.arange(n)).tolist() == walk


# --- weights ---


@kernel
def weights_of_all(ants: Rows[WeighingAnt], trails: PheromoneMatrix, scales: Scales, found: Array[u32]):
    """Store the weights of every way, by an ant that has been nowhere."""
    one = ants[0]
    n = trails.n
    for i in range(n):
        here = Place(i, f32(scales.trails[i]), scales.merits[i], scales.factors[i])
        for j in range(n):
            found[i * n + j] = weight(here, j, one, trails, scales)


def random_trails(rng, n):
    """Symmetric pheromone of very different strength, and a heuristic; none from a city to itself."""
    strengths = np.triu((2.0 ** rng.uniform(0, 31.9, (n, n))).astype(np.uint32), 1)
    heuristic = rng.uniform(2.0**-20, 1, (n, n)).astype(np.float32)
    np.fill_diagonal(heuristic, 0)
    return strengths + strengths.T, heuristic


@pytest.mark.parametrize(("n", "alpha"), [(3, 0), (3, 256), (40, 389), (12, 768)])
def test_an_ant_weighs_a_way_as_the_suites_table_has_it(oracle, n, alpha):
    strengths, heuristic = random_trails(np.random.default_rng(n + alpha), n)
    trails = oracle.load(PheromoneMatrix(strengths.reshape(-1), n))
    later, earlier = np.tril_indices(n, -1)
    once = np.zeros(n * n // 2, np.uint32)
    once[later**2 // 2 + earlier] = strengths[later, earlier]
    packed = oracle.load(Trails(once, np.zeros_like(once), n))
    merits = oracle.upload(heuristic.reshape(-1))
    stride = COLUMNS * -(-n // COLUMNS)
    table = oracle.allocate(n * stride, np.uint32)
    unused = oracle.allocate(1, np.uint16), oracle.allocate(1, np.uint32)
    choice = Choice(table, stride, *unused)
    for begin, end in ((0, 2), (2, n)):
        oracle.launch(pheromone.weigh, 2, 5, begin, end, packed, merits, alpha, choice, False)
    numbers = [oracle.allocate(n, kind) for kind in (np.uint32, np.float32, np.uint32)]
    scales = Scales(merits, *numbers, alpha)
    oracle.launch(ants_published.scale_rows, 2, 3, trails, scales)
    ants = oracle.rows(WeighingAnt(n=n, first=0), 1)
    oracle.write(ants.visited, np.zeros(n, np.uint8))
    found = oracle.allocate(n * n, np.uint32)
    oracle.launch(weights_of_all, 1, 1, ants, trails, scales, found)
    away = ~np.eye(n, dtype=bool)
    right = oracle.download(table).reshape(n, stride)[:, :n]
    assert oracle.download(found).reshape(n, n)[away].tolist() == right[away].tolist()


# --- pheromone ---

START = [1, 5, 2**31, LARGEST - 10, LARGEST]
"""Pheromone before the update; what the last ones get passes the largest."""


def updated(backend, launch):
    """Pheromone of all edges after an update by three ants, and what equations 2 and 3 say, up to the largest."""
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


def test_one_lane_updates_all_pheromone_up_to_its_largest(backend):
    found, right = updated(backend, lambda *given: backend.launch(ants_published.update_alone, 1, 1, *given))
    assert found == right


def test_all_lanes_update_it_up_to_its_largest(backend):
    lanes = min(N, backend.capabilities.max_team_size)

    def both(ants, update, trails):
        backend.launch(ants_published.evaporate_edges, 3, lanes, trails, update)
        backend.launch(ants_published.deposit_edges, 2, lanes, ants, update, trails)

    found, right = updated(backend, both)
    assert found == right
