"""What a run computes is foretold without a device as the search itself tells it."""

import pytest

import backends
from cluster import Solo
from drivers import foresight
from drivers.compare_options import asked_of
from drivers.forecast import Work
from drivers.workload import Run
from drivers.workloads import named
from tests.drivers.made_up_paper import device

SAME = {
    "ihc": ("--instance", "uniform:8:seed=1", "--climbers", "3"),
    "aco": ("--instance", "uniform:5:seed=1", "--ants", "2", "--iterations", "1"),
    "qap": ("--instance", "taillard:6:seeds=1,2", "--walks", "2", "--iterations", "3"),
    "ppp": ("--instance", "9-9:seed=1", "--neighbourhood", "flip2", "--iterations", "3"),
    "tsp": ("--instance", "uniform:8:seed=1", "--iterations", "3"),
    "weierstrass": ("--instance", "2", "--points", "4", "--iterations", "3"),
    "labs": ("--instance", "9", "--walks", "2", "--iterations", "3"),
    "maxsat": ("--instance", "random:9:seed=1", "--iterations", "3"),
    "flowshop": ("--instance", "taillard:8:3", "--iterations", "3"),
    "linearordering": ("--instance", "random:9:seed=1", "--walks", "2", "--iterations", "3"),
    "maxcut": ("--instance", "random:9:seed=1", "--parts", "3", "--iterations", "3"),
    "lcs": ("--text", "ABCBD", "BDC"),
    "knapsack": ("--items", "6", "--capacity", "40", "--tiling", "none"),
    "heldkarp": ("--instance", "uniform:9:seed=1", "--k", "3", "--rotations", "2"),
    "exact": ("--instance", "uniform:8:seed=1", "--bound", "none", "--enumerate", "permutations"),
}


def both(name, given):
    """The work as it is foretold, and as the search on the oracle says it."""
    workload = named(name)
    task = workload.load(asked_of(workload, given), 1)
    search = workload.search(backends.create("python"), Solo(), task.problem, task.options)
    try:
        return foresight.work_of(workload, task), workload.work(Run(*task, search, Solo()))
    finally:
        search.backend.close()


@pytest.mark.parametrize("name", SAME)
def test_the_work_is_foretold_as_the_search_tells_it(name):
    foretold, real = both(name, SAME[name])
    assert foretold == real
    assert foretold.amount > 0


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("knapsack", ("--items", "7", "--capacity", "60")),
        ("heldkarp", ("--instance", "uniform:9:seed=1")),
        ("exact", ("--instance", "uniform:8:seed=1", "--bound", "none")),
    ],
)
def test_what_depends_on_the_device_is_foretold_as_the_most_that_it_can_be(name, given):
    foretold, real = both(name, given)
    assert real.amount <= foretold.amount <= 10 * real.amount
    assert foretold._replace(amount=0) == real._replace(amount=0)


def test_a_climb_is_taken_to_make_as_many_steps_as_a_solution_has_elements():
    given = ("--instance", "taillard:6:seeds=1,2", "--walks", "2", "--algorithm", "hill")
    foretold, real = both("qap", given)
    assert (foretold.amount, real.amount) == (2 * 6 * 15, 2 * 10_000 * 15)
    foretold, _ = both("qap", (*given, "--iterations", "4"))
    assert foretold.amount == 2 * 4 * 15


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("exact", ("--instance", "uniform:8:seed=1", "--bound", "edges")),
        ("knapsack", ("--items", "6", "--capacity", "40", "--method", "bb")),
        ("qap", ("--instance", "taillard:6:seeds=1,2", "--seconds", "1")),
    ],
)
def test_nobody_foretells_what_a_bound_leaves_or_a_clock_ends(name, given):
    foretold, real = both(name, given)
    assert foretold is real is None


def test_a_device_takes_as_long_as_its_kind_and_its_ranks_say():
    work = Work(10**9, "moves", 1e8)
    core = foresight.seconds(work, device("cpu", compute_units=1), 1, 2)
    assert core == 20
    assert foresight.seconds(work, device("cpu", compute_units=1), 4, 2) == 5
    assert foresight.seconds(work, device("threads", compute_units=4), 1, 2) == 5
    assert foresight.seconds(work, device("cuda", compute_units=100), 1, 2) == 20 / 500
    assert foresight.seconds(work, device("python", compute_units=1), 1, 2) == pytest.approx(2e6)

    assert [foresight.in_words(s) for s in (0.2, 119, 120, 8000)] == ["0 s", "119 s", "2 min", "2.2 h"]
