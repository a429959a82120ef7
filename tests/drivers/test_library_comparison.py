"""Comparisons from Python: a problem that only this process knows is run on devices and ranks, and drawn."""

import linecache
import subprocess
import sys
from pathlib import Path

import pytest

import onekernel as ok
from core.errors import UserError
from drivers.library import serialised_problem
from drivers.library.comparison import compare, options_of_algorithm
from tests import lightest

CELL = Path(lightest.__file__).read_text().partition("if __name__")[0]
OTHER = """
import sys
from pathlib import Path
from core.local_search import check
from drivers.library.serialised_problem import load_problem
problem = load_problem(Path(sys.argv[1]))
check(problem)
print(problem.sha256, problem.cost([1] * 9))
"""


@pytest.fixture
def problem_class():
    """A class that no other process can import: its source is a notebook's cell, in linecache only."""
    name = "/tmp/ipykernel_1/2603415.py"
    linecache.cache[name] = len(CELL), None, CELL.splitlines(True), name
    scope = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), scope)
    yield scope["Lightest"]
    del linecache.cache[name]


def test_a_notebooks_problem_goes_to_another_process(problem_class, tmp_path, environment):
    path = tmp_path / "lightest.problem"
    problem = problem_class(9)
    serialised_problem.save_problem(problem, path)
    said = subprocess.run(
        [sys.executable, "-c", OTHER, str(path)], env=environment, capture_output=True, text=True, timeout=100
    )
    assert said.stdout.split() == [problem.sha256, "9"], said.stderr


def test_what_is_no_problem_is_refused(tmp_path):
    (tmp_path / "text").write_text("a problem")
    for path, why in ((tmp_path / "text", "expected a problem"), (tmp_path / "missing", "cannot read it")):
        with pytest.raises(UserError, match=why):
            serialised_problem.load_problem(path)


def test_devices_and_ranks_do_equal_work(problem_class, tmp_path, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    settings = dict(pyplot.rcParams)
    comparison = compare(
        problem_class(10), ok.TabuSearch(tenure=2), backends=["cpu", "threads"], ranks=[2], oversubscribe=True,
        out=tmp_path, repeats=1, iterations=20,
    )  # fmt: skip
    assert comparison.complete and comparison.report.is_file() and comparison.records.is_file()
    assert {(run.backend, run.ranks) for run in comparison.runs} == {("cpu", 1), ("threads", 1), ("cpu", 2)}
    assert {run.best_cost for run in comparison.runs} == {-6} and len({run.hash for run in comparison.runs}) == 1
    assert {run.parameters["tenure"] for run in comparison.runs} == {2}
    assert "20 iterations proved equal" in str(comparison)
    assert dict(pyplot.rcParams) == settings  # a notebook shows its pictures as before
    (axes,) = comparison.plot()
    assert len(axes.patches) == 3 and "lightest on lightest:10" in axes.get_title()
    pyplot.close(axes.figure)


def test_another_instance_of_the_same_name_needs_fresh_records(problem_class, tmp_path):
    problem = problem_class(5)
    ok.minimize(problem, backend="cpu", iterations=5, record=tmp_path / "compare-lightest.jsonl")
    problem.weights[0] += 1
    with pytest.raises(UserError, match=r"compare-lightest.jsonl: found runs of .*: expected --rerun, another --out"):
        compare(problem, backends=["cpu"], out=tmp_path, repeats=1, iterations=5)


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (ok.TabuSearch(tenure=0, tabu_memory="moves"), {"algorithm": "tabu", "tenure": 0, "tabu_memory": "moves"}),
        (ok.HillClimbing(first=True), {"algorithm": "first"}),
        (ok.SimulatedAnnealing(cooling=0.5), {"algorithm": "annealing", "cooling": 0.5}),
    ],
)
def test_algorithms_become_options(algorithm, options):
    assert options_of_algorithm(algorithm) == options
    with pytest.raises(UserError, match="no options describe it"):
        options_of_algorithm(ok.IteratedLocalSearch(first=True))
