"""A comparison measures one core before and after the others on an idle host; the driver is a stub."""

import itertools

import pytest

from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.compare import main
from drivers.experiments.idle_host import PATIENCE_S, SAMPLE_S, wait_until_idle
from reports.records.files import load
from tests.drivers.made_up_runs import device, made_up_suite, record_of, run_of

DEVICES = [device("cpu"), device("threads"), device("joblib", kind="cores")]
WORK = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--ranks", "--no-peers"]


@pytest.fixture
def compare(tmp_path, undrawn, monkeypatch):
    """Compare on made-up devices, an idle host unless said otherwise; return exit code and (backend, turns) of runs."""
    waits = []
    monkeypatch.setattr("drivers.experiments.presets.compare.wait_until_idle", lambda: waits.append("waited"))

    def run(*arguments, command=None, devices=DEVICES[:2]):
        started = []
        with made_up_suite(*devices, started=started, command=command):
            code = run_driver(main, [*WORK, "--out", str(tmp_path), *arguments])
        return code, [(case.configuration.backend, case.turns) for case in started]

    run.waits = waits
    return run


def slow_at(turn):
    """Runs whose baseline takes ten per cent longer in one measurement."""

    def command(case):
        first = record_of(case, 0)["repetitions"]
        if case.configuration.backend == "cpu" and case.turns == turn:
            first = [one | {"total_s": 1.1 * one["total_s"]} for one in first]
        return run_of(case, repetitions=first)

    return command


def test_one_core_runs_first_and_again_at_the_end(compare, tmp_path, capsys):
    assert compare() == (0, [("cpu", 1), ("threads", 1), ("cpu", 2)])
    said = capsys.readouterr().out
    assert "threads (2 cores) is 2.00 times as fast as one core." in said
    assert len(said.splitlines()) <= 25 and "made by: onekernel compare ihc --instance uniform:8" in said
    assert len(compare.waits) == 3
    core = next(one for one in load(tmp_path / "compare-ihc.jsonl") if one.backend == "cpu")
    assert core.environment["host"]


@pytest.mark.parametrize(
    ("slow", "again"), [(2, [("threads", 2), ("cpu", 3)]), (None, [])], ids=["a drift", "no drift"]
)
def test_a_drift_of_the_baseline_repeats_everything_once(compare, slow, again, capsys):
    code, ran = compare(command=slow_at(slow))
    assert (code, ran) == (0, [("cpu", 1), ("threads", 1), ("cpu", 2), *again])
    assert ("drifted by more than 5%" in capsys.readouterr().out) == bool(again)
    assert compare(command=slow_at(slow)) == (0, []), "a repeated comparison is complete"


def test_a_busy_host_is_waited_for_unless_the_user_wants_it(compare):
    assert compare("--busy")[0] == 0
    assert compare.waits == []


def test_a_fixed_amount_has_no_turns_and_needs_no_idle_host(compare):
    assert compare("--repeats", "3") == (0, [("cpu", 1), ("threads", 1)])
    assert compare.waits == []


def test_a_failed_run_has_a_reason_and_the_others_a_page(compare, tmp_path, capsys):
    code, ran = compare(devices=DEVICES)
    assert code == 1 and ran == [("cpu", 1), ("threads", 1), ("joblib", 1), ("cpu", 2)]
    assert "not run: joblib (failed with exit code 1: error: no shared memory)" in capsys.readouterr().out
    assert (tmp_path / "compare-ihc.md").exists()


def test_elsewhere_cases_run_at_once_so_one_core_is_measured_once(compare):
    in_turn, at_once = compare("--dry-run")[1], compare("--dry-run", "--executor", "slurm")[1]
    assert (in_turn, at_once) == ([("cpu", 1), ("threads", 1), ("cpu", 2)], [("cpu", 1), ("threads", 1)])


def test_rates_and_a_fixed_amount_exclude_each_other(compare, capsys):
    assert compare("--repeats", "3", "--measure", "5") == (2, [])
    assert capsys.readouterr().err == "error: --repeats 3 and --measure: expected one of them\n"


# --- the idle host ---


def clocks(busy):
    """A reader of busy seconds, of hosts with these numbers of busy cores one sample after the other, and a clock."""
    loads, now, spent = iter(busy), [0.0], [0.0]

    def sleep(seconds):
        now[0] += seconds
        spent[0] += seconds * next(loads)

    return lambda: spent[0], lambda: now[0], sleep


@pytest.mark.parametrize(("busy", "samples"), [([0.0], 1), ([0.29], 1), ([1.5, 1.5, 0.1], 3)])
def test_an_idle_host_is_measured_at_once_and_a_busy_one_when_it_is_idle(busy, samples):
    read, clock, sleep = clocks(busy)
    wait_until_idle(read, clock, sleep)
    assert clock() == pytest.approx(samples * SAMPLE_S)


def test_a_host_that_stays_busy_is_refused_with_one_line(capsys):
    read, clock, sleep = clocks(itertools.repeat(1.4))
    with pytest.raises(
        UserError, match=r"^other programs keep 1.4 of \d+ cores busy: expected an idle host, or --busy"
    ):
        wait_until_idle(read, clock, sleep)
    assert capsys.readouterr().err == "note: other programs keep 1.4 cores busy: waiting up to 60 s for them to end\n"
    assert PATIENCE_S <= clock() < PATIENCE_S + SAMPLE_S


def test_a_system_that_does_not_tell_is_taken_for_idle():
    wait_until_idle(lambda: None, lambda: 0.0, pytest.fail)
