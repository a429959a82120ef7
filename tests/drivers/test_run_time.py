"""The amount of work is estimated without a device, equal to what the search counts, and announced if it is long."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import backends
from cluster import Solo
from drivers import aco, ihc, lcs, tsp
from drivers.experiments import estimate
from drivers.experiments.configurations import Configuration
from drivers.experiments.options import workload_options
from drivers.runs.repetitions import Repetitions
from drivers.workload.registry import get_workload
from drivers.workload.run_time import (
    RepetitionWork,
    run_time_message,
)
from tests.drivers.made_up_paper import device

SAME = {
    "ihc": ("--instance", "uniform:8:seed=1", "--climbers", "3"),
    "aco": ("--instance", "uniform:5:seed=1", "--ants", "2", "--iterations", "1"),
    "qap": ("--instance", "taillard:6:seeds=1,2", "--walks", "2", "--iterations", "3"),
    "ppp": ("--instance", "9-9:seed=1", "--neighbourhood", "flip2", "--iterations", "3"),
    "tsp": ("--instance", "uniform:8:seed=1", "--iterations", "3"),
    "weierstrass": ("--instance", "2", "--points", "4", "--iterations", "3"),
    "lcs": ("--text", "ABCBD", "BDC"),
    "knapsack": ("--items", "6", "--capacity", "40", "--mapping", "published"),
    "heldkarp": ("--instance", "uniform:9:seed=1", "--k", "3"),
    "exact": ("--instance", "uniform:8:seed=1", "--bound", "none", "--depth", "1"),
}


def both(name, arguments):
    """The estimated work, and the search's count of it on the reference interpreter; None if it has none."""
    workload = get_workload(name)
    task = workload.load(workload_options(workload, arguments), 1)
    chosen = workload.variant(task.options)
    search = chosen.make_search((backends.create("python"), Solo()), task.problem, task.options)
    try:
        chosen.warm_up(search, task.options)
        return chosen.planned_work(task.options, task.problem), getattr(search, "work", None)
    finally:
        search.backend.close()


@pytest.mark.parametrize("name", SAME)
def test_the_work_is_foretold_as_the_search_tells_it(name):
    foretold, counted = both(name, SAME[name])
    assert foretold.amount == counted or (counted is None and foretold.amount > 0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("knapsack", ("--items", "7", "--capacity", "60")),
        ("heldkarp", ("--instance", "uniform:9:seed=1")),
        ("exact", ("--instance", "uniform:8:seed=1", "--bound", "none")),
    ],
)
def test_what_depends_on_the_device_is_foretold_as_the_most_that_it_can_be(name, arguments):
    foretold, counted = both(name, arguments)
    assert counted <= foretold.amount <= 10 * counted


def test_a_climb_is_taken_to_make_as_many_steps_as_a_solution_has_elements():
    arguments = ("--instance", "taillard:6:seeds=1,2", "--walks", "2", "--algorithm", "hill")
    assert both("qap", arguments)[0].amount == 2 * 6 * 15
    assert both("qap", (*arguments, "--iterations", "4"))[0].amount == 2 * 4 * 15


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exact", ("--instance", "uniform:8:seed=1", "--bound", "edges")),
        ("knapsack", ("--items", "6", "--capacity", "40", "--method", "bb")),
        ("qap", ("--instance", "taillard:6:seeds=1,2", "--seconds", "1")),
    ],
)
def test_nobody_foretells_what_a_bound_leaves_or_a_clock_ends(name, arguments):
    assert both(name, arguments) == (None, None)


def test_a_device_takes_as_long_as_its_kind_and_its_ranks_say():
    work = RepetitionWork(10**9, "moves", 1e8)
    for backend, units, ranks, seconds in (
        ("cpu", 1, 1, 20),
        ("cpu", 1, 4, 5),
        ("threads", 4, 1, 5),
        ("cuda", 100, 1, 20 / 500),
        ("python", 1, 1, pytest.approx(2e6)),
    ):
        where = replace(Configuration.of(device(backend, compute_units=units)), ranks=ranks)
        assert estimate.estimate_seconds(work, where, 2) == seconds
    assert [estimate.format_estimate(s) for s in (0.2, 119, 120, 8000)] == ["0 s", "119 s", "2.0 min", "2.2 h"]


def make_backend(kind="core", units=1, is_reference=False):
    return SimpleNamespace(device=SimpleNamespace(kind=kind, compute_units=units), is_reference=is_reference)


@pytest.mark.parametrize(
    ("on_device", "ranks", "repetitions", "line"),
    [
        (make_backend(), 1, 1, "about 2.8 h on this device (10 T cells at some 1.0 G cells/s)"),
        (make_backend(), 5, 1, "about 33 min on 5 ranks with a device each (10 T cells at some 5.0 G cells/s)"),
        (make_backend("cores", 4), 1, 1, "about 42 min on this device (10 T cells at some 4.0 G cells/s)"),
        (make_backend("gpu", 100), 1, 1, None),
        (make_backend(is_reference=True), 1, 1, "about 32 years on this device (10 T cells at some 10 k cells/s)"),
    ],
)
def test_a_run_beyond_ten_minutes_is_foretold(on_device, ranks, repetitions, line):
    assert run_time_message(RepetitionWork(10**13, "cells", 1e9), on_device, ranks, repetitions) == line


def test_an_upper_bound_is_called_so_and_no_number_is_too_large():
    said = run_time_message(RepetitionWork(10**13, "cells", 1e9, at_most=True), make_backend(), 1, 1)
    assert said == "at most about 2.8 h on this device (at most 10 T cells at some 1.0 G cells/s)"
    assert "e" in run_time_message(RepetitionWork(10**400, "moves", 1e9), make_backend(), 1, 1)


DRIVER = ihc


class BegunError(Exception):
    """The search has begun."""


@pytest.mark.parametrize(
    ("driver", "arguments", "said"),
    [
        (lcs, ["random:200000", "--mapping", "published", "--no-trace"], "40 G cells"),
        (aco, ["--instance", "uniform:9:seed=1", "--repeats", "1000000"], " T selections"),
        (tsp, ["--instance", "uniform:9:seed=1", "--iterations", "2000000000"], "2.0 G perturbations"),
    ],
)
def test_every_driver_foretells_what_takes_hours(drive, monkeypatch, driver, arguments, said):
    def begin(*_):
        raise BegunError

    monkeypatch.setattr(Repetitions, "measure", begin)
    _, _, error = drive(*arguments, "--backend", "cpu", "--no-progress", driver=driver)
    notes = [line for line in error.splitlines() if line.startswith("note: ") and " about " in line]
    assert "BegunError" in error
    assert len(notes) == 1 and said in notes[0]


def test_a_short_run_says_nothing(drive):
    assert drive("--instance", "uniform:9:seed=1", "--climbers", "3", driver=ihc)[2] == ""
