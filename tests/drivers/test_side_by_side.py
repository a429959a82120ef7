"""Comparisons from Python: a problem that only this process knows is run on devices and ranks, and drawn."""

import linecache
import subprocess
import sys

import numpy as np
import pytest

import onekernel as ok
from core.errors import UserError
from drivers import handed_over
from drivers.algorithms import options_of_algorithm
from drivers.side_by_side import compare, words_of

CELL = '''
import numpy as np
import onekernel as ok


@ok.bundle
class Heap:
    weights: ok.Array[ok.i32]
    n: ok.i32


@ok.function
def added(bits: ok.Array[ok.i32], move: ok.Move, heap: Heap) -> ok.i32:
    return heap.weights[move.i] if bits[move.i] == 0 else -heap.weights[move.i]


class Lightest(ok.Problem):
    """Take as little as possible."""

    delta, neighbourhoods = added, ("flip1",)

    def __init__(self, n):
        self.weights = np.arange(1, n + 1, dtype=np.int32)
        super().__init__(f"lightest:{n}", ok.Bits(n), Heap(self.weights, n))

    def cost(self, bits):
        return int(self.weights[np.asarray(bits) == 1].sum())
'''

OTHER = """
import sys
from pathlib import Path
from core.search.local_search import check
from drivers.handed_over import load
problem = load(Path(sys.argv[1]))
check(problem)
print(problem.sha256, problem.cost([1] * 9))
"""


@pytest.fixture
def lightest():
    """A class that no other process can import: its source is a cell of a notebook, which only linecache knows."""
    name = "/tmp/ipykernel_1/2603415.py"
    linecache.cache[name] = len(CELL), None, CELL.splitlines(True), name
    scope = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), scope)
    yield scope["Lightest"]
    del linecache.cache[name]


def test_a_notebooks_problem_goes_to_another_process(lightest, tmp_path, environment):
    path = tmp_path / "lightest.problem"
    problem = lightest(9)
    handed_over.save(problem, path)
    said = subprocess.run(
        [sys.executable, "-c", OTHER, str(path)], env=environment, capture_output=True, text=True, timeout=100
    )
    assert said.stdout.split() == [problem.sha256, "45"], said.stderr


def test_what_is_no_problem_is_refused(tmp_path):
    (tmp_path / "text").write_text("a problem")
    for path, why in ((tmp_path / "text", "expected a problem"), (tmp_path / "missing", "cannot read it")):
        with pytest.raises(UserError, match=why):
            handed_over.load(path)


def test_devices_and_ranks_do_equal_work(lightest, tmp_path, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = compare(
        lightest(10), ok.TabuSearch(tenure=2), backends=["cpu", "threads"], ranks=[2], oversubscribe=True,
        out=tmp_path, repeats=1, iterations=20,
    )  # fmt: skip
    assert found.complete and found.report.is_file() and found.records.is_file()
    assert {(run.backend, run.ranks) for run in found.runs} == {("cpu", 1), ("threads", 1), ("cpu", 2)}
    assert {run.best_cost for run in found.runs} == {0} and len({run.trajectory_hash for run in found.runs}) == 1
    assert {run.parameters["tenure"] for run in found.runs} == {2}
    assert "equal work" in str(found)
    axes = found.plot()
    assert len(axes.patches) == 3 and "lightest on lightest:10" in axes.get_title()
    pyplot.close(axes.figure)


def test_another_instance_of_the_same_name_needs_fresh_records(lightest, tmp_path):
    problem = lightest(5)
    ok.minimize(problem, backend="cpu", iterations=5, record=tmp_path / "compare-lightest.jsonl")
    problem.weights[0] += 1
    with pytest.raises(UserError, match=r"compare-lightest.jsonl: found runs of .*: expected --fresh, another --out"):
        compare(problem, backends=["cpu"], out=tmp_path, repeats=1, iterations=5)


def test_nothing_runs_on_a_backend_that_is_not_there(lightest, tmp_path):
    with pytest.raises(UserError, match="expected some of .*, found 'abacus'"):
        compare(lightest(5), backends=["abacus"], out=tmp_path)


def test_options_become_words():
    assert words_of("repeats", 3) == ["--repeats", "3"]
    assert words_of("max_iter", [1, 2]) == ["--max-iter", "1", "2"]
    assert words_of("seeds", range(3)) == ["--seeds", "0,1,2"]
    assert words_of("history", True) == ["--history"] and words_of("history", False) == words_of("target", None) == []


def test_algorithms_become_options():
    assert options_of_algorithm(ok.TabuSearch()) == {"algorithm": "tabu"}
    assert options_of_algorithm(ok.TabuSearch(tenure=0, remember="moves")) == {
        "algorithm": "tabu",
        "tenure": 0,
        "remember": "moves",
    }
    assert options_of_algorithm(ok.HillClimbing(first=True)) == {"algorithm": "first"}
    assert options_of_algorithm(ok.SimulatedAnnealing(cooling=0.5)) == {"algorithm": "annealing", "cooling": 0.5}
    with pytest.raises(UserError, match="no options say that"):
        options_of_algorithm(ok.IteratedLocalSearch(first=True))


def test_costs_are_those_of_the_cell(lightest):
    assert lightest(4).cost(np.array([1, 0, 1, 0])) == 4
