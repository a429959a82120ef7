"""Other people's solvers beside ours: stand-ins for those that are not installed, SciPy itself."""

import importlib
import itertools
import json
import stat
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.qap.instance import QapInstance
from core.qap.problem import Qap
from core.tables.knapsack.problem import Knapsack
from core.tables.lcs.problem import StringPair
from drivers.peers import assignments, measurement, packages, peers_for, tours
from drivers.peers.measurement import PeerRace, PeerTask
from drivers.workload.matrix_files import MatrixInstance
from tests.drivers import stand_ins as codes
from tests.drivers.records import length_of
from tests.drivers.stand_ins import CONCORDE, CP_MODEL, ELKAI, FAST_TSP, HELD_KARP, KNAPSACK_SOLVER

DRIVER = importlib.import_module("drivers.peers.__main__")


@pytest.fixture
def stand_ins(tmp_path, monkeypatch, package):
    """A folder for programs that is all of PATH, and environments of packages; real solvers are not found."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for program in (tours.CONCORDE, tours.LKH):
        monkeypatch.delenv(program.name.upper(), raising=False)
    monkeypatch.setattr("drivers.peers.peer.SHORT_S", 0.0)

    class StandIns:
        @staticmethod
        def program(name, code, *, interpreter=sys.executable):
            path = folder / name
            path.write_text(codes.PROGRAM.replace("{python}", interpreter) + code)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

        @staticmethod
        def package(name, code, *, module="__init__", version="9.9"):
            package(f"{name}.{module}", code, version)

    return StandIns


@pytest.fixture
def with_scipy(package):
    pytest.importorskip("scipy", reason="pip install 'onekernel[report]'")
    package("scipy.made_up", "")


def instance(n=7, seed=5):
    upper = np.triu(np.random.default_rng(seed).integers(1, 100, (n, n)), 1)
    return MatrixInstance("made up", upper + upper.T, "a test")


def one_way_ring():
    """Four cities: length 4 in one direction, 36 in the other."""
    matrix = np.full((4, 4), 9)
    matrix[range(4), (1, 2, 3, 0)] = 1
    return MatrixInstance("one way", matrix, "a test")


def shortest_length(problem):
    return min(length_of(problem.distances, (0, *rest)) for rest in itertools.permutations(range(1, problem.n)))


def install_tour_solvers(stand_ins):
    stand_ins.package("fast_tsp", FAST_TSP, version="0.2.2")
    stand_ins.package("elkai", ELKAI)
    stand_ins.package("ortools", CP_MODEL, module="sat.python.cp_model")
    stand_ins.package("held_karp", HELD_KARP)
    stand_ins.program("concorde", CONCORDE)
    stand_ins.program("LKH", codes.LKH)


def measure(peers, problem, repeats, seconds, cost=None):
    """Run solvers on one problem, in turn."""
    races = [PeerRace(peer, PeerTask(problem, float(seconds), cost)) for peer in peers]
    for seed in range(1, repeats + 1):
        for race in races:
            race.repeat(seed)
    return [race.measured() for race in races]


def measured(problem, workload="exact", repeats=1, seconds=0.01, cost=None, only=None):
    peers = [peer for peer in peers_for(workload) if only in (None, peer.name)]
    return {row.name: row for row in measure(peers, problem, repeats, seconds, cost)}


# --- tours ---


def test_every_solver_of_tours_is_scored_and_timed_apart_from_its_start(stand_ins, with_scipy):
    install_tour_solvers(stand_ins)
    problem = instance()
    best = shortest_length(problem)
    rows = measured(problem, repeats=2, cost=best)
    assert list(rows) == ["fast-tsp", "elkai", "pyvrp", "ortools", "scipy highs", "held-karp", "concorde", "LKH"]
    assert rows.pop("pyvrp").failure == "not found: onekernel peers install pyvrp"
    for row in rows.values():
        assert (row.failure, row.cost, row.repetitions) == ("", best, 2)
        assert row.solve_s >= 0 and row.startup_s > 0
    assert {name for name, row in rows.items() if row.proved} == {"ortools", "scipy highs", "held-karp", "concorde"}
    assert (rows["fast-tsp"].version, rows["elkai"].version, rows["LKH"].version) == ("0.2.2", "9.9", "")
    assert json.loads(json.dumps([row._asdict() for row in rows.values()]))[0]["cost"] == best
    # A program is measured as a whole process.
    for name in ("concorde", "LKH"):
        row = rows[name]
        assert row.kind == "program" and row.solve_s == max(0.0, row.time_to_cost_s - row.startup_s)
    for name in ("elkai", "held-karp"):
        assert rows[name].kind == "package" and rows[name].solve_s == rows[name].time_to_cost_s


def test_an_environment_variable_has_the_path_of_a_program(stand_ins, tmp_path, monkeypatch):
    stand_ins.program("concorde", CONCORDE)
    (tmp_path / "packages" / "concorde").rename(tmp_path / "my-build")
    monkeypatch.chdir(tmp_path)
    for path, failure in (("./my-build", ""), ("no-such-file", "not found: build it from ")):
        monkeypatch.setenv("CONCORDE", path)
        assert measured(instance(5), only="concorde")["concorde"].failure.partition("www")[0] == failure


def test_a_solver_that_is_given_its_time_is_tried_with_ever_less_of_it(stand_ins):
    slow = FAST_TSP.replace("assert", "import time; time.sleep(duration_seconds); assert").replace("0.004", "0.03")
    stand_ins.package("fast_tsp", slow)
    problem = instance()
    row = measured(problem, seconds=0.2, cost=shortest_length(problem))["fast-tsp"]
    # The stand-in finds the optimum from 30 ms on: with 200, 100 and 50 ms, not with 25.
    assert row.time_limit_s == 0.2
    assert 0.05 <= row.time_to_cost_s < row.solve_s
    assert row.solve_s >= 0.2


def test_a_solver_that_is_never_as_good_has_no_time_to_our_cost(stand_ins):
    stand_ins.package("elkai", ELKAI)
    stand_ins.package("fast_tsp", FAST_TSP)
    problem = instance()
    best = shortest_length(problem)
    better = measured(problem, cost=best - 1)
    assert {better[name].time_to_cost_s for name in ("elkai", "fast-tsp")} == {None} and better["elkai"].cost == best
    shortest = measured(problem, seconds=0.0, cost=1, only="fast-tsp")["fast-tsp"]
    assert (shortest.failure, shortest.time_limit_s) == ("", tours.FAST_TSP.shortest_s)
    worse = measured(problem, cost=best + 1, only="elkai")["elkai"]
    assert worse.time_to_cost_s == worse.solve_s
    assert measured(problem, only="elkai")["elkai"].time_to_cost_s is None


def test_a_solver_is_judged_by_its_tour_and_not_by_what_it_says(stand_ins):
    stand_ins.program("concorde", CONCORDE.replace("solved(sys.argv[5])", "sorted(solved(sys.argv[5]))"))
    stand_ins.package("held_karp", HELD_KARP.replace("return tour, length", "return tour, 1 + length"))
    best, rows = shortest_length(instance()), measured(instance())
    assert rows["concorde"].cost == length_of(instance().distances, range(7))
    row = rows["held-karp"]
    assert (row.cost, row.failure) == (None, f"failed: it reports {best + 1}, the scorer finds {best}")


PROGRAMS = {
    "print('it expired')": "failed: no answer; its last line: it expired",
    "sys.exit('no memory left')": "failed: ended with code 1: no memory left",
    CONCORDE.replace("map(str, tour)", "'123'"): "failed: no solution: found a tour of shape",
    CONCORDE.replace("map(str, tour)", "'abc'"): "failed: found '",
    CONCORDE.replace("tour = solved(sys.argv[5])", "tour = [0] * 5"): "failed: no solution: found city 0 re",
}


def test_a_program_that_fails_says_why(stand_ins):
    for code, message in PROGRAMS.items():
        stand_ins.program("concorde", code)
        row = measured(instance(5), only="concorde")["concorde"]
        assert row.failure.startswith(message) and row.cost is None, code


def test_solvers_that_break_say_why_in_a_line_and_the_others_go_on(stand_ins):
    stand_ins.package("elkai", "raise ImportError('no such symbol')")
    stand_ins.package("fast_tsp", "import os; os._exit(0)")
    stand_ins.package("ortools", CP_MODEL.replace("return OPTIMAL", "return 0"), module="sat.python.cp_model")
    stand_ins.package("held_karp", HELD_KARP)
    stand_ins.program("concorde", "", interpreter="/no/such/interpreter")
    assert {name: row.failure for name, row in measured(instance(4)).items()} == {
        "concorde": "failed: cannot be started: No such file or directory",
        "elkai": "failed: ended with code 1: ImportError: no such symbol",
        "fast-tsp": "failed: no result; its last line: it printed nothing",
        "ortools": "failed: ended with code 1: stopped with UNKNOWN, expected a tour",
        "held-karp": "",
        "LKH": f"not found: {peers_for('exact')[-1].how_to_get}",
        **{name: f"not found: onekernel peers install {name.split()[0]}" for name in ("pyvrp", "scipy highs")},
    }


def test_a_solver_without_an_answer_is_ended(stand_ins, monkeypatch):
    monkeypatch.setattr(measurement, "LIMIT_S", 0.2)
    stand_ins.program("concorde", "import time; time.sleep(60)")
    stand_ins.package("elkai", "import time; time.sleep(60)")
    failures = [measured(instance(5), only=name)[name].failure for name in ("concorde", "elkai")]
    assert failures == ["failed: no answer within 0.2 s", "failed: no answer within 0.4 s"]


def test_solvers_are_run_with_as_many_cities_as_they_take():
    solvers = {"fast-tsp", "elkai", "pyvrp", "ortools", "scipy highs", "held-karp", "concorde", "LKH"}
    for cities, running in (
        (2, set()),
        (20, solvers),
        (21, solvers - {"held-karp"}),
        (61, solvers - {"held-karp", "ortools", "scipy highs"}),
    ):
        reasons = {peer.name: peer.refuses(instance(cities)) for peer in peers_for("exact")}
        assert {name for name, why_not in reasons.items() if why_not is None} == running
    assert reasons["ortools"] == "61 cities, expected 3 to 60"
    one_way = {peer.name for peer in peers_for("exact") if peer.refuses(one_way_ring())}
    assert one_way == {"fast-tsp", "scipy highs", "concorde"}
    single = QapInstance("one", np.array([[1]]), np.array([[1]]))
    assert assignments.SCIPY_FAQ.refuses(single) == "1 facilities, expected at least 2"
    # An instance of too many cities is left out before its matrix is computed.
    assert tours.FAST_TSP.refuses(SimpleNamespace(n=100_000)) == "100,000 cities, expected 3 to 5,000"


# --- environments of packages ---


def write_wheel(folder, name, version, path, text):
    about, head = f"{name}-{version}.dist-info", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {path: text, f"{about}/METADATA": head, f"{about}/WHEEL": kind, f"{about}/RECORD": ""}
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        [wheel.writestr(*file) for file in files.items()]


@pytest.mark.slow
def test_packages_are_installed_once_and_failures_leave_nothing(drive, package, tmp_path, monkeypatch):
    write_wheel(tmp_path, "fast_tsp", "0.2.9", "fast_tsp.py", FAST_TSP)
    write_wheel(tmp_path, "numpy", "2.0.0", "numpy.pth", str(Path(np.__file__).parents[1]))
    for name, value in (("FIND_LINKS", tmp_path), ("INDEX_URL", "http://127.0.0.1:9"), ("CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(f"PIP_{name}", str(value))
    monkeypatch.setenv("no_proxy", "*")
    made, left = tours.FAST_TSP, tours.FAST_TSP.folder / "left over from an installation that was killed"
    left.mkdir(parents=True)
    with ThreadPoolExecutor() as threads:
        assert sorted(threads.map(lambda _: made.install(), range(2))) == [False, True]
    row = measured(instance(5), only="fast-tsp")["fast-tsp"]
    assert (row.failure, row.cost, row.version) == ("", shortest_length(instance(5)), "0.2.9")
    code, said, error = drive("install", "fast-tsp", "elkai")
    assert code == 2 and "fast-tsp: installed already\n" in said
    reason = "No matching distribution found for elkai<3,>=2; pip did not reach the package index"
    assert error == f"error: elkai>=2,<3: not installed: {reason}\n"
    rest = {path.name for path in made.folder.parent.iterdir()}
    assert rest == {"elkai.lock", "fast-tsp", "fast-tsp.lock"} and not left.exists()


def test_an_environment_of_another_version_or_interpreter_or_that_others_can_write_does_not_count(stand_ins, drive):
    stand_ins.package("elkai", ELKAI)
    assert (made := tours.ELKAI).find() and not replace(made, requirement="elkai>=3").find()
    made.folder.parent.chmod(0o777)
    code, _, error = drive("install", "elkai")
    assert code == 2 and error.startswith(f"error: {made.folder.parent} is writable by all users: expected a folder ")
    assert not made.find()
    made.folder.parent.chmod(0o700)
    (made.folder / "bin" / "python").unlink()
    assert not made.find()


def test_a_package_runs_apart_from_the_suites_and_from_the_users_folder(stand_ins, tmp_path, monkeypatch):
    stand_ins.package("elkai", "from importlib.util import find_spec\nassert not find_spec('tests')\n" + ELKAI)
    (tmp_path / "core.py").write_text("raise ImportError('the user has a core too')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    rows = measured(instance(5))
    assert (rows["elkai"].failure, rows["elkai"].cost) == ("", shortest_length(instance(5)))
    # SciPy of this environment does not count.
    assert rows["scipy highs"].failure == "not found: onekernel peers install scipy"


def test_the_list_has_versions_paths_and_commands(stand_ins, drive, tmp_path):
    stand_ins.package("rapidfuzz", "", version="3.9")
    stand_ins.program("concorde", CONCORDE)
    code, said, _ = drive()
    assert drive("list") == (code, said, "") == (0, said, "")
    assert "rapidfuzz (lcs): 3.9\n    onekernel peers install rapidfuzz\n" in said
    assert "scipy highs (exact, heldkarp): not installed\n    onekernel peers install scipy\n" in said
    assert f"concorde (exact, heldkarp, ihc, tsp, aco): {tmp_path}/packages/concorde\n    build it from " in said
    code, _, error = drive("install", "fast-tps")
    assert code == 2 and "fast-tps (did you mean fast-tsp?): expected one of fast-tsp, elkai, " in error


# --- other workloads ---


@pytest.mark.slow
def test_a_knapsack_that_breaks_is_too_heavy_or_not_proved_says_so(stand_ins):
    for code, cost, message in (
        ("raise ImportError('no such symbol')", None, "failed: ended with code 1: ImportError: no such symbol"),
        (KNAPSACK_SOLVER.replace("<= capacity", "<= 2 * capacity"), None, "failed: a selection of weight "),
        (KNAPSACK_SOLVER.replace("return True", "return False"), 2, ""),
    ):
        stand_ins.package("ortools", code, module="algorithms.python.knapsack_solver")
        row = measured(Knapsack("three", [1, 2, 2], [1, 2, 2], 2), "knapsack")["ortools"]
        assert row.failure.startswith(message) and (row.cost, row.proved) == (cost, False)


@pytest.mark.slow
def test_a_length_that_may_be_wrong_is_reported_and_one_that_cannot_be_is_not(stand_ins):
    stand_ins.package(
        "rapidfuzz", "class LCSseq:\n    similarity = staticmethod(lambda a, b: len(b) - 1)", module="distance"
    )
    assert measured(StringPair("words", b"ABCBDAB", b"BDCABA"), "lcs")["rapidfuzz"].cost == 5
    row = measured(StringPair("foreign", b"AAAA", b"ABBB"), "lcs")["rapidfuzz"]
    assert (row.cost, row.failure) == (None, "failed: length 3; the scorer finds at most 1 letters in common, not 3")


def test_repetitions_take_turns_and_a_solver_that_failed_runs_no_more(stand_ins, tmp_path):
    calls = tmp_path / "calls"
    said = f"\nwith open({str(calls)!r}, 'a') as log: log.write(NAME)\n"
    broken = f"\nif open({str(calls)!r}).read().count('e') > 1: raise ImportError('worn out')\n"
    stand_ins.package("fast_tsp", FAST_TSP + said.replace("NAME", "'f'"))
    stand_ins.package("elkai", ELKAI + said.replace("NAME", "'e'") + broken)
    peers = [tours.FAST_TSP, tours.ELKAI]
    fast, elkai = measure(peers, instance(), 3, 0.01)
    assert calls.read_text() == "fefef"
    assert (fast.repetitions, len(fast.costs), elkai.failure) == (
        3, 3, "failed: ended with code 1: ImportError: worn out"
    )  # fmt: skip


def test_scipy_assigns_facilities(with_scipy):
    numbers = np.random.default_rng(3).integers(0, 10, (2, 5, 5))
    instance = QapInstance("five", *numbers)
    costs = [
        int((numbers[0] * numbers[1][np.ix_(places, places)]).sum()) for places in itertools.permutations(range(5))
    ]
    rows = measured(Qap(instance), "qap", repeats=2, cost=max(costs))
    assert list(rows) == ["scipy faq", "scipy 2opt"]
    for row in rows.values():
        assert row.failure == "" and row.version and not row.proved
        assert row.cost in costs and row.cost < np.median(costs)
        assert row.time_to_cost_s == row.solve_s > 0


@pytest.mark.parametrize("workload", ["ihc", "tsp", "aco", "exact", "heldkarp", "knapsack", "lcs", "qap"])
def test_every_solver_takes_its_minimal_problem_in_a_form_that_travels(workload):
    import pickle

    names = [peer.name for peer in peers_for(workload)]
    assert len(set(names)) == len(names) > 0
    for peer in peers_for(workload):
        assert peer.refuses(peer.subject.minimal) is None
        if peer.kind == "package":
            assert peer.requirement == packages()[peer.package].requirement
            assert pickle.loads(pickle.dumps(peer.solve)) is peer.solve
            pickle.dumps(peer.form(peer.subject.minimal))
