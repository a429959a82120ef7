"""The bench of dynamic programming: every candidate finds the same, and packages stand beside the backends."""

import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from core.problems.tables.strings import lcs_length
from core.problems.tsp import small_tours
from drivers.bench import dynamic_programming as dp
from drivers.bench import main
from drivers.cli.exit_codes import run_driver
from reports.records.files import load

TINY = dp.TableSizes(700, 300, 12, 400, (5, 8), (9,), 4096)
WITH_TRACE = ["no trace", "traced", "traced, 0 MiB of memory"]


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(dp, "ON_CORES", TINY)
    monkeypatch.setattr(dp, "ON_GPU", TINY)


def solve_flat(flat, n):
    length, tour, _ = small_tours.held_karp(np.array(flat, dtype=int).reshape(n, n))
    return list(tour), float(length)


PACKAGES = {
    "rapidfuzz": {},
    "rapidfuzz.distance": {"LCSseq": SimpleNamespace(similarity=lcs_length)},
    "held_karp": {"solve_flat": solve_flat},
}


@pytest.fixture
def packages(monkeypatch):
    """Packages of the peers' names that compute in NumPy and plain Python."""
    for name, content in PACKAGES.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)


def entered(cases):
    """Who takes part in which case."""
    return {case.title: [one.name for one in case.candidates] for case in cases}


def only(cases, *titles):
    return [case for case in cases if case.work.startswith(titles)]


@pytest.mark.parametrize("is_full", [True, False])
def test_every_problem_is_measured_with_and_without_a_trace(make_field, packages, is_full):
    """The largest Held-Karp is measured only when it is asked for."""
    cases = list(dp.cases(make_field(full=is_full)))
    assert entered(cases) == {
        "LCS, 700 random letters of 4, cpu on a core": ["cpu", "rapidfuzz"],
        "LCS, 300 random letters of 4, cpu on a core": WITH_TRACE,
        "knapsack, 12 items, capacity 400, cpu on a core": WITH_TRACE,
        **{f"Held-Karp, {n} cities, cpu on a core": ["cpu", "held-karp"] for n in ((5, 8, 9) if is_full else (5, 8))},
    }
    assert [case.repeats for case in cases] == [None] * 5 + [1] * is_full


def test_packages_stand_beside_the_backends_and_records_are_of_these_alone(only_cpu, packages, capsys, tmp_path):
    path = tmp_path / "r.jsonl"
    assert run_driver(main, f"--workload dp --repeats 2 --full --seed 3 --record {path}".split()) == 0
    said = capsys.readouterr().out
    assert said.count("x as fast as cpu") == 4 and said.count("x as fast as no trace") == 4
    assert "length only" in said and "bytes streamed" in said
    records = load(path)
    assert [record.workload for record in records] == ["lcs"] * 4 + ["knapsack"] * 3 + ["heldkarp"] * 3
    assert all(record.verified for record in records)
    assert [len(record.repetitions) for record in records] == [2] * 9 + [1]


def test_gpus_have_no_packages_beside_them(make_field, packages, place):
    cases = dp.cases(make_field(cores=(), gpus=[place._replace(kind="gpu")]))
    assert {tuple(names) for names in entered(cases).values()} == {("cpu",), tuple(WITH_TRACE)}


def test_packages_that_are_not_installed_are_named_once(make_field, capsys, monkeypatch):
    monkeypatch.setattr(dp.importlib.util, "find_spec", lambda name: None)
    assert "rapidfuzz" not in str(entered(dp.cases(make_field())))
    assert capsys.readouterr().out.splitlines() == [
        "reference solver rapidfuzz not measured: pip install rapidfuzz",
        "reference solver held-karp not measured: pip install held-karp",
    ]


@pytest.mark.parametrize("title", ["LCS, 300", "knapsack", "Held-Karp, 8"])
def test_what_was_traced_wrong_is_not_confirmed(make_field, cpu, title):
    (case,) = only(dp.cases(make_field()), title)
    prepared = case.candidates[-1].prepare(cpu)
    outcome = prepared.solve(0)
    changed = {
        "LCS, 300": lambda: {"pairs": outcome.pairs[::-1]},
        "knapsack": lambda: {"chosen": ~outcome.chosen},
        "Held-Karp, 8": lambda: {"length": outcome.length + 1},
    }
    assert prepared.read(outcome).confirmed is True
    assert prepared.read(replace(outcome, **changed[title]())).confirmed is False
