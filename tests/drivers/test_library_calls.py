"""Calls of the library: typed values reach the search as they are, by few functions, and messages are logged."""

import dataclasses
import inspect
import logging
import os
import re
import sys

import numpy as np
import pytest

import onekernel as ok
from core.search.local_search import LocalSearch
from drivers.cli.exit_codes import run_driver
from drivers.cli.messages import print_note
from drivers.library.custom_problem import CustomProblemOptions
from drivers.library.minimize import SearchKeywords
from drivers.more.flowshop import main as flowshop
from drivers.options.initial import InitialSolutions, read_solutions
from drivers.options.local_search import SearchOptions
from drivers.qap import main as qap
from reports.records.files import load
from tests.conftest import ROOT

MOST_FUNCTIONS, MOST_FILES = 36, 16
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
        if code is LocalSearch.__init__.__code__:
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


def test_stop_criteria_say_what_keywords_say(assignment):
    by_stop = ok.minimize(assignment, backend="cpu", stop=ok.Iterations(30) | ok.Target(0))
    by_name = ok.minimize(assignment, backend="cpu", iterations=30, target=0)
    assert by_stop.hash == by_name.hash and by_stop.evaluations == by_name.evaluations


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


def test_one_seed_gives_a_result_and_several_give_results(assignment):
    result = ok.minimize(assignment, backend="cpu", iterations=5, seed=3)
    several = ok.minimize(assignment, backend="cpu", iterations=5, seeds=[3])
    assert isinstance(result, ok.Result) and isinstance(several, ok.Results) and several[0].hash == result.hash
    assert isinstance(ok.run("labs", instance=9, iterations=2, backend="cpu"), ok.Result)
    assert len(ok.run("labs", instance=9, iterations=2, backend="cpu", repeats=2)) == 2


def test_keywords_that_type_checkers_see_are_those_of_the_signature_and_of_programs():
    keywords = inspect.signature(ok.minimize).parameters
    positional = {"problem", "algorithm", "neighbourhood", "seeds"}
    assert SearchKeywords.__annotations__.keys() | positional == keywords.keys()
    options = {field.name: field.default for field in dataclasses.fields(CustomProblemOptions)}
    shared = keywords.keys() & options.keys() - {"algorithm", "seed"}
    assert len(shared) > 20 and {name: keywords[name].default for name in shared} == {
        name: options[name] for name in shared
    }


def test_notes_are_logged_and_not_printed(assignment, caplog, capsys, tmp_path):
    file = tmp_path / "state"
    with caplog.at_level(logging.INFO, "onekernel"):
        ok.minimize(assignment, backend="cpu", iterations=5, checkpoint=file, resume=True)
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


@pytest.mark.parametrize("layout", ["0 1 2 3 4 5 6 7", "\n".join("01234567")])
def test_a_program_reads_start_solutions_from_a_file(assignment, layout, tmp_path, capsys):
    file, record = tmp_path / "start.txt", tmp_path / "runs.jsonl"
    file.write_text(f"{layout}\n")
    words = ["--instance", assignment.name, "--backend", "cpu", "--iterations", "9", "--initial", str(file)]
    assert run_driver(qap, [*words, "--record", str(record)]) == 0
    result = ok.minimize(assignment, backend="cpu", iterations=9, initial=range(8))
    assert f"hash {result.hash}" in capsys.readouterr().out
    (kept,) = load(record)
    assert kept.parameters["initial"] == str(InitialSolutions(np.arange(8)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 1 2 3 4 5 6 7\n0 1 2 x 4 5 6 7\n", ":2: found 'x', expected integers"),
        ("0 1 2 3 4 5 6 7\n\n0 1 2\n", ":3: found 3 integers, expected the 8 of a solution"),
        ("\n", ": found no integers, expected the 8 of a solution"),
    ],
)
def test_a_wrong_file_of_start_solutions_is_refused_with_its_line(text, expected, tmp_path):
    file = tmp_path / "start.txt"
    file.write_text(text)
    with pytest.raises(ok.UserError, match=f"^{re.escape(str(file) + expected)}$"):
        read_solutions(str(file), 8)


def test_a_start_heuristic_is_named_like_a_file(tmp_path, capsys):
    problem, record = ok.FlowShop("taillard:9:3"), tmp_path / "runs.jsonl"
    words = ["--instance", problem.name, "--backend", "cpu", "--iterations", "2"]
    words += ["--algorithm", "ils", "--initial", "neh"]
    assert run_driver(flowshop, [*words, "--record", str(record)]) == 0
    settings = {"algorithm": ok.IteratedLocalSearch(), "neighbourhood": "insert", "backend": "cpu", "iterations": 2}
    result = ok.minimize(problem, initial="neh", **settings)
    assert f"hash {result.hash}" in capsys.readouterr().out
    assert result.hash == ok.minimize(problem, initial=problem.start_solution("neh"), **settings).hash
    assert [one.parameters["initial"] for one in load(record)] == ["neh"]
    with pytest.raises(ok.UserError, match="^--initial nhe: no such file: expected neh or a file of integers$"):
        ok.minimize(problem, initial="nhe", **settings)


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (np.zeros((3, 8), int), r"start solutions of shape \(3, 8\): expected \(8,\), or \(1, 8\) with one"),
        (range(7), r"a start solution of shape \(7,\): expected \(8,\)"),
        ([0, 0, 1, 2, 3, 4, 5, 6], "a start solution that has 0 twice"),
        (3, "initial=3: expected a solution, or one for each walk"),
    ],
    ids=str,
)
def test_wrong_start_solutions_are_refused_from_python(assignment, initial, expected):
    with pytest.raises(ok.UserError, match=f"^{expected}"):
        ok.minimize(assignment, backend="cpu", iterations=5, initial=initial)


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


@pytest.mark.parametrize(
    ("search", "options", "expected"),
    [
        ("run", {"seeds": [0, 1], "repeats": 2}, "workers=2 and repeats: expected one of them"),
        ("run", {"seeds": [0, 1], "tour": "best.tour"}, "--tour with --seeds: expected one seed"),
        ("run", {"seeds": [0, 1], "climber": 4}, r"climber=4 \(did you mean climbers\?\)"),
        ("minimize", {}, "workers=2 without seeds: expected several seeds"),
        (
            "minimize",
            {"seeds": [0, 1], "backend": "opencl"},
            "workers with backend='opencl': expected one of python, cpu",
        ),
        ("minimize", {"seeds": [0, 1], "cores": 2}, "workers=2 and cores: expected one of them"),
        ("minimize", {"seeds": [0, 0]}, r"seeds=\[0, 0\]: expected up to 10000 different seeds"),
    ],
)
def test_what_workers_cannot_share_is_refused(assignment, search, options, expected):
    with pytest.raises(ok.UserError, match=f"^{expected}"):
        if search == "minimize":
            ok.minimize(assignment, iterations=5, workers=2, **options)
        else:
            ok.run("ihc", workers=2, **options)
