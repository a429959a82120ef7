"""The README's own problem does what the README says, on every backend."""

import importlib.util
import re
from pathlib import Path

import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from core.search.local_search import HillClimbing, Iterations, LocalSearch, TabuSearch, check

README = Path(__file__).parents[3] / "README.md"


@pytest.fixture(scope="module")
def labs(tmp_path_factory):
    """The module that a reader would copy from the README."""
    section = README.read_text().split("## Your own problem in 40 lines", 1)[1]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 40
    path = tmp_path_factory.mktemp("readme") / "labs.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location("labs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["flip1", "flip2", "flip3"])
@pytest.mark.parametrize("algorithm", [TabuSearch(), HillClimbing()], ids=["tabu", "hill"])
def test_every_backend_searches_the_readme_s_problem(backend, labs, name, algorithm):
    cpu = CpuBackend(CpuBackend.devices()[0])
    problem = labs.Labs(7)
    expected = LocalSearch(cpu, Solo(), problem, algorithm, name).run(Iterations(6))
    found = LocalSearch(backend, Solo(), problem, algorithm, name).run(Iterations(6))
    assert found[:-1] == expected[:-1]
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
