"""A resumed run has the history of the whole run: a checkpoint is compared by that, too."""

import csv
import json

import pytest

from drivers import aco, exact, ihc, qap

QAP = "--instance taillard:12:seeds=1,2 --iterations 2000"
RUNS = {
    "tabu search": (qap, QAP),
    "several walks": (qap, f"{QAP} --walks 3"),
    "walks that exchange": (qap, f"{QAP} --walks 3 --exchange 50"),
    "level iteration": (qap, f"{QAP} --level iteration"),
    "published mapping": (qap, f"{QAP} --mapping published"),
    "hill climbing": (ihc, "--instance uniform:20:seed=1 --climbers 3000"),
    "colonies": (aco, "--instance uniform:30:seed=1 --ants 10 --colonies 2 --iterations 60"),
    "exact": (exact, "--instance uniform:12:seed=1 --bound edges"),
}
QUICK = ("several walks", "hill climbing", "colonies", "exact")
EVERY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in RUNS]
)
WITHOUT = "found one without a history, expected no --history, --curve or --plot"


@pytest.fixture
def cut_short(drive, tmp_path, cut_off, monkeypatch):
    """End a run when it has kept a state; return its driver, the options that resume it, and the file."""

    def run(name, *more):
        driver, options = RUNS[name]
        path = tmp_path / "w.state"
        common = [*options.split(), "--no-progress", "--backend", "cpu", "--state", path]
        cut_off(1)
        assert drive(*common, *more, "--state-every", 0, driver=driver)[0] == 1
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
        assert error.splitlines()[-1] == f"error: {path}: the state of another run: {WITHOUT}"
        assert path.read_bytes() == kept and not (tmp_path / "c.csv").exists()
    assert drive(*going_on, driver=driver)[0] == 0
    driver, going_on, path = cut_short(name, "--history")
    code, said, error = drive(*going_on, driver=driver)
    assert code == 2 and error.splitlines()[-1] == (
        f"error: {path}: the state of another run: found one with a history, expected --history too"
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
    (sample,) = json.loads(record.read_text())["samples"]
    seconds = [float(row[2]) for row in rows]
    assert seconds == sorted(seconds) and seconds[-1] <= sample["total_s"] - sample["compile_s"]
    assert rows[-1][3] == undisturbed[-1][3]
    if driver is not ihc and driver is not exact:  # the host sees improvements between launches, so not all of them
        assert [(row[0], row[3]) for row in rows] == [(row[0], row[3]) for row in undisturbed]
