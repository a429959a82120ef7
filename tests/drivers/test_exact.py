"""The driver of exact search: what it prints, records, refuses and compares; ranks change nothing but the speed."""

import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.problems import tsplib
from core.problems.errors import InstanceError
from core.search.exact import ExactSearch, Solution
from core.search.shape import Progress
from drivers import exact
from drivers.matrix_files import load_matrix
from drivers.progress import told_on

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
        r", [\d,]+ nodes, [\d.,]+ (k |M |G )?nodes/s, [\d.]+ s "
        r"\(compile [\d.]+, transfer [\d.]+, kernel [\d.]+, host [\d.]+\), ",
        result,
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
    assert (found["workload"], found["backend"], found["best_index"], found["unit"]) == ("exact", "cpu", 0, "nodes")
    assert found["parameters"] == {"count": True}
    ways = {"bound": "edges", "enumerate": None, "depth": 3, "mapping": "suite", "unrolled": None}
    assert found["ways"] == ways
    assert found["hash_covers"] == "answer"
    details = found["details"]
    assert (details["cities"], details["optimum"], details["bound"]) == (9, None, "edges")
    assert found["evaluations"] == sum(details["nodes_per_depth"]) > 0
    assert details["root_bound"] <= found["best_cost"] <= details["start_length"]
    assert details["confirmed_by"] == ["the scorer", "a full search in NumPy"]
    assert "peers" not in details


@pytest.mark.parametrize(
    ("asked", "ways"),
    [
        ("--bound edges", {"bound": "edges", "enumerate": None, "depth": 5, "unrolled": True}),
        ("--bound edges --depth 2 --no-unrolled", {"bound": "edges", "enumerate": None, "depth": 2, "unrolled": False}),
        ("--bound none --unrolled", {"bound": "none", "enumerate": "worklist", "depth": 5, "unrolled": True}),
        (
            "--bound none --enumerate permutations",
            {"bound": "none", "enumerate": "permutations", "depth": None, "unrolled": None},
        ),
        (
            "--instance uniform:7:seed=1 --bound edges --no-unrolled",
            {"bound": "host", "enumerate": None, "depth": None, "unrolled": None},
        ),
    ],
)
def test_the_published_mapping_is_recorded_with_what_it_chose(drive, tmp_path, asked, ways):
    asked = [*SMALL, *asked.split(), "--count", "--verify"]
    code, said, _ = drive(*asked, "--mapping", "published", "--record", tmp_path / "r.jsonl")
    assert code == 0 and "confirmed by the scorer and by a full search in NumPy" in said
    drive(*[one for one in asked if "unrolled" not in one], "--record", tmp_path / "r.jsonl")
    published, suite = lines(tmp_path / "r.jsonl")
    assert published["ways"] == {"mapping": "published", **ways}
    assert (suite["ways"]["mapping"], suite["ways"]["unrolled"]) == ("suite", None)
    assert published["trajectory_hash"] == suite["trajectory_hash"]
    assert published["parameters"] == suite["parameters"] == {"count": True}
    if ways["bound"] == "edges":
        assert published["details"]["root_bound"] == suite["details"]["root_bound"] > 0


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
    assert said.rstrip().endswith(
        "confirmed by the scorer and by the published optimum and by Held and Karp's dynamic programming"
    )
    cities = [int(city) - 1 for city in tour.read_text().split("TOUR_SECTION")[1].split("-1")[0].split()]
    instance = tsplib.load(shared_data / "tsplib" / "burma14.tsp")
    assert length_of(instance.distances, cities) == 3323
    assert drawing.read_text().startswith("<svg")


def test_customers_of_a_cvrp_are_a_tsp(drive, shared_data):
    _, said, _ = drive("--instance", "eil13", "--data", shared_data, *SMALL[2:])
    assert "eil13: shortest length 142 (the optimum)" in said


def test_without_options_bays29_runs_or_a_generated_instance(drive, monkeypatch, shared_data, tmp_path):
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    monkeypatch.setattr("core.problems.folders.cache_folder", lambda: tmp_path)
    _, said, _ = drive("--data", shared_data, *SMALL[2:])
    assert said.startswith("bays29: shortest length 2020 (the optimum), ")
    assert drive(*SMALL[2:])[1].startswith("uniform:25:seed=1:side=10000: shortest length ")


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
    assert re.search(rf"[\d,]+ nodes/s, best length {length}", error)


def test_a_bar_shows_speed_best_and_bound():
    shown = []
    bar = SimpleNamespace(show=lambda *one: shown.append(one))
    told = told_on(bar, "nodes", "length")
    told(Progress(100, None, 50, 0.5, 100))
    told(Progress(250, 300, 40, 1.0, 250, 35))
    assert shown == [(100, None, "200 nodes/s, best length 50"), (250, 300, "250 nodes/s, best length 40, bound 35")]


# --- who speaks against a result ---


def solution(length, tour, optimal_tours=None):
    return Solution(length, np.array(tour), optimal_tours, np.zeros(5, np.int64), None, length, 1)


@pytest.fixture
def verdict(drive, tmp_path, monkeypatch):
    """Run the program on the square, whose search finds what is told; returns the end of its line."""
    square = saved(tmp_path / "square.txt", SQUARE)

    def run(outcome, *more, optimum=None):
        monkeypatch.setattr(ExactSearch, "run", lambda self, **asked: outcome)
        monkeypatch.setattr("drivers.matrix_files.known.optimum", lambda digest: optimum)
        record = tmp_path / "r.jsonl"
        record.unlink(missing_ok=True)
        code, said, error = drive("--matrix", square, *SMALL[2:], *more, "--record", record)
        (found,) = lines(record)
        said = said.strip().partition(" of the answer, ")[2]
        right = said.startswith("confirmed by ")
        assert (code, found["scored"]) == ((0, True) if right else (1, False))
        assert ("1 of 1 results NOT CONFIRMED; recorded and saved all the same" in error) == (not right)
        assert not right or said == f"confirmed by {' and by '.join(found['details']['confirmed_by'])}"
        return said

    return run


def test_a_wrong_result_is_not_confirmed_and_the_line_says_who_disagrees(verdict):
    right, longer = solution(12, [0, 1, 2, 3], 1), solution(16, [0, 2, 1, 3])
    assert verdict(right, optimum=12) == "confirmed by the scorer and by the published optimum"
    assert (
        verdict(right, "--verify", optimum=12)
        == "confirmed by the scorer and by the published optimum and by a full search in NumPy"
    )
    assert verdict(solution(11, [0, 1, 2, 3])) == "NOT CONFIRMED: the scorer finds length 12"
    assert verdict(longer, optimum=12) == "NOT CONFIRMED: the optimum is known to be 12"
    assert verdict(longer, "--verify") == "NOT CONFIRMED: a full search in NumPy finds length 12"
    assert (
        verdict(right._replace(optimal_tours=2), "--verify")
        == "NOT CONFIRMED: a full search in NumPy finds 1 shortest tours"
    )


def test_an_incumbent_of_a_search_that_was_ended_is_not_proved(drive, monkeypatch, tmp_path):
    ended = solution(16, [0, 2, 1, 3])._replace(proved=False, finished=False)
    monkeypatch.setattr(ExactSearch, "run", lambda self, **asked: ended)
    code, said, _ = drive("--matrix", saved(tmp_path / "square.txt", SQUARE), *SMALL[2:], "--verify")
    assert code == 0
    assert ": incumbent of length 16, " in said
    assert said.endswith(", NOT PROVED: the search was ended, and this is its incumbent\n")


def test_repetitions_of_other_numbers_of_nodes_are_one_run(drive, monkeypatch, tmp_path):
    found = iter([solution(12, [0, 1, 2, 3])._replace(nodes=np.array([0, nodes])) for nodes in (5, 7, 4)])
    monkeypatch.setattr(ExactSearch, "run", lambda self, **asked: next(found))
    asked = ["--matrix", saved(tmp_path / "square.txt", SQUARE), *SMALL[2:], "--record", tmp_path / "r.jsonl"]
    assert drive(*asked, "--repeats", "2")[0] == 0
    code, said, error = drive(*asked, "--repeats", "3")
    assert (code, error) == (0, "") and said.startswith("2 of 3 repetitions are in ")
    (run,) = lines(tmp_path / "r.jsonl")
    assert (len(run["samples"]), run["scored"]) == (3, True)


def test_a_solver_that_finds_a_shorter_tour_speaks_against_ours(verdict, package):
    package("held_karp", HELD_KARP)
    longer = solution(16, [0, 2, 1, 3])
    assert "held-karp finds length 12" in verdict(longer, "--peers").splitlines()[0]


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
    with pytest.raises(InstanceError, match="none.npy: found no such file"):
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
        (["--mapping", "published"], "--mapping published: the thesis has no 1-trees; expected with --bound edges"),
        (["--mapping", "published", "--bound", "one-tree"], "--mapping published: the thesis has no 1-trees"),
        (["--bound", "edges", "--unrolled"], "--unrolled changes nothing here: expected with --mapping published"),
        (["--bound", "edges", "--no-unrolled"], "--no-unrolled changes nothing here: expected with --mapping"),
        (
            ["--mapping", "published", "--bound", "none", "--enumerate", "permutations", "--no-unrolled"],
            "--no-unrolled changes nothing here: expected with --mapping published and a worklist",
        ),
        (["--mapping", "published", "--bound", "edges", "--depth", "6"], "items of 6 cities: expected 1 to 5 of 9"),
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

HELD_KARP = """
import itertools
def solve_flat(flat, n):
    rows = [flat[i * n : i * n + n] for i in range(n)]
    length = lambda tour: sum(rows[a][b] for a, b in zip(tour, tour[1:] + tour[:1]))
    tour = min(([0, *rest] for rest in itertools.permutations(range(1, n))), key=length)
    return tour, length(tour)
"""
ELKAI = """
class DistanceMatrix:
    def __init__(self, rows):
        self.cities = len(rows)
    def solve_tsp(self, runs):
        return [*range(self.cities), 0]
"""


def test_a_run_with_peers_prints_a_table_and_records_it(drive, package, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    package("held_karp", HELD_KARP)
    package("elkai", ELKAI)
    record = tmp_path / "r.jsonl"
    code, said, error = drive(
        "--instance", "uniform:7:seed=1", *SMALL[2:], "--peers", "--repeats", "2", "--record", record
    )
    assert (code, error) == (0, "")
    (found,) = lines(record)
    assert len(found["samples"]) == 2 and found["scored"]
    first, second, head, own, *rows = said.splitlines()
    assert all(re.search(r"confirmed by the scorer and by (.+ and by )?held-karp$", line) for line in (first, second))
    assert "held-karp" in found["details"]["confirmed_by"] and "elkai" not in found["details"]["confirmed_by"]
    assert head.split() == ["solver", "cost", "proved", "time", "start-up", "to", "our", "cost", "timed"]
    length = str(found["best_cost"])
    assert own.split()[:4] == ["this", "search", length, "yes"]
    peers = {peer["name"]: peer for peer in found["details"]["peers"]}
    (held_karp,) = [row.split() for row in rows if row.startswith("held-karp")]
    assert held_karp[1:3] == [length, "yes"] and held_karp[-1] == "warm"
    (elkai,) = [row.split() for row in rows if row.startswith("elkai")]
    assert elkai[1:3] == [str(peers["elkai"]["cost"]), "no"] and peers["elkai"]["cost"] > found["best_cost"]
    assert any(row.startswith("concorde: not found: build it from ") for row in rows)
    assert (peers["held-karp"]["cost"], peers["held-karp"]["repetitions"]) == (found["best_cost"], 2)
    assert peers["concorde"]["cost"] is None and peers["concorde"]["trouble"].startswith("not found")


# --- over ranks ---


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(
    "arguments",
    [[], ["--bound", "edges"], ["--bound", "edges", "--mapping", "published"]],
    ids=["one-tree", "edges", "published"],
)
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
