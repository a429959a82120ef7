"""The driver of Held and Karp's dynamic programming: what it prints, records, refuses; ranks change only the speed."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from core.problems import tsplib
from core.search.dp.held_karp import HeldKarp, ShortestTour
from core.search.dp.restricted import Restricted, RestrictedTour
from drivers import heldkarp

DRIVER = heldkarp
HERE = ["--backend", "cpu", "--no-progress"]
SMALL = ["--instance", "uniform:9:seed=1", *HERE]
SQUARE = np.array([[0, 3, 5, 3], [3, 0, 3, 5], [5, 3, 0, 3], [3, 5, 3, 0]])
"""Four corners: the way round is 12 long, the only shortest tour."""
ONE_WAY = np.array([[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]])
"""A ring of one-way roads: 4 long in one direction, 36 in the other."""


HELD_KARP = """
import numpy as np
from core.problems.small_tours import held_karp
def solve_flat(flat, n):
    length, tour, _ = held_karp(np.array(flat, dtype=int).reshape(n, n))
    return list(tour), float(length)
"""


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def length_of(distances, tour):
    return sum(int(distances[a][b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def saved(path, matrix):
    Path(path).write_text("\n".join(" ".join(map(str, row)) for row in matrix) + "\n")
    return path


# --- what comes out ---


def test_a_run_says_how_large_it_could_be_what_it_found_and_who_confirms_it(drive):
    code, said, error = drive(*SMALL, "--verify")
    assert (code, error) == (0, "")
    room, result = said.splitlines()
    assert re.fullmatch(r".* has room for up to \d+ cities \([\d,]+ bytes, lengths of 16 bits\)", room)
    assert re.match(
        r"\S+: shortest length \d+, start length \d+, [\d,]+ transitions, [\d.,]+ (k |M |G )?transitions/s, "
        r"[\d.]+ s \(compile ",
        result,
    )
    assert re.search(r"hash [0-9a-f]{16} of the answer, confirmed by the scorer and by branch and bound$", result)


def test_a_published_optimum_is_named_and_the_files_are_written(drive, shared_data, tmp_path):
    tour, drawing = tmp_path / "best.tour", tmp_path / "best.svg"
    code, said, _ = drive("--instance", "burma14", "--data", shared_data, *HERE, "--tour", tour, "--svg", drawing)
    assert code == 0
    assert said.splitlines()[1].startswith("burma14: shortest length 3323 (the optimum), ")
    cities = [int(city) - 1 for city in tour.read_text().split("TOUR_SECTION")[1].split("-1")[0].split()]
    assert length_of(tsplib.load(shared_data / "tsplib" / "burma14.tsp").distances, cities) == 3323
    assert drawing.read_text().startswith("<svg")


def test_both_tilings_and_runs_without_a_tour_prove_the_same(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    for options in ([], ["--tiling", "none"], ["--no-trace", "--verify"]):
        code, said, _ = drive(*SMALL, *options, "--record", record)
        assert code == 0
    auto, none, untraced = lines(record)
    assert auto["trajectory_hash"] == none["trajectory_hash"] == untraced["trajectory_hash"]
    assert auto["best_cost"] == none["best_cost"] == untraced["best_cost"]
    assert none["evaluations"] > auto["evaluations"] == untraced["evaluations"] > 0
    assert untraced["details"]["tour"] is None and untraced["scored"]
    assert said.rstrip().endswith("confirmed by branch and bound")


def test_a_length_that_nobody_checked_is_not_called_confirmed(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    _, said, _ = drive(*SMALL, "--no-trace", "--record", record)
    assert said.rstrip().endswith("not confirmed: nobody was asked (--trace, --verify, --peers)")
    assert lines(record)[0]["scored"] is False


def test_a_record_holds_the_proof_and_what_was_asked(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    drive(*SMALL, "--verify", "--record", record)
    _, said, _ = drive(*SMALL, "--verify", "--record", record, "--repeats", 3)
    assert "1 of 3 repetitions are in" in said and said.count("confirmed by the scorer") == 2
    (found,) = lines(record)
    assert (found["workload"], found["backend"], len(found["samples"])) == ("heldkarp", "cpu", 3)
    assert found["parameters"] == {"trace": True, "k": None, "rotations": None, "improve": False}
    assert found["ways"] == {"mapping": "suite", "tiling": "auto", "device_memory": None, "spill": False}
    assert found["hash_covers"] == "answer"
    details = found["details"]
    assert (details["cities"], details["proved"]) == (9, True)
    assert details["confirmed_by"] == ["the scorer", "branch and bound"]
    assert sorted(details["tour"]) == list(range(9))
    assert found["evaluations"] > 0 and found["unit"] == "transitions"


def test_a_bar_shows_layers(drive):
    pytest.importorskip("rich")
    code, _, error = drive("--instance", "uniform:12:seed=4", "--backend", "cpu", "--progress")
    assert code == 0
    assert re.search(r"layers .*6/6.* best length \d+", error)


def test_a_bar_shows_passes_of_a_restricted_search(drive):
    pytest.importorskip("rich")
    asked = ["--instance", "uniform:30:seed=2", "--backend", "cpu", "--k", 4]
    code, said, error = drive(*asked, "--progress")
    assert code == 0
    assert re.search(rf"passes .*1/1.* length {re.search('length ([0-9]+)', said)[1]}", error)
    assert re.search(r"passes .*length \d+", drive(*asked, "--improve", "--progress")[2])


# --- matrices ---


def test_a_matrix_may_be_asymmetric(drive, tmp_path):
    np.save(tmp_path / "ring.npy", ONE_WAY + np.eye(4, dtype=int))  # the diagonal does not count
    tours = []
    for path in (saved(tmp_path / "ring.txt", ONE_WAY), tmp_path / "ring.npy"):
        record = path.with_suffix(path.suffix + ".jsonl")
        code, said, error = drive("--matrix", path, *HERE, "--verify", "--record", record)
        assert (code, error) == (0, "")
        room, result = said.splitlines()
        assert "in two directions" in room
        assert result.startswith("ring: shortest length 4, ")
        assert said.rstrip().endswith("confirmed by the scorer and by plain dynamic programming in NumPy")
        tours.append(lines(record)[0]["details"]["tour"])
    assert tours == [[0, 1, 2, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_matrix_of_any_size_is_searched(drive, tmp_path, n):
    matrix = np.random.default_rng(n).integers(1, 50, (n, n))
    np.fill_diagonal(matrix, 0)
    code, said, _ = drive("--matrix", saved(tmp_path / "m.txt", matrix), *HERE, "--verify")
    assert code == 0 and "m: shortest length " in said and "confirmed by the scorer and by " in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 1\n\n-1 0\n", ":3: found distance -1 from city 1 to 0, expected 0 to 2147483647"),
        ("0 1.5\n1 0\n", ":1: found distance 1.5 from city 0 to 1, expected an integer"),
        ("0 nan\n1 0\n", ":1: found distance nan from city 0 to 1, expected an integer"),
        ("0 1\n2147483648 0\n", ":2: found distance 2147483648 from city 1 to 0, expected 0 to 2147483647"),
        ("0 1 2\n1 0 3\n", ":2: found 2 rows of 3 numbers, expected a square matrix"),
    ],
)
def test_a_broken_matrix_is_refused_by_its_line(drive, tmp_path, text, told):
    path = tmp_path / "m.txt"
    path.write_text(text)
    code, said, error = drive("--matrix", path, *HERE)
    assert (code, said) == (2, "")
    assert error.startswith(f"error: {path}{told}") and error.count("\n") == 1


# --- more cities than can be proved ---


def test_of_many_cities_the_best_of_a_neighbourhood_is_found_and_not_called_exact(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    code, said, error = drive("--instance", "uniform:60:seed=2", *HERE, "--record", record)
    assert code == 0
    assert "60 cities, and a proof takes at most 36: restricted search with --k 8" in error
    assert "has room for" not in said
    assert "restricted, optimal over the neighbourhood (k = 8) of a start tour: length " in said
    assert "shortest" not in said and said.rstrip().endswith("confirmed by the scorer")
    (found,) = lines(record)
    assert found["details"]["proved"] is False and found["parameters"]["k"] == 8
    assert found["best_cost"] <= found["details"]["start_length"]


def test_k_rotations_and_improve_reach_the_restricted_search(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    for more in ([], ["--rotations", 3, "--improve"]):
        code, _, error = drive("--instance", "uniform:30:seed=2", *HERE, "--k", 4, *more, "--record", record)
        assert (code, error) == (0, "")
    plain, improved = lines(record)
    assert improved["best_cost"] <= plain["best_cost"]
    assert improved["parameters"] | {"k": 4, "rotations": 3, "improve": True} == improved["parameters"]


# --- who speaks against a result ---


@pytest.fixture
def verdict(drive, tmp_path, monkeypatch):
    """Run the program on the square, whose search finds what is told; returns the end of its line."""
    square = saved(tmp_path / "square.txt", SQUARE)

    def run(outcome, *more, optimum=None, searched=HeldKarp):
        monkeypatch.setattr(searched, "run", lambda *arguments, **named: outcome)
        monkeypatch.setattr("drivers.matrix_files.known.optimum", lambda digest: optimum)
        record = tmp_path / "r.jsonl"
        record.unlink(missing_ok=True)
        code, said, error = drive("--matrix", square, *HERE, *more, "--record", record)
        (found,) = lines(record)
        said = said.partition(" of the answer, ")[2].splitlines()[0]
        right = said.startswith("confirmed by ")
        assert (code, found["scored"]) == ((0, True) if right else (1, False))
        assert ("1 of 1 results NOT CONFIRMED; recorded and saved all the same" in error) == (not right)
        assert not right or said == f"confirmed by {' and by '.join(found['details']['confirmed_by'])}"
        return said

    return run


def test_a_wrong_result_is_not_confirmed_and_the_line_says_who_disagrees(verdict, monkeypatch):
    right = ShortestTour(12, np.arange(4), 0, 12, 1)
    longer = ShortestTour(16, np.array([0, 2, 1, 3]), 0, 16, 1)
    assert verdict(right, optimum=12) == "confirmed by the scorer and by the published optimum"
    assert (
        verdict(right, "--verify", optimum=12)
        == "confirmed by the scorer and by the published optimum and by branch and bound"
    )
    assert verdict(right._replace(length=11)) == "NOT CONFIRMED: the scorer finds length 12"
    assert verdict(longer, optimum=12) == "NOT CONFIRMED: the optimum is known to be 12"
    assert verdict(longer, "--verify") == "NOT CONFIRMED: branch and bound finds length 12"
    assert (
        verdict(longer._replace(tour=None), "--no-trace", optimum=12) == "NOT CONFIRMED: the optimum is known to be 12"
    )


def test_a_wrong_result_of_the_restricted_search_is_not_confirmed(verdict):
    def found(outcome, optimum=None):
        return verdict(outcome, "--k", 2, optimum=optimum, searched=RestrictedTour)

    right = Restricted(12, np.arange(4), 16, 4, 2, 10, 1)
    longer = Restricted(16, np.array([0, 2, 1, 3]), 16, 4, 2, 10, 1)
    assert found(longer, 12) == "confirmed by the scorer"
    assert found(right, 13) == "NOT CONFIRMED: the optimum is known to be 13"
    assert found(longer._replace(start_length=12)) == "NOT CONFIRMED: the start tour has length 12"
    assert found(right._replace(length=11)) == "NOT CONFIRMED: the scorer finds length 12"


# --- other solvers ---


def test_a_run_with_peers_prints_a_table_and_records_it(drive, package, tmp_path):
    package("held_karp", HELD_KARP)
    code, said, error = drive(*SMALL, "--peers", "--repeats", 2, "--record", tmp_path / "r.jsonl")
    assert (code, error) == (0, "")
    _, first, second, head, own, *rows = said.splitlines()
    assert all(re.search(r"confirmed by the scorer and by (.+ and by )?held-karp$", line) for line in (first, second))
    assert head.split()[:3] == ["solver", "cost", "proved"]
    (found,) = lines(tmp_path / "r.jsonl")
    length = str(found["best_cost"])
    assert own.split()[:4] == ["this", "search", length, "yes"]
    (held_karp,) = [row.split() for row in rows if row.startswith("held-karp")]
    assert held_karp[1:3] == [length, "yes"] and held_karp[-1] == "warm"
    peers = {peer["name"]: peer for peer in found["details"]["peers"]}
    assert (peers["held-karp"]["cost"], peers["held-karp"]["repetitions"]) == (found["best_cost"], 2)


def test_a_solver_that_proves_another_length_speaks_against_ours(verdict, package):
    package("held_karp", HELD_KARP)
    longer = ShortestTour(16, np.array([0, 2, 1, 3]), 0, 16, 1)
    assert "held-karp finds length 12" in verdict(longer, "--peers")


def test_a_solver_that_does_not_take_so_many_cities_says_so(drive, package):
    package("held_karp", HELD_KARP)
    code, said, _ = drive("--instance", "uniform:21:seed=1", *HERE, "--no-trace", "--peers")
    assert code == 0
    assert "held-karp: left out: 21 cities, it is run with 3 to 20" in said


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--instance", "uniform:20:seed=1", "--device-memory", "64K"],
            r"20 cities: .* need 2872116 bytes .* and 65536 ",
        ),
        (["--instance", "uniform:31:seed=1", "--verify"], "--verify: found 31 cities"),
        (["--seed", "1"], "--seed changes nothing here"),
        (["--spill", "."], "--spill changes nothing here"),
        (["--improve"], "--improve and --rotations change nothing here: expected with --k"),
        (["--rotations", "2"], "--improve and --rotations change nothing here: expected with --k"),
        (["--k", "4", "--verify"], r"--verify with a restricted search \(--k 4\)"),
        (["--k", "4", "--peers"], r"--peers with a restricted search \(--k 4\)"),
        (["--k", "4", "--no-trace"], r"--no-trace with a restricted search \(--k 4\)"),
        (["--k", "1"], "k = 1: at least 2"),
        (["--no-trace", "--tour", "best.tour"], "--tour needs --trace"),
        (["--matrix", "m.txt"], "--matrix and --instance: expected one of them"),
        (["--backend", "abacus"], "no backend 'abacus'"),
        (["--tour", "no/such/folder/best.tour"], "--tour no/such/folder/best.tour: cannot write there"),
    ],
    ids=lambda value: "-".join(value).replace("--", "").replace("/", ".") if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_exit_code_2(drive, arguments, told):
    code, said, error = drive(*SMALL, *arguments)
    assert (code, said) == (2, "")
    assert error.startswith("error: ") and error.count("\n") == 1
    assert re.search(told, error)


def test_two_ranks_print_and_record_what_one_does(drive, mpirun, tmp_path):
    for extra in ([], ["--k", "5"]):
        record = tmp_path / f"{len(extra)}.jsonl"
        done = mpirun(2, *SMALL, *extra, "--record", record)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("confirmed by the scorer") == 1
        drive(*SMALL, *extra, "--record", record)
        together, alone = lines(record)
        assert (together["ranks"], alone["ranks"]) == (2, 1)
        assert together["trajectory_hash"] == alone["trajectory_hash"]
        assert together["details"]["tour"] == alone["details"]["tour"]
