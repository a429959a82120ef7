"""`--history` and `--curve`: the improvements to the best cost, also of runs resumed from a checkpoint."""

import argparse
import csv
import json
from pathlib import Path

import pytest

from drivers import aco, exact, ihc, qap
from drivers.options.values import plot_file
from drivers.workload.history import thin_rows
from reports.records.files import load
from tests.drivers.small_runs import workload_of

QAP = ["--instance", "taillard:9:seeds=1,2", "--backend", "cpu", "--iterations", "200", "--no-progress"]
ANTS = ["--instance", "uniform:30:seed=1", "--backend", "cpu", "--ants", "24", "--iterations", "6", "--no-progress"]
CLIMBS = ["--instance", "uniform:12:seed=1", "--backend", "cpu", "--climbers", "60", "--no-progress"]
EXACT = ["--instance", "uniform:10:seed=13", "--backend", "cpu", "--bound", "edges", "--no-progress"]


def recorded(path):
    """The only record of a file, checked by its rules, and its first repetition's history."""
    (record,) = load(path)
    return record, record.repetitions[0].history


@pytest.mark.parametrize(
    ("driver", "arguments"),
    [(qap, QAP), (qap, [*QAP, "--walks", "5", "--exchange", "20"]), (aco, ANTS), (exact, EXACT), (ihc, CLIMBS)],
    ids=["qap", "walks that exchange", "aco", "exact", "ihc"],
)
def test_a_record_and_a_file_have_a_history_if_it_is_asked_for(drive, tmp_path, driver, arguments):
    without, asked, curve = tmp_path / "without.jsonl", tmp_path / "asked.jsonl", tmp_path / "curve.csv"
    assert drive(*arguments, "--record", without, driver=driver)[0] == 0
    assert drive(*arguments, "--record", asked, "--history", "--curve", curve, "--repeats", "2", driver=driver)[0] == 0
    (plain, nothing), (record, history) = recorded(without), recorded(asked)
    assert nothing is None
    assert "history" not in json.loads(Path(without).read_text())["repetitions"][0]
    assert history[-1][3] == record.best_cost
    assert history[-1][1] <= record.evaluations
    assert 0 < history[-1][2] <= record.repetitions[0].running_s
    assert record.repetitions[1].history[-1][3] == record.best_cost
    assert record.hash == plain.hash
    assert (record.parameters, record.execution) == (plain.parameters, plain.execution)
    with open(curve) as file:
        head, *rows = csv.reader(file)
    assert head == ["iteration", "evaluations", "seconds", "best_cost"]
    assert [[int(a), int(b), float(c), int(d)] for a, b, c, d in rows] == [
        [a, b, round(c, 9), d] for a, b, c, d in history
    ]


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_a_plot_is_drawn_beside_the_curve(drive, tmp_path, form):
    pytest.importorskip("matplotlib")
    drawn = tmp_path / f"course.{form}"
    assert drive(*ANTS, "--plot", drawn, driver=aco)[0] == 0
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[form]
    assert drawn.read_bytes().startswith(start)


def test_a_plot_needs_a_format_and_matplotlib(monkeypatch):
    with pytest.raises(argparse.ArgumentTypeError, match=r"^expected FILE.svg, FILE.png, FILE.pdf, found 'a.txt'$"):
        plot_file("a.txt")
    monkeypatch.setattr("drivers.options.values.importlib.util.find_spec", lambda name: None)
    with pytest.raises(argparse.ArgumentTypeError, match=r"^needs matplotlib: pip install 'onekernel\[report\]'$"):
        plot_file("a.svg")


@pytest.mark.parametrize("name", ["lcs", "knapsack", "heldkarp"])
def test_tables_which_have_no_best_so_far_offer_no_history(name):
    declared = {one.name for one, _ in workload_of(name).options.declared()}
    assert not declared & {"history", "curve", "plot"}


def test_a_record_keeps_a_long_history_evenly_thinned():
    rows = [[k, k, float(k), -k] for k in range(1001)]
    assert thin_rows(rows, 2000) is rows
    kept = thin_rows(rows, 11)
    assert [row[0] for row in kept] == [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]


DRIVER = qap


TABU = "--instance taillard:12:seeds=1,2 --iterations 2000"
RUNS = {
    "tabu search": (qap, TABU),
    "several walks": (qap, f"{TABU} --walks 3"),
    "published mapping": (qap, f"{TABU} --mapping published"),
    "hill climbing": (ihc, "--instance uniform:20:seed=1 --climbers 3000"),
    "colonies": (aco, "--instance uniform:30:seed=1 --ants 10 --colonies 2 --iterations 60"),
    "exact": (exact, "--instance uniform:12:seed=1 --bound edges"),
}
QUICK = ("several walks", "exact")
EVERY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in RUNS]
)
WITHOUT = "found one without a history, expected no --history, --curve or --plot"


@pytest.fixture
def cut_short(drive, tmp_path, cut_off, monkeypatch):
    """End a run after a state; return its driver, the options that resume it, and the file."""

    def run(name, *more):
        driver, options = RUNS[name]
        path = tmp_path / "w.state"
        common = [*options.split(), "--no-progress", "--backend", "cpu", "--checkpoint", path]
        cut_off(1)
        assert drive(*common, *more, "--checkpoint-every", 0, driver=driver)[0] == 1
        monkeypatch.undo()
        assert path.exists()
        return driver, [*common, "--resume"], path

    return run


@EVERY
def test_a_history_cannot_begin_or_end_where_a_run_goes_on(name, drive, cut_short, tmp_path):
    driver, going_on, path = cut_short(name)
    kept = path.read_bytes()
    for asked in (["--history"], ["--curve", tmp_path / "c.csv"]):
        code, said, error = drive(*going_on, *asked, driver=driver)
        assert code == 2 and "hash" not in said
        assert error.splitlines()[-1] == f"error: {path}: a checkpoint of another run: {WITHOUT}"
        assert path.read_bytes() == kept and not (tmp_path / "c.csv").exists()
    assert drive(*going_on, driver=driver)[0] == 0
    driver, going_on, path = cut_short(name, "--history")
    code, said, error = drive(*going_on, driver=driver)
    assert code == 2 and error.splitlines()[-1] == (
        f"error: {path}: a checkpoint of another run: found one with a history, expected --history too"
    )


@EVERY
def test_the_history_of_a_run_that_went_on_is_that_of_the_whole_run(name, drive, cut_short, tmp_path):
    driver, going_on, _ = cut_short(name, "--history")
    record, curve, whole = tmp_path / "r.jsonl", tmp_path / "c.csv", tmp_path / "whole.csv"
    code, _, error = drive(*going_on, "--curve", curve, "--record", record, driver=driver)
    assert code == 0, error
    driver, options = RUNS[name]
    assert drive(*options.split(), "--no-progress", "--backend", "cpu", "--curve", whole, driver=driver)[0] == 0
    rows, undisturbed = ([*csv.reader(path.open())][1:] for path in (curve, whole))
    (sample,) = json.loads(record.read_text())["repetitions"]
    seconds = [float(row[2]) for row in rows]
    assert seconds == sorted(seconds) and seconds[-1] <= sample["total_s"] - sample["compile_s"]
    assert rows[-1][3] == undisturbed[-1][3]
    if driver is not ihc and driver is not exact:  # the host sees improvements between launches, so not all of them
        assert [(row[0], row[3]) for row in rows] == [(row[0], row[3]) for row in undisturbed]
