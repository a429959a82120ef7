"""Many small instances at once: each has the length that a search of it alone proves, on every backend."""

import os
import subprocess
import sys

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.problems.tsp import tour_length
from core.problems.tsp.small_tours import enumerate_tours
from core.search.exact import ExactSearch
from core.search.exact.small_tours import SmallTours
from tests.conftest import ROOT


def random_instances(count, fewest, most, largest, seed=1):
    """Symmetric distances of as many instances, with nonzero diagonals."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        n = int(draw.integers(fewest, most + 1))
        distances = draw.integers(0, largest + 1, (n, n))
        yield np.triu(distances) + np.triu(distances, 1).T


@pytest.mark.parametrize("largest", [1, 9, 10**6])
def test_each_tour_is_as_short_as_the_shortest_of_all_tours(cpu, largest):
    instances = list(random_instances(60, 5, 8, largest))
    for one, found in zip(instances, SmallTours(cpu).run(instances), strict=True):
        assert found.length == enumerate_tours(one).length == tour_length(one, found.tour)
        assert found.length <= found.start_length and found.tour[0] == 0 and found.tour[1] < found.tour[-1]


def test_instances_of_up_to_15_cities_have_the_hash_of_a_search_of_each(cpu):
    instances = list(random_instances(12, 12, 15, 1000))
    alone = [ExactSearch(cpu, Solo(), one).run() for one in instances]
    assert [found.hash for found in SmallTours(cpu).run(instances)] == [found.hash for found in alone]


def test_tours_and_nodes_are_equal_on_every_backend_and_in_any_company(backend, cpu):
    instances = list(random_instances(5, 5, 9, 100))
    outcome, expected = (SmallTours(one).run(instances) for one in (backend, cpu))
    assert [one.tour.tolist() for one in outcome] == [one.tour.tolist() for one in expected]
    assert [one.evaluations for one in outcome] == [one.evaluations for one in expected]
    (alone,) = SmallTours(cpu).run(instances[-1:])
    assert (alone.tour.tolist(), alone.evaluations) == (expected[-1].tour.tolist(), expected[-1].evaluations)


def test_more_instances_than_a_launch_takes(cpu, monkeypatch):
    instances = list(random_instances(7, 5, 7, 50))
    whole = [one.length for one in SmallTours(cpu).run(instances)]
    monkeypatch.setattr("core.search.exact.small_tours.AT_ONCE", 3)
    assert [one.length for one in SmallTours(cpu).run(instances)] == whole
    assert SmallTours(cpu).run([]) == []


@pytest.mark.parametrize(
    ("distances", "said"),
    [
        (np.ones((4, 4), int), "4 cities: expected 5 to 15"),
        (np.ones((16, 16), int), "16 cities: expected 5 to 15"),
        (np.arange(25).reshape(5, 5), "a symmetric"),
        (np.full((5, 5), 1 << 22), "tours of length 20971520: expected below 16777216"),
    ],
)
def test_instances_that_no_lane_can_take_are_refused(cpu, distances, said):
    with pytest.raises(UserError, match=said):
        SmallTours(cpu).run([distances])


SIMULATED = """
import backends
from core.problems import tsp
from core.search.exact.small_tours import SmallTours
simulated = backends.create("cuda")
assert simulated.device.driver == "simulated"
instances = [tsp.load(f"uniform:{n}:seed={n}").distances for n in (5, 6)]
on_gpu, on_core = (SmallTours(one).run(instances) for one in (simulated, backends.create("cpu")))
assert [(one.length, one.nodes) for one in on_gpu] == [(one.length, one.nodes) for one in on_core]
"""


@pytest.mark.slow
def test_the_simulator_of_cuda_finds_the_same():
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    simulated = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SIMULATED]
    done = subprocess.run(command, cwd=ROOT, env=simulated, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
