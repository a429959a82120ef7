"""The driver of the knapsack problem: what it prints, records and refuses; ranks change nothing but the speed."""

import re

import numpy as np
import pytest

from core.tables.knapsack.problem import Knapsack, generate, write
from core.tables.knapsack.search import KnapsackSearch, Selection
from drivers import knapsack
from drivers.knapsack import KNAPSACK, KnapsackOptions
from tests.drivers.records import lines

DRIVER = knapsack
SMALL = ["--items", "20", "--capacity", "500", "--seed", "1"]
QUIET = ["--backend", "cpu", "--no-progress"]
OF_A_FILE = "knap\nn 3\nc 11\nz 16\ntime 0.00\n1,6,5,1\n2,10,6,0\n3,9,7,1\n-----\n"


# --- what comes out ---


def test_a_run_says_what_it_found_how_fast_and_who_confirms_it(drive, tmp_path):
    output = tmp_path / "taken.txt"
    code, said, error = drive(*SMALL, *QUIET, "--output", output)
    assert (code, error) == (0, "")
    instance = generate("paper", 20, 500, seed=1)
    chosen = np.zeros(20, bool)
    chosen[[int(line) for line in output.read_text().splitlines()]] = True
    weight, value = instance.weight_and_value(chosen)
    assert (value, weight <= 500) == (instance.best_value(), True)
    assert said.startswith(
        f"paper:20:500:seed=1: value {value}, weight {weight} of 500, {chosen.sum()} items, 0 bytes streamed, "
    )
    assert ", 10,020 cells, " in said and said.endswith(" of the result, confirmed by the scorer and by NumPy\n")


@pytest.mark.parametrize(
    ("value", "chosen", "message"),
    [
        (20, [0, 1, 2], "the scorer finds value 25 and weight 18; the file says value 16; NumPy finds value 16"),
        (25, [0, 1, 2], "the scorer finds weight 18; the file says value 16; NumPy finds value 16"),
        (20, [0, 1], "the scorer finds value 16; the file says value 16; NumPy finds value 16"),
        (10, [1], "the file says value 16; NumPy finds value 16"),
        (16, None, "no selection was found"),
    ],
)
def test_a_wrong_selection_is_called_so(drive, monkeypatch, tmp_path, value, chosen, message):
    selection = None if chosen is None else np.isin(range(3), chosen)
    wrong = Selection(value, 11, selection, True, 36, 0, 0, 1)
    monkeypatch.setattr(KnapsackSearch, "run", lambda self, **ways: wrong)
    file = tmp_path / "knap.csv"
    file.write_text(OF_A_FILE)
    code, said, _ = drive("--instance", file, *QUIET)
    assert code == 1 and said.endswith(f", NOT CONFIRMED: {message}\n")


def test_a_file_with_a_known_optimum_confirms_it(drive, tmp_path):
    (tmp_path / "knap.csv").write_text(OF_A_FILE)
    _, said, _ = drive("--instance", tmp_path / "knap.csv", *QUIET)
    assert said.endswith(", confirmed by the scorer and by the instance file and by NumPy\n")


def test_a_value_of_a_table_too_large_for_numpy_is_verified_by_an_expanding_core(drive, monkeypatch):
    monkeypatch.setattr(knapsack, "MOST_VERIFIED_CELLS", 0)
    code, said, _ = drive(*SMALL, *QUIET, "--no-trace", "--verify")
    assert code == 0 and said.endswith(", confirmed by an expanding core\n")
    monkeypatch.setattr(knapsack, "value_by_core", lambda instance: 7)
    code, said, _ = drive(*SMALL, *QUIET, "--no-trace", "--verify")
    assert code == 1 and "NOT CONFIRMED: an expanding core finds value 7" in said


def test_branch_and_bound_finds_the_value_and_says_when_it_gave_up(drive, tmp_path):
    record = tmp_path / "r.jsonl"
    code, said, error = drive(*SMALL, *QUIET, "--method", "bb", "--record", record)
    assert (code, error) == (0, "")
    (run,) = lines(record)
    assert (run["best_cost"], run["verified"]) == (generate("paper", 20, 500, seed=1).best_value(), True)
    assert run["details"]["proved"] is True
    assert re.search(r" [\d,]+ nodes, [\d.,]+ (k |M |G )?nodes/s, ", said) and "cells" not in said
    assert run["evaluations"] > 0 and run["evaluation_unit"] == "nodes"
    hard = tmp_path / "hard"
    even = np.random.default_rng(1).integers(100, 999, 40) * 2
    write(hard, Knapsack("hard", even, even, 14_001))
    for limit in (["--nodes", "1000"], ["--seconds", "0.01"]):
        code, said, _ = drive("--instance", hard, *QUIET, "--method", "bb", *limit, "--record", record)
        assert code == 0
        assert said.startswith("hard: incumbent of value ")
        assert said.endswith("NOT PROVED: the search reached its limit, --nodes or --seconds; this is its incumbent\n")
        last = lines(record)[-1]
        assert (last["verified"], last["details"]["proved"]) == (False, False)


def test_a_search_that_gave_up_is_not_shown_as_a_proof_beside_the_peers(drive, package, tmp_path):
    package("ortools.algorithms.python.knapsack_solver", "raise ImportError('no such symbol')")
    even = np.random.default_rng(1).integers(100, 999, 40) * 2
    write(tmp_path / "hard", Knapsack("hard", even, even, 14_001))
    asked = ["--instance", tmp_path / "hard", *QUIET, "--method", "bb", "--nodes", "1000", "--peers"]
    code, said, _ = drive(*asked)
    heads, _, own = said.splitlines()[-4:-1]
    assert code == 0 and "hard: incumbent of value " in said
    assert heads.startswith("solver ") and "proved" not in heads and own.startswith("this search") and "yes" not in own


@pytest.mark.parametrize(
    ("arguments", "ranks", "method"),
    [
        ({"kind": "uncorrelated", "items": 1000}, 1, "core"),
        ({"kind": "uncorrelated", "items": 1000}, 2, "dp"),
        ({"kind": "uncorrelated", "items": 1000, "cores": 2}, 1, "dp"),
        ({"kind": "uncorrelated", "items": 1000, "trace": False}, 1, "dp"),
        ({"items": 1500, "capacity": 100_000}, 1, "dp"),
        ({"kind": "uncorrelated", "items": 1000, "method": "bb"}, 1, "bb"),
    ],
)
def test_an_expanding_core_is_the_default_where_it_is_faster_and_no_table_is_asked_for(arguments, ranks, method):
    assert KNAPSACK.load(KnapsackOptions(**arguments), ranks).options.method == method
