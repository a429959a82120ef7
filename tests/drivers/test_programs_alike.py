"""Common behaviour of programs: results, errors in one line, wrong results, bars, repetitions, reference solvers."""

import re
from dataclasses import replace

import numpy as np
import pytest

from core.exact import ExactSearch, Solution
from core.instances import tsplib
from core.run.protocol import Progress
from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch, NeighbourhoodTour
from core.tables.held_karp.search import HeldKarp, ShortestTour
from core.tables.lcs.search import CommonSubsequence, LongestCommonSubsequence
from drivers.cli.progress import progress_callback
from drivers.runs.workload_main import parse_options
from drivers.workload.declaration import verifier_with_article
from reports.rates import rate_sections
from reports.records.files import load
from tests.drivers.records import SQUARE, cities_of, length_of, lines, saved
from tests.drivers.small_runs import QUICK, driver_of, workload_of
from tests.drivers.stand_ins import ELKAI, HELD_KARP, KNAPSACK_SOLVER, RAPIDFUZZ

CPU = ("--backend", "cpu", "--no-progress")

# --- what comes out ---

TIMES = r"[\d.,]+ (k |M |G )?\S+/s, [\d.]+ s \(compile [\d.]+, transfer [\d.]+, kernel [\d.]+, host [\d.]+\)"
HASH = "hash [0-9a-f]{16} of"
ANT_SYSTEM = "--instance uniform:30:seed=1 --ants 24 --iterations 6"
PARTS = "--variant mmas --colonies 3 --exchange 2 --stagnation 2 --local-search 2opt --candidates 8 --best-every 3"
# 24 ants look at 30 cities in each of 30 steps and 6 iterations.
SAID = [
    ("aco", ANT_SYSTEM, r".*Ant System, 24 ants, 6 iterations, fine-deposit.* on cpu \(.*\n.*: length \d+ by ant \d+ "
     rf"in iteration [0-5], 129,600 selections, {TIMES}, {HASH} all tours, confirmed by the scorer"),
    ("aco", f"{ANT_SYSTEM} {PARTS} --smoothing 0.25", r".*Max-Min Ant System, 3 colonies of 24 ants, 8 candidates, "
     r"2-opt after every tour, 6 iterations.*\n.*by ant \d+ of colony [012] in iteration [0-5], .*, "
     "confirmed by the scorer"),
]  # fmt: skip


@pytest.mark.parametrize(("driver", "arguments", "expected"), SAID, ids=[f"{row[0]} {row[1][:30]}" for row in SAID])
def test_a_run_says_what_it_found_how_fast_and_who_confirms_it(drive, driver, arguments, expected):
    code, said, error = drive(*arguments.split(), *CPU, driver=driver_of(driver))
    assert (code, error) == (0, "")
    assert re.fullmatch(expected, said.strip()), said


@pytest.mark.parametrize("driver", ["exact", "heldkarp"])
def test_a_published_optimum_is_named_and_the_files_are_written(drive, shared_data, tmp_path, driver):
    tour, drawing = tmp_path / "best.tour", tmp_path / "best.svg"
    files = ("--data", shared_data, "--tour", tour, "--svg", drawing)
    code, said, _ = drive("--instance", "burma14", *CPU, *files, driver=driver_of(driver))
    assert code == 0 and "burma14: shortest length 3323 (the optimum), " in said
    assert said.endswith("confirmed by the scorer and by the published optimum\n")
    assert length_of(tsplib.load(shared_data / "tsplib" / "burma14.tsp").distances, cities_of(tour)) == 3323
    assert drawing.read_text().startswith("<svg")


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("driver", ["exact", "heldkarp"])
def test_a_matrix_of_any_size_is_searched(drive, tmp_path, driver, n):
    upper = np.triu(np.random.default_rng(n).integers(1, 50, (n, n)), 1)
    np.save(tmp_path / "m.npy", upper + upper.T)
    code, said, _ = drive("--matrix", tmp_path / "m.npy", *CPU, "--verify", driver=driver_of(driver))
    assert code == 0 and "m: shortest length " in said and "confirmed by the scorer and by " in said


TABLES = {"lcs": "random:700:seed=3", "knapsack": "--items 20 --capacity 500 --seed 1"}


@pytest.mark.parametrize(
    ("driver", "verifier", "of_many_cells"),
    [("lcs", "plain Python", "plain Python"), ("knapsack", "NumPy", "an expanding core")],
)
def test_a_result_without_a_solution_is_confirmed_by_another_search_or_not_at_all(
    drive, monkeypatch, tmp_path, driver, verifier, of_many_cells
):
    def said(*more):
        code, printed, _ = drive(*TABLES[driver].split(), *CPU, *more, driver=driver_of(driver))
        assert code == 0
        return printed.rstrip()

    alone = said("--no-trace")
    assert alone.endswith(f" of the result, confirmed by {verifier}")
    assert "streamed" not in alone and "items" not in alone
    monkeypatch.setattr(driver_of(driver), "MOST_VERIFIED_CELLS", 100)
    unverified = said("--no-trace", "--record", tmp_path / "r.jsonl")
    assert unverified.endswith(", not confirmed: no verifier was run (--trace, --verify, --peers)")
    (line,) = lines(tmp_path / "r.jsonl")
    assert (line["verified"], line["details"]["verified_by"]) == (False, [])
    assert said("--no-trace", "--verify").endswith(f", confirmed by {of_many_cells}")
    assert said().endswith(" of the result, confirmed by the scorer")


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("lcs", "half:20000:seed=1: length 10000 of 20000 and 20000 letters, "),
        ("knapsack", "paper:1500:100000:seed=0: value "),
    ],
)
def test_a_first_run_needs_no_options(drive, driver, expected):
    code, said, _ = drive(*CPU, driver=driver_of(driver))
    assert code == 0 and said.startswith(expected)


# --- what changes nothing but the speed ---

PUBLISHED = "--mapping published"
FILES = f"{PUBLISHED} --spill ."
STRATEGIES = ("coarse", "fine", "fine-deposit")
LOCAL = ("evaluation linear", "data-memory readonly", "data-memory shared", "shape tuned")
SMALL = "--device-memory"
WAYS = [
    ("qap", "--instance taillard:9:seeds=1,2 --iterations 200", [
        "", *(f"--{way}" for way in LOCAL), PUBLISHED, f"{PUBLISHED} --select device", f"{PUBLISHED} --generate host",
        f"{PUBLISHED} --data-memory readonly", f"{PUBLISHED} --shape tuned"]),
    ("qap", "--instance taillard:9:seeds=1,2 --iterations 200 --algorithm hill --walks 7", ["", PUBLISHED]),
    ("ppp", "--instance 17-15:seed=3 --iterations 50", ["", PUBLISHED, f"{PUBLISHED} --layout rows"]),
    ("ihc", "--instance uniform:12:seed=1 --climbers 21", [
        "", "--scan full", f"{PUBLISHED} --assign static", f"{PUBLISHED} --scan full --assign worklist"]),
    ("aco", "--instance uniform:30:seed=1 --ants 24 --iterations 6 --alpha 1.5 --beta 3", [
        f"--strategy {strategy} {mapping}" for strategy in STRATEGIES for mapping in ("", f"{PUBLISHED} --history")]),
    ("exact", "--instance uniform:9:seed=1 --count --verify --bound edges", [
        "", PUBLISHED, f"{PUBLISHED} --depth 2 --no-unrolled"]),
    ("exact", "--instance uniform:9:seed=1 --count --verify --bound none", ["", f"{PUBLISHED} --unrolled"]),
    ("lcs", "random:700:seed=3", {
        "": 0, f"{SMALL} 20K": 1, f"{SMALL} 20K --spill .": 1,
        PUBLISHED: 4 * 700 * 700, FILES: 4 * 700 * 700}),
    ("knapsack", "--items 20 --capacity 500 --seed 1", {
        "": 0, f"{SMALL} 300": 1, f"{SMALL} 300 --spill .": 1,
        PUBLISHED: 4 * 20 * 501, FILES: 4 * 20 * 501}),
    ("heldkarp", "--instance uniform:9:seed=1", {
        "": 0, PUBLISHED: 4 * 8 * 2**7, FILES: 4 * 8 * 2**7}),
]  # fmt: skip
"""A program's work, and options that keep its result; with a table's, the bytes that leave the device (1: some)."""


@pytest.mark.parametrize(("name", "work", "ways"), WAYS, ids=[f"{name} {work}" for name, work, _ in WAYS])
def test_ways_change_nothing_but_the_speed_and_are_recorded(drive, tmp_path, monkeypatch, name, work, ways):
    monkeypatch.chdir(tmp_path)
    for way in ways:
        code, _, error = drive(*work.split(), *way.split(), *CPU, "--record", "r.jsonl", driver=driver_of(name))
        assert (code, error) == (0, "")
    runs = lines("r.jsonl")
    for same in ("hash", "best_cost", "best_index", "parameters", "verified"):
        assert all(run[same] == runs[0][same] for run in runs), same
    for way, run in zip(ways, runs, strict=True):
        asked = parse_options(workload_of(name), "", way.split()).asked()
        assert {key: run["execution"][key] for key in asked if key in run["execution"]} == asked
        if isinstance(ways, dict):
            streamed = run["details"]["streamed_bytes"]
            assert streamed == ways[way] or streamed > ways[way] == 1
    if isinstance(ways, list):
        assert len(rate_sections(load("r.jsonl"))[0].rates) == len(ways)
    if name == "ihc":
        full, *published = (run["evaluations"] for run in runs[1:])
        assert published == [full // 54 * 55] * 2  # (n - 3) n / 2 and (n - 2)(n - 1) / 2 moves a step
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


PUBLISHED = "--mapping published"


# --- who speaks against a result ---


@pytest.fixture
def verdict(drive, tmp_path, monkeypatch):
    """Run a program with a given search result; return the end of its line and the reference solvers' part."""
    square = saved(tmp_path / "square.txt", SQUARE)

    def run(driver, search, outcome, arguments="", optimum=None):
        monkeypatch.setattr(search, "run", lambda *positional, **named: outcome)
        monkeypatch.setattr("drivers.workload.matrix_files.optima.optimum", lambda digest: optimum)
        record = tmp_path / "r.jsonl"
        record.unlink(missing_ok=True)
        words = arguments.split()
        if driver != "lcs":
            words = ["--matrix", square, *words]
        code, said, error = drive(*words, *CPU, "--record", record, driver=driver_of(driver))
        (recorded,) = lines(record)
        said = said.partition(" of the result, ")[2].splitlines()[0]
        right = said.startswith("confirmed by ")
        assert (code, recorded["verified"]) == ((0, True) if right else (1, False))
        assert ("1 of 1 results NOT CONFIRMED; recorded and saved anyway" in error) == (not right)
        assert (
            not right
            or said == f"confirmed by {' and by '.join(map(verifier_with_article, recorded['details']['verified_by']))}"
        )
        return said.removeprefix("NOT CONFIRMED: ")

    return run


def test_a_wrong_subsequence_is_not_confirmed_and_the_line_says_who_disagrees(verdict):
    def said(pairs, length=None, arguments="--text ABCBDAB BDCABA"):
        pairs = None if pairs is None else np.array(pairs, np.int64).reshape(-1, 2)
        outcome = CommonSubsequence(len(pairs) if length is None else length, pairs, "", 42, 0)
        return verdict("lcs", LongestCommonSubsequence, outcome, arguments)

    right, alone = [(1, 0), (2, 2), (3, 4), (5, 5)], "--text ABCBDAB BDCABA --no-trace"
    assert said(right) == "confirmed by the scorer and by plain Python"
    assert said(None, 4, alone) == "confirmed by plain Python"
    assert said(right[:3]) == said(None, 5, alone) == "plain Python finds length 4"
    assert said(None, 4) == "the scorer finds no subsequence"
    assert said([*right[:3], (5, 3)]) == "the scorer finds pair 3 not behind the one before"
    assert said([(0, 0), *right[1:]]) == "the scorer finds different letters in pair 0"
    message = "the scorer finds length 50 by the strings' making; plain Python finds length 50"
    assert said(None, 40, "half:100:seed=2 --no-trace") == message


def test_a_wrong_shortest_tour_is_not_confirmed(verdict):
    def said(outcome, arguments="", optimum=None):
        return verdict("heldkarp", HeldKarp, outcome, arguments, optimum)

    right = ShortestTour(12, np.arange(4), 0, 12, 1)
    longer = ShortestTour(16, np.array([0, 2, 1, 3]), 0, 16, 1)
    published = "confirmed by the scorer and by the published optimum"
    assert said(right, optimum=12) == published
    assert said(right, "--verify", 12) == f"{published} and by branch and bound"
    assert said(replace(right, length=11)) == "the scorer finds length 12"
    assert said(longer, optimum=12) == "the optimum is known to be 12"
    assert said(longer, "--verify") == "branch and bound finds length 12"
    assert said(replace(longer, tour=None), "--no-trace", 12) == "the optimum is known to be 12"


def test_a_wrong_tour_of_a_neighbourhood_is_not_confirmed(verdict):
    def said(outcome, optimum=None):
        return verdict("heldkarp", BalasSimonettiSearch, outcome, "--k 2", optimum)

    right = NeighbourhoodTour(12, np.arange(4), 16, 4, 2, 10)
    longer = NeighbourhoodTour(16, np.array([0, 2, 1, 3]), 16, 4, 2, 10)
    assert said(longer, 12) == "confirmed by the scorer"
    assert said(right, 13) == "the optimum is known to be 13"
    assert said(replace(longer, start_length=12)) == "the start tour has length 12"
    assert said(replace(right, length=11)) == "the scorer finds length 12"


def test_a_wrong_proof_is_not_confirmed(verdict):
    def said(outcome, arguments="", optimum=None):
        return verdict("exact", ExactSearch, outcome, arguments, optimum)

    right = Solution(12, np.arange(4), 1, np.zeros(5, np.int64), None, 12, 1)
    longer = replace(right, length=16, tour=np.array([0, 2, 1, 3]), optimal_tours=None)
    published = "confirmed by the scorer and by the published optimum"
    assert said(right, optimum=12) == published
    assert said(right, "--verify", 12) == f"{published} and by a full search in NumPy"
    assert said(replace(right, length=11)) == "the scorer finds length 12"
    assert said(longer, optimum=12) == "the optimum is known to be 12"
    assert said(longer, "--verify") == "a full search in NumPy finds length 12"
    assert said(replace(right, optimal_tours=2), "--verify") == "a full search in NumPy finds 1 shortest tours"


# --- repetitions and bars ---


@pytest.mark.parametrize("driver", ["aco", "exact", "heldkarp", "lcs", "qap"])
def test_a_run_that_was_cut_short_makes_only_the_missing_repetitions(drive, tmp_path, driver):
    record, driver, words = tmp_path / "r.jsonl", driver_of(driver), [*QUICK[driver].split(), "--no-progress"]
    drive(*words, "--record", record, driver=driver)
    (first,) = lines(record)
    _, said, _ = drive(*words, "--record", record, "--repeats", "3", driver=driver)
    assert "1 of 3 repetitions are in" in said
    assert said.count("confirmed by the scorer") == 2
    (whole,) = lines(record)
    assert (len(whole["repetitions"]), whole["repetitions"][0]) == (3, first["repetitions"][0])
    assert whole["hash"] == first["hash"]


ANTS = "--instance uniform:20:seed=1 --ants 8 --iterations 6"
BARS = [
    ("lcs", "random:9000", r"waves .*[\d,]+ cells/s, best length \d+"),
    ("lcs", f"half:300 {PUBLISHED}", "waves"),
    ("knapsack", "--items 300 --capacity 1000 --method dp", "items .*cells/s"),
    ("knapsack", "--items 300 --capacity 1000 --method bb", r"nodes .*nodes/s, best value \d+"),
    ("heldkarp", "--instance uniform:12:seed=4", r"layers .*6/6.* best length \d+"),
    ("heldkarp", "--instance uniform:30:seed=2 --k 4", r"layers .*length \d+"),
    ("heldkarp", f"--instance uniform:9:seed=1 {PUBLISHED}", "layers"),
    ("exact", "--instance uniform:12:seed=4 --bound edges", r"[\d,]+ nodes/s, best length {best}"),
    ("aco", ANTS, "6/6.*best length {best}"),
]


@pytest.mark.parametrize(("driver", "arguments", "shown"), BARS, ids=[f"{row[0]} {row[1]}" for row in BARS])
def test_a_bar_is_shown_and_changes_nothing(drive, driver, arguments, shown):
    pytest.importorskip("rich", reason="rich is not installed")
    words = [*arguments.split(), "--backend", "cpu"]
    code, said, error = drive(*words, "--progress", driver=driver_of(driver))
    _, quiet, _ = drive(*words, "--no-progress", driver=driver_of(driver))
    assert code == 0
    best = re.search(r"length (\d+)", said)
    assert re.search(shown.format(best=best and best[1]), error, re.S)
    assert re.findall("hash ([0-9a-f]{16})", said) == re.findall("hash ([0-9a-f]{16})", quiet) != []


def test_a_bar_is_shown_even_where_only_the_clock_ends_the_search(drive):
    pytest.importorskip("rich", reason="rich is not installed")
    arguments = ["--instance", "taillard:9:seeds=1,2", "--backend", "cpu", "--seconds", "0.1", "--progress"]
    code, _, error = drive(*arguments, driver=driver_of("qap"))
    assert code == 0 and "searching" in error


def test_a_bar_shows_speed_best_and_bound():
    shown = []
    callback = progress_callback(lambda *one: shown.append(one), "nodes", "length")
    callback(Progress(100, None, 50, 0.5, 100))
    callback(Progress(250, 300, 40, 1.0, 250, 35))
    assert shown == [(100, None, "200 nodes/s, best length 50"), (250, 300, "250 nodes/s, best length 40, bound 35")]


# --- other solvers ---

ORTOOLS = "ortools.algorithms.python.knapsack_solver"
SOLVERS = [
    ("lcs", "--text ABCBDAB BDCABA", "rapidfuzz.distance", RAPIDFUZZ, "rapidfuzz"),
    ("knapsack", "--items 10 --capacity 40", ORTOOLS, KNAPSACK_SOLVER, "ortools"),
    ("exact", "--instance uniform:7:seed=1", "held_karp", HELD_KARP, "held-karp"),
]


@pytest.fixture
def beside(drive, package, tmp_path, monkeypatch):
    """Run a program twice with stand-ins for other solvers; return its code, lines, errors and record."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def run(driver, arguments, modules):
        for module, code in modules.items():
            package(module, code)
        words = [*arguments.split(), *CPU, "--peers", "--repeats", "2", "--record", tmp_path / "r.jsonl"]
        code, said, error = drive(*words, driver=driver_of(driver))
        return code, said.splitlines(), error, lines(tmp_path / "r.jsonl")[0]

    return run


@pytest.mark.parametrize(
    ("driver", "arguments", "module", "stand_in", "name"), SOLVERS, ids=[row[0] for row in SOLVERS]
)
def test_other_solvers_stand_in_a_table_and_in_the_record(beside, driver, arguments, module, stand_in, name):
    code, said, error, record = beside(
        driver, arguments, {module: stand_in, "elkai": ELKAI.replace("shortest(self.rows)", "range(7)")}
    )
    assert (code, error) == (0, "")
    own = next(k for k, line in enumerate(said) if line.startswith("this search"))
    assert all(
        re.search(rf"confirmed by the scorer and by (.+ and by )?{name}$", line) for line in said[own - 4 : own - 2]
    )
    assert said[own - 2].split() == ["solver", "cost", "time", "time", "to", "our", "cost", "start-up", "proved"]
    best, best_text = record["best_cost"], f"{record['best_cost']:,}"
    (peer,) = [line for line in said[own:] if line.startswith(name)]
    assert said[own].split()[:3] == ["this", "search", best_text] and f" {best_text} " in peer
    assert said[own].split()[-1] == peer.split()[-1] == "yes"
    recorded = {one["name"]: one for one in record["details"]["reference_solvers"]}
    assert (recorded[name]["cost"], recorded[name]["proved"], recorded[name]["repetitions"]) == (best, True, 2)
    assert record["verified"] and len(record["repetitions"]) == 2
    assert name in record["details"]["verified_by"] and "elkai" not in record["details"]["verified_by"]
    if driver == "exact":
        assert recorded["elkai"]["cost"] > best and not recorded["elkai"]["proved"]
        assert recorded["concorde"]["cost"] is None and recorded["concorde"]["failure"].startswith("not found")
        assert any(line.startswith("concorde: not found: build it from ") for line in said)


def test_a_solver_may_disagree(beside):
    code, said, error, recorded = beside(
        "lcs", "--text ABCBDAB BDCABA", {"rapidfuzz.distance": RAPIDFUZZ.replace("row[-1]", "5")}
    )
    assert code == 1
    assert "2 of 2 results NOT CONFIRMED; recorded and saved anyway" in error
    assert [line.partition(" of the result, ")[2] for line in said[:2]] == [
        "NOT CONFIRMED: rapidfuzz finds length 5"
    ] * 2
    assert not recorded["verified"] and recorded["details"]["reference_solvers"][0]["cost"] == 5
    assert recorded["details"]["verified_by"] == ["scorer", "plain Python"]


def test_solvers_need_a_repetition_to_stand_beside(drive, package, tmp_path):
    package("rapidfuzz.distance", RAPIDFUZZ)
    words = ["--text", "ABCBDAB", "BDCABA", *CPU, "--record", tmp_path / "r.jsonl"]
    drive(*words, driver=driver_of("lcs"))
    code, said, _ = drive(*words, "--peers", driver=driver_of("lcs"))
    assert code == 0 and said.splitlines()[0].startswith("1 of 1 repetitions are in ")
    assert said.endswith("nothing to compare the reference solvers with: all repetitions are recorded\n")
