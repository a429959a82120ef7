"""Calls of the library: typed values reach the search as they are, by few functions, and messages are logged."""

import dataclasses
import inspect
import io
import logging
import os
import re
import sys
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

import onekernel as ok
from core.local_search import LocalSearch
from drivers.cli.exit_codes import run_driver
from drivers.cli.messages import print_note
from drivers.library.custom_problem import CustomProblemOptions
from drivers.library.minimize import SearchKeywords
from drivers.options.initial import read_solutions
from drivers.options.local_search import SearchOptions
from drivers.options.values import ArrayValue
from drivers.qap import main as qap
from reports.records.files import load
from tests.conftest import ROOT

MOST_FUNCTIONS, MOST_FILES = 36, 18
"""Between the construction of a problem and of its search, in a second call."""


@pytest.fixture(scope="module")
def assignment():
    return ok.Qap("taillard:8:seeds=1,2")


def test_few_functions_run_before_the_search_is_made():
    functions, reached = {}, []
    own = tuple(f"{ROOT / name}{os.sep}" for name in ("core", "backends", "cluster", "drivers", "reports"))

    def count(frame, event, _):
        code = frame.f_code
        path = code.co_filename
        if event != "call" or reached or not path.startswith(own):
            return
        if code.co_qualname == LocalSearch.__init__.__qualname__:
            reached.append(code)
        elif not code.co_name.startswith("<"):
            functions[path, code.co_qualname] = True

    def call():
        ok.minimize(ok.Qap("taillard:12:seeds=3,4"), ok.TabuSearch(), backend="cpu", iterations=5, progress=False)

    call()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    assert reached and len(functions) <= MOST_FUNCTIONS, functions
    assert len({path for path, _ in functions}) <= MOST_FILES, functions


def test_objects_reach_the_search_untouched(assignment, monkeypatch):
    calls = []
    init = LocalSearch.__init__

    def noting(self, backend, ranks, problem, algorithm, neighbourhoods, **more):
        calls.append((problem, algorithm, neighbourhoods))
        init(self, backend, ranks, problem, algorithm, neighbourhoods, **more)

    monkeypatch.setattr(LocalSearch, "__init__", noting)
    algorithm = ok.IteratedLocalSearch(first=True)  # no option of a program makes it
    neighbourhood = assignment.neighbourhood("exchange2")
    ok.minimize(assignment, algorithm, neighbourhood, backend="cpu", iterations=3)
    ((problem, passed, (first,)),) = calls
    assert problem is assignment and passed is algorithm and first is neighbourhood


def test_numbers_of_numpy_are_numbers(assignment):
    results = ok.minimize(assignment, backend="cpu", iterations=np.int64(20), seeds=np.arange(2), walks=np.int32(3))
    plain = ok.minimize(assignment, backend="cpu", iterations=20, seeds=[0, 1], walks=3)
    assert results.hash == plain.hash and [one.seed for one in results] == [0, 1]


def test_grouped_keywords_are_the_options_of_programs(assignment, tmp_path):
    record, search = tmp_path / "runs.jsonl", {"backend": "cpu", "record": tmp_path / "runs.jsonl"}
    by_stop = ok.minimize(assignment, stop=ok.Iterations(30) | ok.Target(0), **search)
    settings = ok.Execution(evaluation="linear", level="solution", data_memory="readonly")
    executed = ok.minimize(assignment, stop=ok.Iterations(30) | ok.Target(0), execution=settings, **search)
    options = {"evaluation": "linear", "level": "solution", "data_memory": "readonly"}
    by_option = ok.run("qap", instance=assignment, iterations=30, target=0, **options, **search)
    assert by_stop.hash == by_option.hash == executed.hash and by_stop.evaluations == by_option.evaluations
    plain, grouped = load(record)
    assert len(grouped.repetitions) == 2 and options.items() <= grouped.execution.items()
    assert plain.parameters == grouped.parameters


def test_algorithms_in_records_have_the_options_of_programs():
    tabu = SearchOptions(algorithm=ok.TabuSearch(tenure=4), neighbourhood=("flip1", "flip2"))
    assert tabu.asked() == {"neighbourhood": "flip1,flip2", "tenure": 4}
    assert SearchOptions(algorithm="tabu", tenure=4, neighbourhood="flip1,flip2").asked() == tabu.asked()
    assert SearchOptions(algorithm=ok.HillClimbing(first=True)).asked() == {"algorithm": "first"}


def test_a_result_is_short_and_several_are_a_line_each(assignment):
    results = ok.minimize(assignment, backend="cpu", iterations=20, seeds=[4, 5])
    assert repr(results[0]).startswith(f"Result({assignment.name!r}, cost={results[0].cost}, ")
    assert repr(results[0]).endswith("backend='cpu')") and "array" not in repr(results[0])
    assert repr(results).splitlines() == ["Results(", *(f"    {result!r}," for result in results), ")"]


def test_keywords_that_type_checkers_see_are_those_of_the_signature_and_of_programs():
    keywords = inspect.signature(ok.minimize).parameters
    positional = {"problem", "algorithm", "neighbourhood", "seeds"}
    assert SearchKeywords.__annotations__.keys() | positional == keywords.keys() and len(keywords) < 20
    options = {field.name: field.default for field in dataclasses.fields(CustomProblemOptions)}
    given = {name: one.default for name, one in keywords.items()} | vars(ok.Execution())
    shared = given.keys() & options.keys() - {"algorithm", "seed"}
    assert len(shared) > 20 and {name: given[name] for name in shared} == {name: options[name] for name in shared}


def test_notes_are_logged_and_not_printed(assignment, caplog, capsys, tmp_path):
    file = tmp_path / "state"
    with caplog.at_level(logging.INFO, "onekernel"):
        ok.minimize(assignment, backend="cpu", iterations=5, checkpoint=ok.CheckpointFile(file, resume=True))
    assert [record.getMessage() for record in caplog.records] == [
        f"{file}: found no checkpoint, so the run starts from the beginning"
    ]
    unit = tmp_path / "u.tsp"
    text = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 .3 0\n3 0 .4\nGRID_SIZE: 1\nEOF\n"
    unit.write_text(text)
    with pytest.warns(UserWarning, match="EUC_2D rounds distances") as warned:
        found = ok.run("exact", instance=unit, drop="GRID_SIZE", backend="cpu")
    assert found.name == "u without GRID_SIZE" and warned[0].filename == __file__
    assert capsys.readouterr() == ("", "")
    print_note("of a program")
    assert capsys.readouterr().err == "note: of a program\n"


# --- start solutions ---


def test_walks_begin_at_the_solutions_that_are_given(assignment):
    two = np.array([np.arange(8), np.arange(8)[::-1]])
    result = ok.minimize(assignment, ok.HillClimbing(), backend="cpu", iterations=1, walks=2, initial=two, history=True)
    alone = [ok.minimize(assignment, ok.HillClimbing(), backend="cpu", iterations=1, initial=one) for one in two]
    assert result.cost == min(one.cost for one in alone)
    assert [one.cost < assignment.cost(start) for one, start in zip(alone, two, strict=True)] == [True, True]
    assert alone[0].hash != alone[1].hash


TOUR = "NAME : own\nTYPE : TOUR\nDIMENSION : 8\nTOUR_SECTION\n1 2 3\n4 5 6 7 8\n-1\nEOF"


@pytest.mark.parametrize(
    "layout", ["0 1 2 3 4 5 6 7", "\n".join("01234567"), "1,2, 3,4\n5,6,7,8", "8 0\n1 2 3 4 5 6 7 8", TOUR]
)
def test_a_program_reads_start_solutions_from_a_file(assignment, layout, tmp_path, capsys):
    file, record = tmp_path / "start.txt", tmp_path / "runs.jsonl"
    file.write_text(f"{layout}\n")
    words = ["--instance", assignment.name, "--backend", "cpu", "--iterations", "9", "--initial", str(file)]
    assert run_driver(qap, [*words, "--record", str(record)]) == 0
    result = ok.minimize(assignment, backend="cpu", iterations=9, initial=range(8))
    assert f"hash {result.hash}" in capsys.readouterr().out
    (kept,) = load(record)
    assert kept.parameters["initial"] == str(ArrayValue(np.arange(8)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 1 2 3 4 5 6 7\n0 1 2 x 4 5 6 7\n", ":2: found element 'x', expected an integer from 0 to 7"),
        ("0 1 2 3 4 5 6 7\n\n0 1 2\n", ":3: found 3 numbers, expected the 8 of a solution"),
        ("\n", ": found 0 numbers, expected the 8 of a solution"),
        ("1 2 3\n4 5 3\n7 8", ":2: found element 3 again, as on line 1, expected it once"),
        (TOUR.replace("3", "2"), ":5: found city 2 again, as on line 5, expected it once"),
        (TOUR.replace("8", "9"), ":3: found a tour of 9 cities, expected 8 cities"),
    ],
)
def test_a_wrong_file_of_start_solutions_is_refused_with_its_line(assignment, text, expected, tmp_path):
    file = tmp_path / "start.txt"
    file.write_text(text)
    with pytest.raises(ok.UserError, match=f"^{re.escape(str(file) + expected)}$"):
        read_solutions(str(file), assignment)


def test_a_solution_file_holds_a_permutation_or_its_inverse(assignment, tmp_path, caplog):
    order = np.array([3, 1, 0, 2, 7, 4, 5, 6])
    cost, file = assignment.cost(order), tmp_path / "own.sln"
    for held in (order, np.argsort(order)):
        file.write_text(f"  8   {cost}\n{', '.join(map(str, held + 1))}\n")
        assert read_solutions(str(file), assignment).tolist() == order.tolist()
    file.write_text(f"8 {cost + 1} {' '.join(map(str, order + 1))}")
    found = ok.minimize(assignment, backend="cpu", iterations=1, initial=file, seeds=[1, 2])
    assert found.hash == ok.minimize(assignment, backend="cpu", iterations=1, initial=order + 1, seeds=[1, 2]).hash
    assert caplog.messages == [f"{file}: found cost {cost + 1}, the solution has cost {cost}"]


@pytest.mark.parametrize(
    ("workload", "options", "written"),
    [
        ("qap", {"instance": "taillard:8:seeds=1,2"}, "solution"),
        ("ppp", {"instance": "9-11"}, "solution"),
        ("weierstrass", {"instance": 3, "points": 50, "dtype": "float64", "neighbourhood": "axes"}, "solution"),
        ("tsp", {"instance": "uniform:9:seed=1", "algorithm": "tabu"}, "tour"),
        ("tsp", {"instance": "uniform:200:seed=1"}, "tour"),
        ("tsp", {"instance": "uniform:200:seed=1", "algorithm": "windows", "window": 50}, "tour"),
    ],
)
def test_a_result_that_a_program_writes_starts_a_search(workload, options, written, tmp_path):
    file, options = tmp_path / "best", {**options, "backend": "cpu"}
    first = ok.run(workload, iterations=4, **{**options, written: file})
    again = ok.run(workload, iterations=1, initial=file, history=True, **options)
    rounding = 12 if workload == "weierstrass" else 0
    assert first.cost + rounding >= again.history[0][-1] >= again.cost
    assert first.cost + rounding < ok.run(workload, iterations=1, history=True, seed=1, **options).history[0][-1]


def test_points_off_the_grid_start_a_search():
    problem = ok.Weierstrass(3, points=50, dtype="float64")
    found = ok.minimize(problem, ok.HillClimbing(), backend="cpu", iterations=3, initial=[0.1, -0.7, 0.3])
    assert found.confirmed and found.cost <= problem.cost(np.rint(np.array([0.1, -0.7, 0.3]) * 2**24) / 2**24)


# --- arrays ---


def test_arrays_make_tours_and_assignments():
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 50, (2, 6, 6))
    orders = np.array([*permutations(range(6))])
    along = orders, np.roll(orders, -1, axis=1)
    search = {"backend": "cpu", "iterations": 20, "walks": 8}
    assigned = ok.minimize(ok.Qap(a.tolist(), b.astype(float)), **search)
    assert assigned.cost == min((a * b[np.ix_(order, order)]).sum() for order in orders)
    points = draw.integers(0, 99, (6, 2))
    plane = np.rint(np.hypot(*(points[:, None] - points).T)).astype(int)
    shortest = plane[along].sum(axis=1).min()
    for factor in (1.0, (2**31 - 2) // plane.max(axis=1).sum()):
        found = ok.minimize(ok.TspTour((plane * factor).tolist()), neighbourhood="exchange3", **search)
        assert found.cost == shortest * factor
    tour = ok.TspTour(coordinates=points)
    assert ok.run("tsp", instance=tour, backend="cpu", iterations=20).cost == shortest
    assert ok.run("ihc", instance=tour, backend="cpu", climbers=20).cost == shortest
    assert ok.run("exact", matrix=plane, backend="cpu").cost == shortest
    assert ok.run("heldkarp", matrix=a.tolist(), backend="cpu").cost == a[along].sum(axis=1).min()


def test_arrays_make_perceptrons_and_tables():
    draw = np.random.default_rng(3)
    signs, secret = draw.choice([-1, 1], (5, 7)), draw.choice([-1, 1], 7)
    signs[signs @ secret < 0] *= -1
    problem = ok.Ppp(signs, (signs @ secret).astype(float))
    assert problem.cost(secret > 0) == ok.minimize(problem, backend="cpu", iterations=50, walks=8).cost == 0
    assert ok.Weierstrass(np.int64(2)).cost(np.zeros(2)) == 0
    weights, values = draw.integers(1, 20, (2, 9))
    chosen = np.array([*product([0, 1], repeat=9)])
    items = ok.Knapsack("mine", weights.tolist(), values.astype(float), 40)
    assert ok.run("knapsack", instance=items, backend="cpu").cost == (chosen @ values)[chosen @ weights <= 40].max()
    assert ok.run("lcs", text=("HUMAN", "CHIMPANZEE"), backend="cpu").cost == len("HMAN")


# --- names of any bytes ---


def test_files_may_have_names_of_any_bytes(tmp_path, monkeypatch):
    instance, record = (str(tmp_path / os.fsdecode(name)) for name in (b"a\xff.dat", b"runs\xff.jsonl"))
    Path(instance).write_text("3\n0 1 2\n1 0 3\n2 3 0\n0 1 2\n1 0 3\n2 3 0\n")
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "utf-8"))
    words = ["--instance", instance, "--iterations", "2", "--backend", "cpu", "--record", record]
    assert run_driver(qap, [*words, "--initial", "a\udcff"]) == 2
    (tmp_path / os.fsdecode(b"i\xff")).write_text("0 1 2\n")
    assert run_driver(qap, [*words, "--initial", str(tmp_path / os.fsdecode(b"i\xff"))]) == 0
    assert run_driver(lambda _: print("\udcff"), []) == 0
    assert written.getvalue().endswith(b"\\udcff\n")
    (kept,) = load(record)
    assert kept.instance == "a\\udcff" and kept.origin.endswith("runs\\udcff.jsonl:1")


# --- seeds in parallel ---


def test_seeds_in_processes_give_the_same_results_in_their_order(assignment, tmp_path):
    options = {"iterations": 20, "seeds": range(3), "history": True, "record": tmp_path / "runs.jsonl"}
    together = ok.minimize(assignment, ok.TabuSearch(tenure=3), workers=2, **options)
    assert isinstance(together, ok.Results) and len(load(tmp_path / "runs.jsonl")) == 3
    alone = ok.minimize(assignment, ok.TabuSearch(tenure=3), backend="cpu", **options)
    assert [one.seed for one in together] == [0, 1, 2] and together.hash == alone.hash
    assert together.costs == alone.costs and np.array_equal(together.solution, alone.solution)


def test_any_workload_runs_its_seeds_in_processes():
    options = {"instance": "uniform:12:seed=1", "climbers": 4, "start": "philox", "seeds": range(2)}
    together = ok.run("ihc", workers=2, **options)
    alone = ok.run("ihc", backend="cpu", **options)
    assert [one.seed for one in together] == [0, 1] and together.hash == alone.hash
    assert {one.backend for one in together} == {"cpu"}
