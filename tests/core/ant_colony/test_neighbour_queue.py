"""The local search by neighbour lists makes the tours of a plain-list model, whatever the lanes and the teams."""

import numpy as np
import pytest

from backends.python import PythonBackend
from core import tours as tsp
from core.ant_colony.kernels.neighbour_queue import NEAR, climb_queue
from core.hill_climbing.kernels.climbs import Climbs
from tests.core.hill_climbing.near_climbs import climbed, near_lists


def padded(lists, width=NEAR):
    """The lists as the kernel reads them: flat, padded with the city itself."""
    return np.array([near + [i] * (width - len(near)) for i, near in enumerate(lists)], np.uint16).reshape(-1)


def run(backend, distances, tours, lists=None, *, teams=1, team_size=1):
    """Return the kernel's tours as lists; the ticket must be empty afterwards."""
    lists = near_lists(distances) if lists is None else lists
    tours = np.array(tours, np.uint16)
    on_device = backend.upload(tours.reshape(-1))
    ticket = backend.upload(np.zeros(1, np.uint32))
    tables = backend.upload(distances.reshape(-1)), backend.upload(padded(lists))
    climbs = Climbs(tours.shape[1], on_device, len(tours), ticket)
    backend.launch(climb_queue, teams, team_size, climbs, *tables)
    assert int(backend.download(ticket)[0]) == len(tours) + teams  # every team asked once more in vain
    return backend.download(on_device).reshape(tours.shape).tolist()


def random_tours(n, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.permutation(n).tolist() for _ in range(count)]


def symmetric(values, n):
    matrix = np.zeros((n, n), np.uint32)
    matrix[np.triu_indices(n, 1)] = values
    return matrix + matrix.T


def with_duplicates(spec, n):
    """An instance of ``n`` cities, a third of which are duplicates."""
    sites = tsp.load(spec).distances
    chosen = np.random.default_rng(n).integers(len(sites), size=n)
    return np.ascontiguousarray(sites[np.ix_(chosen, chosen)])


def few_values(n, most, dtype=np.uint16):
    """Few distances with many ties, without the triangle inequality."""
    values = np.random.default_rng(n).integers(1, most + 1, n * (n - 1) // 2)
    return symmetric(values, n).astype(dtype)


INSTANCES = {
    **{f"uniform {n}": lambda n=n: tsp.load(f"uniform:{n}:seed={n}").distances for n in (5, 6, 8, 17, 33, 60)},
    **{f"clustered {n}": lambda n=n: tsp.load(f"clustered:{n}:seed=1").distances for n in (9, 40)},
    **{f"grid {n}": lambda n=n: tsp.load(f"grid:{n}:seed=2").distances for n in (5, 12, 36)},
    **{f"duplicates {n}": lambda n=n: with_duplicates(f"uniform:{2 * n // 3}:seed=4", n) for n in (6, 18, 51)},
    **{f"ties {n}": lambda n=n: few_values(n, 3) for n in (5, 15, 45)},
    "one place 20": lambda: np.zeros((20, 20), np.uint16),
    "wide 31": lambda: few_values(31, 2**31 // 32, np.uint32),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_a_climb_is_the_plain_climb(cpu, name):
    distances = INSTANCES[name]()
    tours = random_tours(len(distances), 15)
    lists = near_lists(distances)
    assert run(cpu, distances, tours) == [climbed(distances, tour, lists) for tour in tours]


@pytest.mark.parametrize("most", [0, 1, 3, 7])
def test_short_lists_are_filled_up_with_the_city_itself(cpu, most):
    for name in ("uniform 33", "duplicates 18", "ties 15"):
        distances = INSTANCES[name]()
        tours, lists = random_tours(len(distances), 10, seed=1), near_lists(distances, most)
        queue = run(cpu, distances, tours, lists)
        assert queue == [climbed(distances, tour, lists) for tour in tours]
        assert (queue == tours) == (most == 0)


@pytest.mark.parametrize(("name", "team_size"), [("duplicates 18", 1), ("grid 12", 4), ("uniform 8", 32)])
def test_the_plain_climb_on_every_backend_in_any_teams(backend, name, team_size):
    if team_size > backend.capabilities.max_team_size:
        pytest.skip(f"teams of 1 to {backend.capabilities.max_team_size} lanes")
    distances = INSTANCES[name]()
    tours = random_tours(len(distances), 2 if backend.name == "python" else 10)
    expected = [climbed(distances, tour) for tour in tours]
    for teams in (2, len(tours) + 3):
        assert run(backend, distances, tours, teams=teams, team_size=team_size) == expected


LARGE = [("grid 12", 32), ("ties 45", 1), ("duplicates 51", 7), ("wide 31", 32), ("uniform 60", 128)]


@pytest.mark.parametrize(
    ("name", "team_size"),
    [
        *(("duplicates 18", 4), ("ties 15", 4), ("uniform 8", 32)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in LARGE),
    ],
)
def test_lanes_do_not_race(name, team_size):
    distances = INSTANCES[name]()
    tours = random_tours(len(distances), 1, seed=3)
    expected = [climbed(distances, tour) for tour in tours]
    for reverse in (False, True):
        backend = PythonBackend(PythonBackend.devices()[0], reverse=reverse)
        assert run(backend, distances, tours, team_size=team_size) == expected
