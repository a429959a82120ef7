"""`--measure`: the record of a proof and a rate, an interrupted measurement, and a second one; no time matters."""

import pytest

from drivers import ihc, knapsack, qap
from drivers.runs.measuring import MeasuringRule, RateMeasurement
from reports.records.files import load
from reports.records.meters import Meter

DRIVER = ihc
CLIMBS = ["--instance", "uniform:8:seed=1", "--climbers", "16", "--backend", "cpu", "--measure", "0"]


@pytest.fixture(autouse=True)
def instant(monkeypatch):
    """Repetitions of any duration count."""
    monkeypatch.setattr(MeasuringRule, "of", lambda unit, *given: MeasuringRule(given[0], shortest_s=0.0))


@pytest.fixture
def record(drive, tmp_path):
    """Measure a run with a record; return the record, and standard output."""

    def run(*arguments, driver=ihc, code=0):
        path = tmp_path / "runs.jsonl"
        ended, said, error = drive(*arguments, "--record", path, driver=driver)
        assert ended == code, error
        return load(path)[-1], said

    return run


def test_the_proof_is_the_first_call_and_six_warm_repetitions_follow(record):
    made, said = record(*CLIMBS)
    proof, *rates = made.repetitions
    assert (proof.kind, proof.work, made.work_unit, made.parameters["climbers"]) == ("proof", 16, "climbs", 16)
    assert proof.start_s > 0 and proof.evaluations is None
    assert [(one.kind, one.work, one.turn) for one in rates] == [("rate", 16, 0)] * 6
    assert [one.evaluations for one in rates] == [made.evaluations] * 6
    assert all(one.compile_s == 0 and one.start_s is None for one in rates)
    assert "climbs/s" in said and "median of 6 warm repetitions of 16 climbs" in said


def test_joules_of_warm_repetitions_are_those_of_a_series(record, monkeypatch):
    series, enter = [], Meter.__enter__
    monkeypatch.setattr(Meter, "__enter__", lambda meter: series.append(meter.in_series) or enter(meter))
    record(*CLIMBS)
    assert series == [False, *[True] * 6]
    made, _ = record(*CLIMBS[:-2], "--repeats", "2")
    assert series[7:] == [False] * 2
    assert [(one.kind, one.work) for one in made.repetitions[-2:]] == [("fixed", 16)] * 2


def test_a_short_repetition_is_a_trial_and_the_amount_grows(record, monkeypatch):
    grown = MeasuringRule.grown
    monkeypatch.setattr(MeasuringRule, "of", lambda unit, *given: MeasuringRule(given[0], shortest_s=2.0))
    monkeypatch.setattr(
        MeasuringRule, "grown", lambda rule, work, seconds, scales: grown(rule, work, 1e9, scales=scales)
    )
    monkeypatch.setattr("drivers.runs.measuring.RateMeasurement.add", add_third_and_later)
    made, said = record(*CLIMBS)
    kinds = [(one.kind, one.work) for one in made.repetitions]
    assert kinds == [("proof", 16), ("trial", 16), ("trial", 17), *[("rate", 18)] * 6]
    assert "repetitions of 18 climbs" in said


ADD = RateMeasurement.add


def add_third_and_later(rate, seconds):
    """Count repetitions as long enough from an amount of 18 on."""
    return ADD(rate, 1e9 if rate.work.amount >= 18 else 1.0)


def test_an_interrupted_measurement_goes_on_and_a_complete_one_is_followed_by_another(record, tmp_path):
    record(*CLIMBS)
    path = tmp_path / "runs.jsonl"
    (whole,) = load(path)
    path.write_text(whole.with_repetitions(whole.repetitions[:4], True).to_line())
    made, said = record(*CLIMBS)
    assert [one.kind for one in made.repetitions] == ["proof", *["rate"] * 3, "proof", *["rate"] * 3]
    assert [len(turn) for turn in made.turns()] == [6]
    assert "3 warm repetitions are in" in said
    made, _ = record(*CLIMBS)
    assert [len(turn) for turn in made.turns()] == [6, 6]
    assert [one.turn for one in made.repetitions if one.kind == "proof"] == [0, 0, 1]


@pytest.mark.parametrize(
    ("driver", "arguments", "unit", "work"),
    [
        (qap, ["--instance", "taillard:9:seeds=1,2", "--walks", "4", "--iterations", "3"], "iterations", 12),
        (qap, ["--instance", "taillard:9:seeds=1,2", "--algorithm", "hill", "--iterations", "3"], "runs", 1),
        (knapsack, ["--items", "5", "--capacity", "50"], "cells", None),
    ],
)
def test_each_workload_counts_in_its_unit(record, driver, arguments, unit, work):
    made, _ = record(*arguments, "--backend", "cpu", "--measure", "0", driver=driver)
    assert made.work_unit == unit
    assert {one.work for one in made.repetitions} == {work or made.evaluations}


def test_a_repetition_with_another_hash_is_rejected(record, monkeypatch, capsys):
    once = type(ihc.IHC).once
    runs = []

    def differing(workload, run, callback):
        runs.append(once(workload, run, callback))
        outcome = runs[-1]
        if len(runs) == 3:
            monkeypatch.setattr(type(outcome), "hash", "ffff")
        return outcome

    monkeypatch.setattr(type(ihc.IHC), "once", differing)
    made, _ = record(*CLIMBS, code=1)
    assert [one.kind for one in made.repetitions] == ["proof", "rate"]


@pytest.mark.parametrize("others", [["--repeats", "3"], ["--checkpoint", "states"]], ids=["repetitions", "checkpoints"])
def test_options_that_contradict_a_measurement_are_refused(drive, others, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, error = drive(*CLIMBS, *others)
    assert (code, error) == (2, f"error: {others[0]} and --measure: expected one of them\n")


@pytest.mark.slow
def test_ranks_agree_on_the_repetitions(mpirun, tmp_path):
    path = tmp_path / "runs.jsonl"
    words = ["--instance", "uniform:8:seed=1", "--climbers", "16", "--backend", "cpu", "--measure", "0.1"]
    mpirun(2, *words, "--record", str(path))
    (made,) = load(path)
    assert made.ranks == 2 and [len(turn) for turn in made.turns()] == [6]
    assert {len(one.rank_s) for one in made.repetitions} == {2}
