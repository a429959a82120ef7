"""What is said of a run that takes long, before it begins."""

from types import SimpleNamespace

import pytest

from drivers import aco, exact, heldkarp, ihc, knapsack, lcs, tsp
from drivers.forecast import Work, forecast, in_words, prefixed, rounded
from drivers.repetitions import Repetitions


def device(kind="core", units=1, oracle=False):
    return SimpleNamespace(device=SimpleNamespace(kind=kind, compute_units=units), oracle=oracle)


@pytest.mark.parametrize(
    ("made", "ranks", "repetitions", "line"),
    [
        (device(), 1, 1, "about 2.8 h on this device (1.0e13 cells at some 1 G cells/s)"),
        (device(), 1, 10, "about 28 h on this device (1.0e14 cells at some 1 G cells/s)"),
        (device(), 5, 1, "about 33 min on 5 ranks with a device each (1.0e13 cells at some 5 G cells/s)"),
        (device("cores", 4), 1, 1, "about 42 min on this device (1.0e13 cells at some 4 G cells/s)"),
        (device("cores", 20), 1, 1, None),
        (device("gpu", 100), 1, 1, None),
        (device(oracle=True), 1, 1, "about 32 years on this device (1.0e13 cells at some 10 k cells/s)"),
    ],
)
def test_a_run_beyond_ten_minutes_is_foretold(made, ranks, repetitions, line):
    assert forecast(Work(10**13, "cells", 1e9), made, ranks, repetitions) == line


def test_an_upper_bound_is_called_so_and_no_number_is_too_large():
    said = forecast(Work(10**13, "cells", 1e9, at_most=True), device(), 1, 1)
    assert said == "at most about 2.8 h on this device (at most 1.0e13 cells at some 1 G cells/s)"
    assert "e" in forecast(Work(10**400, "moves", 1e9), device(), 1, 1)


def test_numbers_and_times_are_said_roughly():
    assert [rounded(x) for x in (2.54, 9.99, 4100, 3.14e15)] == ["2.5", "10", "4,100", "3.1e15"]
    assert [in_words(s) for s in (601, 7300, 3 * 86400, 1e9)] == ["10 min", "2 h", "3 days", "32 years"]
    assert [prefixed(x) for x in (1.5e12, 2e9, 7e6, 3e3, 12)] == ["1.5 T ", "2 G ", "7 M ", "3 k ", "12 "]


DRIVER = ihc


class BegunError(Exception):
    """The search has begun."""


@pytest.mark.parametrize(
    ("driver", "arguments", "said"),
    [
        (lcs, ["random:200000", "--tiling", "none", "--no-trace"], "4.0e10 cells"),
        (exact, ["--instance", "uniform:20:seed=1", "--bound", "none"], "e16 nodes"),
        (exact, ["--instance", "uniform:18:seed=1", "--bound", "none", "--enumerate", "permutations"], "3.6e14 "),
        (heldkarp, ["--instance", "uniform:16:seed=1", "--repeats", "100000000"], " transitions at some"),
        (heldkarp, ["--instance", "uniform:9:seed=1", "--k", "3", "--repeats", "1000000000"], "e11 transitions at "),
        (aco, ["--instance", "uniform:9:seed=1", "--repeats", "1000000"], "e12 selections"),
        (knapsack, ["--items", "9", "--capacity", "999", "--repeats", "1000000000"], "e12 cells"),
        (ihc, ["--instance", "uniform:100:seed=1", "--climbers", "1000000000"], "5.0e14 moves"),
        (tsp, ["--instance", "uniform:9:seed=1", "--iterations", "2000000000"], "at most 7.2e10 neighb"),
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
