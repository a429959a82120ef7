"""The README's own problem and its kernel do what the README says, on every backend."""

import importlib.util
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from core.search.local_search import HillClimbing, Iterations, LocalSearch, TabuSearch, check

README = Path(__file__).parents[3] / "README.md"


def module_of(heading, folder):
    """The module that a reader would copy from a section of the README."""
    section = README.read_text().split(f"## {heading}", 1)[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 40
    path = folder / f"{folder.name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    return module_of("Your own problem in 40 lines", tmp_path_factory.mktemp("problem"))


@pytest.fixture(scope="module")
def climber(tmp_path_factory):
    return module_of("A kernel", tmp_path_factory.mktemp("kernel"))


@pytest.mark.parametrize("name", ["flip1", "flip2", "flip3"])
@pytest.mark.parametrize("algorithm", [TabuSearch(), HillClimbing()], ids=["tabu", "hill"])
def test_every_backend_searches_the_readme_s_problem(backend, labs, name, algorithm):
    cpu = CpuBackend(CpuBackend.devices()[0])
    problem = labs.Labs(7)
    expected = LocalSearch(cpu, Solo(), problem, algorithm, name).run(Iterations(6))
    found = LocalSearch(backend, Solo(), problem, algorithm, name).run(Iterations(6))
    assert found._replace(solution=None) == expected._replace(solution=None)
    assert problem.cost(found.solution) == found.cost


def test_the_readme_s_problem_passes_its_check(labs):
    check(labs.Labs(9))


@pytest.mark.parametrize(("n", "optimum"), [(7, 3), (11, 5), (13, 6)])  # Barker sequences
def test_tabu_search_finds_the_barker_sequences(labs, n, optimum):
    problem = labs.Labs(n)
    assert problem.cost([1] * n) == sum((n - lag) ** 2 for lag in range(1, n))
    cpu = CpuBackend(CpuBackend.devices()[0])
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip1", level="algorithm", walks=30)
    assert search.run(Iterations(100)).cost == optimum


# --- a kernel ---


def climbed(tour, distances):
    """2-opt by best improvement in plain NumPy; of equal moves the first."""
    n, tour = len(tour), tour.copy()

    def length(one):
        return int(distances[one, np.roll(one, -1)].sum())

    while True:
        turned = []
        for i, j in itertools.combinations(range(n), 2):
            if j > i + 1 and (i, j) != (0, n - 1):
                turned.append(np.concatenate([tour[: i + 1], tour[i + 1 : j + 1][::-1], tour[j + 1 :]]))
        best = min(turned, key=length)
        if length(best) >= length(tour):
            return tour
        tour = best


@pytest.mark.parametrize("n", [4, 5, 12])
def test_the_readme_s_kernel_climbs_as_plain_numpy_does(backend, climber, n):
    random = np.random.default_rng(n)
    half = np.triu(random.integers(1, 20, (n, n)), 1)  # with ties
    distances = half + half.T
    tours = np.array([random.permutation(n) for _ in range(5)], np.int32)
    expected = [climbed(tour, distances).tolist() for tour in tours]
    assert n == 4 or expected != tours.tolist()
    given = backend.upload(distances.astype(np.int32).reshape(-1))
    lanes = min(4, backend.capabilities.max_team_size)
    for teams, team_size in ((1, 1), (2, lanes), (5, 1)):
        climbers = backend.rows(climber.Climber(n=n), len(tours))
        backend.write(climbers.tour, tours.reshape(-1))
        backend.launch(climber.climb, teams, team_size, climbers, given)
        assert backend.download(climbers.tour).reshape(-1, n).tolist() == expected
