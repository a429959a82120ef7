"""The driver of the knapsack problem: what it prints, records and refuses; ranks change nothing but the speed."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from core.problems.knapsack import Knapsack, generate, write
from drivers import knapsack, knapsack_peer

DRIVER = knapsack
SMALL = ["--items", "20", "--capacity", "500", "--seed", "1"]
QUIET = ["--backend", "cpu", "--no-progress"]


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


# --- what comes out ---


def test_a_run_says_what_it_found_how_fast_and_who_confirms_it(drive, tmp_path):
    taken = tmp_path / "taken.txt"
    code, said, error = drive(*SMALL, *QUIET, "--output", taken)
    assert (code, error) == (0, "")
    instance = generate("paper", 20, 500, seed=1)
    chosen = np.zeros(20, bool)
    chosen[[int(line) for line in taken.read_text().splitlines()]] = True
    weight, value = instance.weight_and_value(chosen)
    assert (value, weight <= 500) == (instance.best_value(), True)
    assert said.startswith(
        f"paper:20:500:seed=1: value {value}, weight {weight} of 500, {chosen.sum()} items, 10,020 cells, "
    )
    assert re.search(r"[\d,]+ cells/s, 0 bytes streamed, [\d.]+ s \(compile [\d.]+, transfer [\d.]+, kernel ", said)
    assert re.search(
        r"hash [0-9a-f]{16} of the answer, selection confirmed by the scorer, value confirmed by NumPy\n$", said
    )


def test_tilings_and_rooms_do_the_same_work(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    ways = [[], ["--tiling", "none"], ["--device-memory", "300"], ["--device-memory", "300", "--spill", tmp_path]]
    for way in ways:
        assert drive(*SMALL, *QUIET, *way, "--record", record)[0] == 0
    found = lines(record)
    assert len({(run["trajectory_hash"], run["best_cost"], run["scored"]) for run in found}) == 1
    assert [run["details"]["streamed_bytes"] > 0 for run in found] == [False, False, True, True]
    assert [run["ways"]["tiling"] for run in found] == ["auto", "none", "auto", "auto"]
    details = found[0]["details"]
    assert details["cells"] == 20 * 501 == found[0]["evaluations"]
    assert details["cells_per_second"] == pytest.approx(details["cells"] / details["solve_s"])
    assert (found[0]["workload"], details["method"], details["proved"]) == ("knapsack", "auto", True)


def test_a_value_without_a_selection_is_confirmed_by_numpy_or_not_at_all(drive, monkeypatch):
    assert drive(*SMALL, *QUIET, "--no-trace")[1].endswith(", value confirmed by NumPy\n")
    monkeypatch.setattr(knapsack, "COUNTED_AGAIN", 100)
    assert "value not confirmed: nobody was asked" in drive(*SMALL, *QUIET, "--no-trace")[1]
    assert drive(*SMALL, *QUIET, "--no-trace", "--verify")[1].endswith(", value confirmed by NumPy\n")


def test_a_wrong_answer_is_called_so(drive, monkeypatch, tmp_path):
    monkeypatch.setattr(Knapsack, "best_value", lambda self: 7)
    code, said, _ = drive(*SMALL, *QUIET, "--record", tmp_path / "r.jsonl")
    assert (code, lines(tmp_path / "r.jsonl")[0]["scored"]) == (0, False)
    assert said.endswith(", NOT CONFIRMED: NumPy finds value 7\n")


def test_a_file_with_a_known_optimum_is_held_to_it(drive, tmp_path):
    file = tmp_path / "knap.csv"
    for optimum, verdict in (
        (16, "value confirmed by the file and by NumPy"),
        (17, "NOT CONFIRMED: the file says value 17"),
    ):
        file.write_text(f"knap\nn 3\nc 11\nz {optimum}\ntime 0.00\n1,6,5,1\n2,10,6,0\n3,9,7,1\n-----\n")
        assert f"{verdict}\n" in drive("--instance", file, *QUIET)[1]


def test_branch_and_bound_finds_the_value_and_says_when_it_gave_up(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    code, said, error = drive(*SMALL, *QUIET, "--method", "bb", "--record", record)
    assert (code, error) == (0, "")
    (found,) = lines(record)
    assert (found["best_cost"], found["scored"]) == (generate("paper", 20, 500, seed=1).best_value(), True)
    assert re.search(r" [\d,]+ nodes, [\d,]+ nodes/s, ", said) and found["details"]["nodes"] > 0
    hard = tmp_path / "hard"
    even = np.random.default_rng(1).integers(100, 999, 40) * 2
    write(hard, Knapsack("hard", even, even, 14_001))
    for limit in (["--nodes", "1000"], ["--seconds", "0.01"]):
        code, said, _ = drive("--instance", hard, *QUIET, "--method", "bb", *limit, "--record", record)
        assert code == 0
        assert said.startswith("hard: incumbent of value ")
        assert said.endswith(
            "NOT PROVED: the search gave up, as --nodes or --seconds says, and this is its incumbent\n"
        )
        last = lines(record)[-1]
        assert (last["scored"], last["details"]["proved"]) == (False, False)


@pytest.mark.parametrize("method", ["dp", "bb"])
def test_progress_is_shown_and_changes_nothing(drive, method):
    pytest.importorskip("rich", reason="rich is not installed")
    asked = ["--items", "300", "--capacity", "1000", "--backend", "cpu", "--method", method]
    code, said, error = drive(*asked, "--progress")
    assert code == 0 and re.search(r"cells/s|nodes/s, incumbent \d+", error)
    hashes = [re.search("hash [0-9a-f]+", text)[0] for text in (said, drive(*asked, "--no-progress")[1])]
    assert hashes[0] == hashes[1]


def test_the_first_run_needs_no_options(drive):
    code, said, _ = drive(*QUIET)
    assert code == 0
    assert said.startswith("paper:1500:100000:seed=0: value ")


# --- OR-tools ---

SOLVER = """
import itertools
class SolverType:
    KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER = 5
class KnapsackSolver:
    def __init__(self, kind, name):
        assert kind == 5
    def set_time_limit(self, seconds):
        assert seconds > 0
    def init(self, values, weights, capacities):
        self.given = values, weights[0], capacities[0]
    def solve(self):
        values, weights, capacity = self.given
        fits = lambda some: sum(w for w, taken in zip(weights, some) if taken) <= capacity
        worth = lambda some: sum(v for v, taken in zip(values, some) if taken)
        self.best = max(filter(fits, itertools.product([0, 1], repeat=len(values))), key=worth)
        return worth(self.best)
    def best_solution_contains(self, item):
        return bool(self.best[item])
    def is_solution_optimal(self):
        return True
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A package `ortools` with the given solver."""

    def install(code):
        folder = tmp_path / "packages" / "ortools"
        (folder / "algorithms" / "python").mkdir(parents=True)
        for package in (folder, folder / "algorithms", folder / "algorithms" / "python"):
            (package / "__init__.py").write_text("")
        (folder / "algorithms" / "python" / "knapsack_solver.py").write_text(code)
        monkeypatch.syspath_prepend(str(folder.parent))
        for name in [name for name in sys.modules if name.split(".")[0] == "ortools"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(knapsack_peer.importlib.metadata, "version", lambda name: "9.9")

    yield install
    for name in [name for name in sys.modules if name.split(".")[0] == "ortools"]:
        del sys.modules[name]


def test_ortools_solves_the_same_instance(drive, stand_in, tmp_path):
    stand_in(SOLVER)
    asked = ["--items", "10", "--capacity", "40", *QUIET, "--peers", "--repeats", "2", "--record", tmp_path / "r.jsonl"]
    code, said, _ = drive(*asked)
    assert code == 0
    value = generate("paper", 10, 40, seed=0).best_value()
    first, _, peer, own = said.splitlines()
    assert first.endswith("value confirmed by NumPy and by ortools")
    assert peer.startswith(f"ortools 9.9: value {value}, ") and peer.endswith(" s on one core")
    assert re.fullmatch(rf"this search: value {value}, [\d.]+ s, [\d.]+ times as fast", own)
    (found,) = lines(tmp_path / "r.jsonl")
    assert (found["details"]["peers"][0]["value"], len(found["samples"])) == (value, 2)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise ImportError('no such symbol')", "failed: no such symbol"),
        (SOLVER.replace("<= capacity", "<= 2 * capacity"), "failed: a selection of weight "),
    ],
)
def test_a_peer_that_fails_says_so_and_the_run_goes_on(drive, stand_in, code, told):
    stand_in(code)
    ended, said, _ = drive("--items", "10", "--capacity", "40", *QUIET, "--peers")
    assert ended == 0
    assert said.splitlines()[-1].startswith(f"ortools: {told}")
    assert "value confirmed by NumPy\n" in said


def test_a_peer_that_is_not_here_says_so(drive, monkeypatch):
    monkeypatch.setattr(knapsack_peer.importlib.util, "find_spec", lambda name: None)
    assert drive(*SMALL, *QUIET, "--peers")[1].endswith("\nortools: not found: pip install ortools\n")


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--instance", "no-such-file"], "no-such-file: found no such file"),
        (["--instance", "f", "--items", "3"], "--items changes nothing here: --instance names a file"),
        (["--instance", "f", "--class", "paper"], "--class changes nothing here"),
        (["--instance", "f", "--seed", "3"], "--seed changes nothing here"),
        (["--capacity", "3"], "found capacity 3, expected an integer from 4"),
        (["--capacity", str(2**30)], "found capacity 1073741824"),
        (["--range", "2000"], "--range changes nothing here: the class paper"),
        (["--nodes", "3"], "--nodes changes nothing here: expected with --method bb"),
        (["--seconds", "3"], "--seconds changes nothing here"),
        (["--method", "bb", "--no-trace"], "--no-trace, --tiling, --device-memory and --spill change nothing here"),
        (["--no-trace", "--spill", "."], "--spill changes nothing here"),
        (["--no-trace", "--output", "taken.txt"], "--output needs --trace"),
        (["--output", "no/such/folder/taken.txt"], "cannot write there"),
        (["--device-memory", "16"], "two rows of decisions need"),
        (["--backend", "abacus"], "no backend 'abacus'"),
    ],
    ids=lambda value: "-".join(value).replace("--", "").replace("/", ".") if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_exit_code_2(drive, arguments, told):
    code, said, error = drive(*QUIET, *arguments)
    assert (code, said) == (2, "")
    assert error.startswith("error: ") and error.count("\n") == 1
    assert told in error


# --- over ranks ---


@pytest.mark.xdist_group("mpi")
def test_ranks_find_what_one_process_finds(drive, mpirun, tmp_path):
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    drive(*SMALL, *QUIET, "--record", alone)
    done = mpirun(2, *SMALL, *QUIET, "--device-memory", "300", "--record", shared)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("selection confirmed by the scorer") == 1
    (one,), (several,) = lines(alone), lines(shared)
    assert several["ranks"] == 2 and several["details"]["streamed_bytes"] > 0
    for name in ("best_cost", "trajectory_hash", "instance_sha256", "scored"):
        assert several[name] == one[name], name


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--method", "bb"], "branch and bound on 2 ranks"),
        (["--tiling", "none"], "--tiling none"),
        (["--peers"], "--peers on 2 ranks: expected one"),
    ],
    ids=["bb", "none", "peers"],
)
def test_a_mistake_on_two_ranks_is_said_once(mpirun, arguments, told):
    done = mpirun(2, *SMALL, *QUIET, *arguments)
    assert done.returncode == 2
    assert done.stderr.count(f"error: {told}") == 1
    assert "Traceback" not in done.stderr
