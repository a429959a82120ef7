"""The time of a run is estimated without a device, from what the search counts, and announced if it is long."""

from dataclasses import replace

import pytest

import backends
from cluster import Solo
from drivers import aco, exact, ihc, lcs, tsp
from drivers.experiments import estimate
from drivers.experiments.configurations import Configuration
from drivers.experiments.options import workload_options
from drivers.runs.repetitions import Repetitions
from drivers.workload.dynamic_programming import DpWorkload
from drivers.workload.registry import get_workload
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
    """The estimated seconds, and those of the search's count on the reference interpreter; None if it has none."""
    workload = get_workload(name)
    task = workload.load(workload_options(workload, arguments), 1)
    chosen = workload.variant(task.options)
    search = chosen.make_search((backends.create("python"), Solo()), task.problem, task.options)
    try:
        chosen.warm_up(search, task.options)
        speed = chosen.speed(task.options) if isinstance(chosen, DpWorkload) else exact.NODES_PER_SECOND
        counted = getattr(search, "work", None)
        return chosen.core_seconds(task.options, task.problem), counted and pytest.approx(counted / speed)
    finally:
        search.backend.close()


@pytest.mark.parametrize("name", SAME)
def test_the_work_is_foretold_as_the_search_tells_it(name):
    foretold, counted = both(name, SAME[name])
    assert foretold == counted or (counted is None and foretold > 0)


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
    assert counted.expected <= foretold <= 10 * counted.expected


def test_a_climb_is_taken_to_make_as_many_steps_as_a_solution_has_elements():
    arguments = ("--instance", "taillard:6:seeds=1,2", "--walks", "2", "--algorithm", "hill")
    assert both("qap", arguments)[0] == 2 * 6 * 15 / 1e8
    assert both("qap", (*arguments, "--iterations", "4"))[0] == 2 * 4 * 15 / 1e8


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
    for backend, units, ranks, seconds in (
        ("cpu", 1, 1, 20),
        ("cpu", 1, 4, 5),
        ("threads", 4, 1, 5),
        ("cuda", 100, 1, 20 / 500),
        ("python", 1, 1, pytest.approx(2e6)),
    ):
        where = replace(Configuration.of(device(backend, compute_units=units)), ranks=ranks)
        assert estimate.estimate_seconds(10.0, where, 2) == seconds
    assert [estimate.format_estimate(s) for s in (0.2, 119, 120, 8000)] == ["0 s", "119 s", "2.0 min", "2.2 h"]


DRIVER = ihc


class BegunError(Exception):
    """The search has begun."""


@pytest.mark.parametrize(
    ("driver", "arguments", "said"),
    [
        (lcs, ["random:200000", "--mapping", "published", "--no-trace"], ": about 33 min on devices like"),
        (aco, ["--instance", "uniform:9:seed=1", "--repeats", "1000000"], ":side=10000: about "),
        (tsp, ["--instance", "uniform:9:seed=1", "--iterations", "2000000000"], ":side=10000: about "),
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
