"""The driver of exact search: what it prints, records, refuses and compares; ranks change nothing but the speed."""

import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from core.problems import tsplib
from core.problems.errors import InstanceError
from drivers import exact, exact_peers
from drivers.matrix_files import load_matrix

DRIVER = exact
SMALL = ["--instance", "uniform:9:seed=1", "--backend", "cpu", "--no-progress"]

SQUARE = np.array([[0, 3, 5, 3], [3, 0, 3, 5], [5, 3, 0, 3], [3, 5, 3, 0]])
"""Four corners: the way round is 12 long, the only shortest tour."""


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def length_of(distances, tour):
    return sum(int(distances[a][b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def by_permutations(distances):
    """Length and number of the shortest tours, by the plainest search there is."""
    n = len(distances)
    lengths = [
        length_of(distances, (0, *rest)) for rest in itertools.permutations(range(1, n)) if rest[:1] <= rest[-1:]
    ]
    return min(lengths), lengths.count(min(lengths))


def saved(path, matrix):
    Path(path).write_text("\n".join(" ".join(map(str, row)) for row in matrix) + "\n")
    return path


def random_matrix(n, seed, most=100):
    upper = np.triu(np.random.default_rng(seed).integers(1, most, (n, n)), 1)
    return upper + upper.T


# --- what comes out ---


def test_a_run_says_what_it_found_how_fast_and_who_confirms_it(drive):
    code, said, error = drive(*SMALL, "--verify", "--count")
    assert (code, error) == (0, "")
    (result,) = said.splitlines()
    assert re.match(r"\S+: shortest length \d+, shortest tours: \d+, bound at the root \d+, start length \d+, ", result)
    assert re.search(
        r", [\d,]+ nodes, [\d,]+ nodes/s, [\d.]+ s \(compile [\d.]+, transfer [\d.]+, kernel [\d.]+\)", result
    )
    assert re.search(r"hash [0-9a-f]{16} of the answer, confirmed by the scorer and by a full search in NumPy$", result)


@pytest.mark.parametrize("arguments", [[], ["--bound", "edges"], ["--bound", "none", "--enumerate", "permutations"]])
def test_every_way_finds_the_shortest_tour_of_a_matrix(drive, tmp_path, arguments):
    matrix = random_matrix(8, seed=3, most=9)
    record = tmp_path / "r.jsonl"
    file = saved(tmp_path / "m.txt", matrix)
    code, said, _ = drive("--matrix", file, *SMALL[2:], *arguments, "--count", "--record", record)
    assert code == 0
    (found,) = lines(record)
    length, shortest = by_permutations(matrix.tolist())
    assert (found["best_cost"], found["details"]["optimal_tours"], found["scored"]) == (length, shortest, True)
    assert f"m: shortest length {length}, shortest tours: {shortest}, " in said
    tour = found["details"]["tour"]
    assert tour[0] == 0 and sorted(tour) == list(range(8)) and tour[1] < tour[-1]
    assert length_of(matrix, tour) == length


def test_a_record_holds_the_proof_and_what_was_asked(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    asked = ["--bound", "edges", "--depth", "3", "--count", "--verify"]
    drive(*SMALL, *asked, "--record", record)
    (found,) = lines(record)
    assert (found["workload"], found["backend"], found["best_index"], found["evaluations"]) == ("exact", "cpu", 0, 0)
    assert found["parameters"] == {"count": True}
    assert found["ways"] == {"bound": "edges", "enumerate": None, "depth": 3}
    assert found["hash_covers"] == "answer"
    details = found["details"]
    assert (details["cities"], details["optimum"], details["bound"]) == (9, None, "edges")
    assert details["nodes"] == sum(details["nodes_per_depth"]) > 0
    sample = found["samples"][0]
    rate = details["nodes"] / (sample["total_s"] - sample["compile_s"])
    assert details["nodes_per_second"] == pytest.approx(rate)
    assert details["root_bound"] <= found["best_cost"] <= details["start_length"]
    assert details["verified_by"] == "a full search in NumPy"
    assert "peers" not in details


def test_up_to_seven_cities_the_record_says_that_the_host_searched(drive, tmp_path):
    for bound in ([], ["--bound", "edges"]):
        drive("--instance", "uniform:7:seed=2", *SMALL[2:], *bound, "--record", tmp_path / "r.jsonl")
    host, edges = lines(tmp_path / "r.jsonl")
    assert [run["ways"]["bound"] for run in (host, edges)] == ["host", "edges"]
    assert host["trajectory_hash"] == edges["trajectory_hash"]


def test_a_published_optimum_is_named_and_the_files_are_written(drive, shared_data, tmp_path):
    tour, drawing = tmp_path / "best.tour", tmp_path / "best.svg"
    found = ["--instance", "burma14", "--data", shared_data]
    code, said, _ = drive(*found, *SMALL[2:], "--verify", "--tour", tour, "--svg", drawing)
    assert code == 0
    assert said.startswith("burma14: shortest length 3323 (the optimum), ")
    assert said.rstrip().endswith("confirmed by the scorer and by Held and Karp's dynamic programming")
    cities = [int(city) - 1 for city in tour.read_text().split("TOUR_SECTION")[1].split("-1")[0].split()]
    instance = tsplib.load(shared_data / "tsplib" / "burma14.tsp")
    assert length_of(instance.distances, cities) == 3323
    assert drawing.read_text().startswith("<svg")


def test_customers_of_a_cvrp_are_a_tsp(drive, shared_data):
    _, said, _ = drive("--instance", "eil13", "--data", shared_data, *SMALL[2:])
    assert "eil13: shortest length 142 (the optimum)" in said


def test_without_options_bays29_runs_or_a_generated_instance(monkeypatch, shared_data, tmp_path):
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    monkeypatch.setattr("core.problems.fetch.cache_folder", lambda: tmp_path)
    assert exact.find_instance(exact.parse(["--data", str(shared_data)]))[0].name == "bays29"
    assert exact.find_instance(exact.parse([]))[0].name.startswith(exact.DEFAULT_GENERATED)


def test_a_run_that_was_cut_short_makes_only_the_missing_repetitions(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    drive(*SMALL, "--record", record)
    _, said, _ = drive(*SMALL, "--record", record, "--repeats", "3")
    assert "1 of 3 repetitions are in" in said
    assert said.count("confirmed by the scorer") == 2
    (whole,) = lines(record)
    assert len(whole["samples"]) == 3


def test_a_bar_shows_speed_incumbent_and_bound(drive):
    pytest.importorskip("rich")
    code, said, error = drive("--instance", "uniform:12:seed=4", "--backend", "cpu", "--progress", "--bound", "edges")
    assert code == 0
    length = re.search(r"shortest length (\d+)", said)[1]
    assert re.search(rf"[\d,]+ nodes/s, incumbent {length}", error)


def test_a_bar_counts_nodes_since_the_last_report():
    told = []
    report = exact.nodes_shown(lambda units=1, note="": told.append((units, note.partition(", ")[2])))
    report(100, 50, None)
    report(250, 40, 35)
    report(30, 40, 35)  # a second search begins at 0 again
    assert told == [(100, "incumbent 50"), (150, "incumbent 40, bound 35"), (30, "incumbent 40, bound 35")]


# --- who speaks against a result ---


def solution(length, tour, optimal_tours=None):
    from core.search.exact import Solution

    return Solution(length, np.array(tour), optimal_tours, np.zeros(5, np.int64), None, length, 1)


def objections(drive_options, outcome, optimum=None, peers=None):
    instance = exact.find_instance(drive_options)[0]
    instance.optimum = optimum
    proofs = exact.Proofs(drive_options, None, instance, "", None)
    proofs.peers = peers
    _, scored = proofs.check(outcome)
    assert scored == (not list(proofs.objections(outcome)))
    return proofs.verdict


def test_a_wrong_result_is_not_confirmed_and_the_line_says_who_disagrees(tmp_path):
    square = saved(tmp_path / "square.txt", SQUARE)
    plain = exact.parse(["--matrix", str(square)])
    verify = exact.parse(["--matrix", str(square), "--verify"])
    shorter = [exact_peers.Measured("elkai", False, 12)]
    right, longer = solution(12, [0, 1, 2, 3], 1), solution(16, [0, 2, 1, 3])
    assert objections(plain, right, 12) == "confirmed by the scorer"
    assert objections(verify, right, 12) == "confirmed by the scorer and by a full search in NumPy"
    assert objections(plain, solution(11, [0, 1, 2, 3])) == "NOT CONFIRMED: the scorer finds length 12"
    assert objections(plain, longer, 12) == "NOT CONFIRMED: the optimum is known to be 12"
    assert objections(verify, longer) == "NOT CONFIRMED: a full search in NumPy finds length 12"
    assert (
        objections(verify, right._replace(optimal_tours=2))
        == "NOT CONFIRMED: a full search in NumPy finds 1 shortest tours"
    )
    assert objections(plain, longer, peers=shorter) == "NOT CONFIRMED: elkai finds length 12"


# --- distances from files ---


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_matrix_of_any_size_is_searched(drive, tmp_path, n):
    matrix = random_matrix(n, seed=n)
    np.save(tmp_path / "m.npy", matrix)
    code, said, error = drive("--matrix", tmp_path / "m.npy", *SMALL[2:])
    assert (code, error) == (0, "")
    assert f"m: shortest length {by_permutations(matrix.tolist())[0]}, " in said


def test_texts_and_arrays_of_one_matrix_are_one_instance(tmp_path):
    matrix = random_matrix(6, seed=1)
    np.save(tmp_path / "integers.npy", matrix.astype(np.uint8))
    np.save(tmp_path / "floats.npy", matrix.astype(np.float64))
    np.savetxt(tmp_path / "savetxt.txt", matrix)
    np.savetxt(tmp_path / "commas.csv", matrix, fmt="%d", delimiter=", ", header="from six cities")
    instances = [load_matrix(str(path)) for path in sorted(tmp_path.iterdir())]
    assert len(instances) == 4
    for instance in instances:
        assert (instance.distances == matrix).all()
        assert instance.sha256 == instances[0].sha256


def test_a_matrix_is_the_instance_that_tsplib_has_of_it(tmp_path):
    matrix = random_matrix(6, seed=1)
    exact_peers.write_full_matrix(tmp_path / "six.tsp", matrix)
    assert tsplib.load(tmp_path / "six.tsp").sha256 == load_matrix(str(saved(tmp_path / "six.txt", matrix))).sha256


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 1\n1 0 2\n", ":2: found 3 numbers, expected 2, as in the first row"),
        ("0 1 2\n\n1 0 3\n", ":3: found 2 rows of 3 numbers, expected a square matrix"),
        ("# nothing\n", ": found no numbers, expected a square matrix of distances"),
        ("0 one\n1 0\n", ":1: found 'one', expected an integer"),
        ("0 1.5\n1.5 0\n", ":1: found distance 1.5 from city 0 to 1, expected an integer"),
        ("0 nan\n1 0\n", ":1: found distance nan from city 0 to 1, expected an integer"),
        ("0 1\n-1 0\n", ":2: found distance -1 from city 1 to 0, expected 0 to 2147483647"),
        ("0 2147483648\n1 0\n", ":1: found distance 2147483648 from city 0 to 1, expected 0 to 2147483647"),
        ("0 1 2\n1 0 3\n# three\n2 4 0\n", ":4: found distance 4 from city 2 to 1 and 3 back, expected a symmetric"),
    ],
)
def test_a_broken_text_is_refused_by_its_line(drive, tmp_path, text, told):
    path = tmp_path / "m.txt"
    path.write_text(text)
    code, said, error = drive("--matrix", path, *SMALL[2:])
    assert (code, said) == (2, "")
    assert error.startswith(f"error: {path}{told}")
    assert error.count("\n") == 1


def test_a_broken_array_is_refused_by_its_file(tmp_path):
    for matrix, told in [
        (np.zeros((2, 3), int), r"found an array of shape \(2, 3\), expected a square matrix"),
        (np.zeros((2, 2), bool), "found elements of bool, expected integers"),
        (np.array([[0, 1], [2, 0]]), "found distance 2 from city 1 to 0 and 1 back, expected a symmetric matrix"),
    ]:
        np.save(tmp_path / "m.npy", matrix)
        with pytest.raises(InstanceError, match=f"m.npy: {told}"):
            load_matrix(str(tmp_path / "m.npy"))
    (tmp_path / "m.npy").write_text("0 1\n1 0\n")
    with pytest.raises(InstanceError, match="m.npy: found no array of numbers"):
        load_matrix(str(tmp_path / "m.npy"))
    with pytest.raises(InstanceError, match="none.npy: found No such file"):
        load_matrix(str(tmp_path / "none.npy"))


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--instance", "uniform:31:seed=1"], "31 cities: exact search takes at most 30"),
        (["--instance", "uniform:21:seed=1", "--verify"], "--verify: found 21 cities in uniform:21:seed=1"),
        (["--enumerate", "worklist"], "--enumerate changes nothing here: expected with --bound none"),
        (["--depth", "3"], "--depth changes nothing here: expected with --bound edges"),
        (["--bound", "none", "--enumerate", "permutations", "--depth", "3"], "--depth changes nothing here"),
        (["--seed", "1"], "--seed changes nothing here"),
        (["--matrix", "m.txt"], "--matrix and --instance: expected one of them"),
        (["--instance", "no-such-instance"], "no-such-instance"),
        (["--backend", "abacus"], "no backend 'abacus'"),
        (["--tour", "no/such/folder/best.tour"], "--tour no/such/folder/best.tour: cannot write there"),
        (["--svg", "no/such/folder/best.svg"], "--svg no/such/folder/best.svg: cannot write there"),
    ],
    ids=lambda value: "-".join(value).replace("--", "").replace("/", ".") if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_exit_code_2(drive, arguments, told):
    code, said, error = drive(*SMALL, *arguments)
    assert (code, said) == (2, "")
    assert error.startswith("error: ") and error.count("\n") == 1
    assert told in error


def test_a_drawing_of_a_matrix_is_refused_before_the_run(drive, tmp_path):
    file = saved(tmp_path / "square.txt", SQUARE)
    code, said, error = drive("--matrix", file, *SMALL[2:], "--svg", tmp_path / "best.svg")
    assert (code, said) == (2, "")
    assert "square has no coordinates to draw" in error


# --- other solvers ---

PROGRAM = """#!{python}
import itertools, re, sys

def solved(path):
    text = open(path).read()
    n = int(re.search("DIMENSION: (.*)", text)[1])
    numbers = [int(word) for word in text.split("SECTION")[1].split("EOF")[0].split()]
    rows = [numbers[i * n : i * n + n] for i in range(n)]
    length = lambda tour: sum(rows[a][b] for a, b in zip(tour, tour[1:] + tour[:1]))
    return min(([0, *rest] for rest in itertools.permutations(range(1, n))), key=length)

"""
CONCORDE = """
assert sys.argv[1:5] == ["-s", "1", "-x", "-o"], sys.argv
tour = solved(sys.argv[6])
open(sys.argv[5], "w").write(f"{len(tour)}\\n" + " ".join(map(str, tour)) + " \\n")
print("Optimal Solution: 1.00")
print("Total Running Time: 0.25 (seconds)")
"""
LKH = """
said = dict(line.split(" = ") for line in open(sys.argv[1]).read().splitlines())
assert said["RUNS"] == "1"
tour = solved(said["PROBLEM_FILE"])
body = "\\n".join(str(city + 1) for city in tour)
open(said["TOUR_FILE"], "w").write(f"NAME : x.1.tour\\nTYPE : TOUR\\nDIMENSION : {len(tour)}\\nTOUR_SECTION\\n{body}\\n-1\\nEOF\\n")
print("Time.min = 0.25 sec., Time.avg = 0.50 sec., Time.max = 0.75 sec.")
"""
ELKAI = """
import itertools
class DistanceMatrix:
    def __init__(self, rows):
        self.rows = rows
    def solve_tsp(self, runs):
        length = lambda tour: sum(self.rows[a][b] for a, b in zip(tour, tour[1:]))
        return min(([0, *rest, 0] for rest in itertools.permutations(range(1, len(self.rows)))), key=length)
"""
CP_MODEL = """
import itertools
OPTIMAL = 4
class Literal:
    def __rmul__(self, weight):
        return Cost([(weight, self)])
class Cost:
    def __init__(self, terms):
        self.terms = terms
    def __radd__(self, zero):
        return self
    def __add__(self, other):
        return Cost(self.terms + other.terms)
class CpModel:
    def new_bool_var(self, name):
        return Literal()
    def add_circuit(self, arcs):
        self.arcs = {(i, j): taken for i, j, taken in arcs}
    def minimize(self, cost):
        self.weights = {taken: weight for weight, taken in cost.terms}
class CpSolver:
    def solve(self, model):
        n = 1 + max(i for i, _ in model.arcs)
        def arcs(rest):
            tour = [0, *rest]
            return [model.arcs[arc] for arc in zip(tour, tour[1:] + tour[:1])]
        self.taken = min(map(arcs, itertools.permutations(range(1, n))), key=lambda a: sum(map(model.weights.get, a)))
        return OPTIMAL
    def boolean_value(self, taken):
        return taken in self.taken
"""


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """A folder that is all of PATH, for programs, and the first place for packages; the real peers are out of sight."""
    folder = tmp_path / "peers"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    for name in ("elkai", "ortools"):
        (folder / name).mkdir()
    real = exact_peers.importlib.util.find_spec

    def found(name):
        hidden = name in ("elkai", "ortools") and not any((folder / name).iterdir())
        return None if hidden else real(name)

    monkeypatch.setattr(exact_peers.importlib.util, "find_spec", found)

    class StandIns:
        @staticmethod
        def program(name, code):
            path = folder / name
            path.write_text(PROGRAM.replace("{python}", sys.executable) + code)
            path.chmod(0o755)

        @staticmethod
        def package(name, **modules):
            for module, code in modules.items():
                path = folder / name / ("__init__.py" if module == "__init__" else module.replace("__", "/") + ".py")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(code)

    return StandIns


def all_four(stand_ins):
    stand_ins.program("concorde", CONCORDE)
    stand_ins.program("LKH", LKH)
    stand_ins.package("elkai", __init__=ELKAI)
    stand_ins.package("ortools", __init__="", sat__python__cp_model=CP_MODEL)


def test_peers_solve_the_same_instance_and_are_timed_apart_from_their_start(stand_ins):
    all_four(stand_ins)
    matrix = random_matrix(7, seed=5)
    measured = {peer.name: peer for peer in exact_peers.measure(matrix, 2)}
    assert {name: peer.trouble for name, peer in measured.items()} == dict.fromkeys(
        ["concorde", "LKH", "elkai", "ortools"], ""
    )
    for peer in measured.values():
        assert peer.length == by_permutations(matrix.tolist())[0]
        assert peer.solve_s >= 0 and peer.start_s > 0 and peer.repetitions == 2
    assert measured["concorde"].own_clock_s == 0.25
    assert measured["LKH"].own_clock_s == 0.5
    assert {name for name, peer in measured.items() if peer.proves} == {"concorde", "ortools"}


def test_a_peer_is_judged_by_its_tour_and_not_by_what_it_prints(stand_ins):
    stand_ins.program("concorde", CONCORDE.replace("solved(sys.argv[6])", "sorted(solved(sys.argv[6]))"))
    matrix = random_matrix(7, seed=5)
    (concorde, *_) = exact_peers.measure(matrix, 1)
    assert concorde.length == length_of(matrix, range(7))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("print('license expired')", "failed: no tour; its last line: license expired"),
        ("sys.exit('no memory left')", "failed: ended with code 1: no memory left"),
        (CONCORDE.replace("map(str, tour)", "'123'"), "failed: no tour: found a tour of shape"),
        (CONCORDE.replace("map(str, tour)", "'abc'"), "failed: found '"),
        (CONCORDE.replace("tour = solved(sys.argv[6])", "tour = [0] * 5 if 'min' in sys.argv[6] else [0] * 7"), "failed: no tour: found city 0 repeated"),
        ("import time; time.sleep(60)", "failed: no answer within 0.5 s"),
    ],
)  # fmt: skip
def test_a_peer_that_fails_says_so_and_the_others_go_on(stand_ins, monkeypatch, code, told):
    stand_ins.program("concorde", code)
    stand_ins.package("elkai", __init__=ELKAI)
    if "sleep" in code:
        monkeypatch.setattr(exact_peers, "LIMIT_S", 0.5)
        stand_ins.package("elkai", __init__="import time; time.sleep(60)")
    concorde, lkh, elkai, ortools = exact_peers.measure(random_matrix(7, seed=5), 1)
    assert concorde.trouble.startswith(told)
    assert concorde.length is None
    assert lkh.trouble.startswith("not found: build it from ")
    assert ortools.trouble == "not found: pip install ortools"
    assert elkai.trouble == ("failed: no answer within 1 s" if "sleep" in code else "")


def test_a_package_that_breaks_says_why_in_a_line(stand_ins):
    stand_ins.package("elkai", __init__="raise ImportError('no such symbol')")
    broken = CP_MODEL.replace("return OPTIMAL", "return 2").replace(
        "class CpSolver:", "class CpSolver:\n    status_name = lambda self, status: 'FEASIBLE'"
    )
    stand_ins.package("ortools", __init__="", sat__python__cp_model=broken)  # fmt: skip
    _, _, elkai, ortools = exact_peers.measure(SQUARE, 1)
    assert elkai.trouble == "failed: ended with code 1: ImportError: no such symbol"
    assert ortools.trouble.startswith("failed: ended with code 1: ")
    assert ortools.trouble.endswith("stopped with FEASIBLE, expected a proved optimum")


def test_a_run_with_peers_prints_a_table_and_records_it(drive, stand_ins, tmp_path):
    stand_ins.program("concorde", CONCORDE)
    stand_ins.package("elkai", __init__=ELKAI)
    record = tmp_path / "r.jsonl"
    code, said, _ = drive("--instance", "uniform:8:seed=1", *SMALL[2:], "--peers", "--repeats", "2", "--record", record)
    assert code == 0
    (found,) = lines(record)
    _, _, head, *rows = [line.split() for line in said.splitlines()]
    assert head == ["solver", "length", "proved", "solve", "start-up", "own", "clock"]
    length = str(found["best_cost"])
    assert rows[0][:4] == ["this", "search", length, "yes"]
    assert rows[1][:3] == ["concorde", length, "yes"] and rows[1][-2:] == ["250.000", "ms"]
    assert rows[2][:3] == ["elkai", length, "no"]
    assert said.splitlines()[-2:] == [
        f"LKH: not found: {exact_peers.LKH.how_to_get}",
        "ortools: not found: pip install ortools",
    ]
    names = [(peer["name"], peer["length"], bool(peer["trouble"])) for peer in found["details"]["peers"]]
    assert names == [
        ("concorde", found["best_cost"], False),
        ("LKH", None, True),
        ("elkai", found["best_cost"], False),
        ("ortools", None, True),
    ]


# --- over ranks ---


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("arguments", [[], ["--bound", "edges"]], ids=["one-tree", "edges"])
def test_ranks_prove_what_one_process_proves(drive, mpirun, tmp_path, arguments, ranks):
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    given = ["--instance", "uniform:12:seed=7", *SMALL[2:], "--count", "--verify", *arguments]
    drive(*given, "--record", alone)
    done = mpirun(ranks, *given, "--record", shared)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("confirmed by the scorer and by Held and Karp's") == 1
    (one,), (several,) = lines(alone), lines(shared)
    assert several["ranks"] == ranks
    for name in ("best_cost", "trajectory_hash", "parameters", "instance_sha256", "scored"):
        assert several[name] == one[name], name
    assert several["details"]["optimal_tours"] == one["details"]["optimal_tours"]


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--instance", "uniform:31:seed=1"], "31 cities"), (["--peers"], "--peers on 3 ranks: expected one")],
    ids=["too many cities", "peers"],
)
def test_a_mistake_on_three_ranks_is_said_once(mpirun, arguments, told):
    done = mpirun(3, *SMALL, *arguments)
    assert done.returncode == 2
    assert done.stderr.count(f"error: {told}") == 1
    assert "Traceback" not in done.stderr
