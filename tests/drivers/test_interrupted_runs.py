"""Interrupted comparisons and reproductions lose at most the current repetition, and resume when called again."""

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from drivers import compare, reproduce
from reports.records.files import load, merge
from tests.conftest import ROOT
from tests.drivers.made_up_paper import HEAD, device
from tests.patience import PATIENCE_S, soon

# The oracle has nothing to compile, and a repetition takes milliseconds.
PAPER = """
[[exhibits]]
name = "table 1"
title = "hill climbing"
workload = "ihc"
rows = [{ name = "uniform:8:seed=1:side=10000" }]
columns = [{ head = "one core", series = "core" }]
quick = { amount = { climbers = 4 } }
"""
COMPARE = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "4", "--ranks", "--no-peers"]
SEVERAL = [(random.Random(seed).choice((compare, reproduce)), "SIGKILL", seed) for seed in range(1, 20)]


@pytest.fixture
def arguments(tmp_path):
    """Command line of a program, without an end, and names of its files."""
    (tmp_path / "made-up.toml").write_text(HEAD + PAPER)
    places = ["--backends", "python", "--out", str(tmp_path)]
    return {
        compare: ([*COMPARE, *places], "compare-ihc"),
        reproduce: ([str(tmp_path / "made-up.toml"), "--scale", "quick", "--busy", *places], "made-up"),
    }


def stopped(program, how, condition, environment):
    """Start a program in a separate process group, as a shell does, and stop it; return exit code and output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(program, env=environment, cwd=ROOT, start_new_session=True, **pipes)
    try:
        # Planning and the first driver's start take longer than `soon` waits on a busy machine.
        assert any(soon(condition) for _ in range(6))
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2  # the guardian and the driver
        if how == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        output, error = process.communicate(timeout=PATIENCE_S)
        assert soon(lambda: not any(child.is_running() for child in children))
    finally:
        process.kill()
    return process.returncode, output, error


@pytest.mark.parametrize(
    ("program", "how", "seed"),
    [
        (compare, "Ctrl-C", 0),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((compare, "SIGKILL", 0), (reproduce, "Ctrl-C", 0))),
        *(pytest.param(*one, marks=pytest.mark.long) for one in SEVERAL),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_what_was_recorded_before_the_end_is_kept_and_gone_on_from(
    program, how, seed, arguments, tmp_path, environment, monkeypatch, undrawn
):
    options, name = arguments[program]
    records, report = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.md"

    def several():
        time.sleep(random.Random(seed).uniform(0.0, 0.02))
        return records.exists() and records.read_bytes().count(b"\n") >= 3

    long = ["--repeats", "1000000"] if program is compare else ["--measure", "1000"]
    endless = [sys.executable, "-m", program.__name__, *options, *long]
    code, output, error = stopped(endless, how, several, environment)
    if how == "Ctrl-C":
        assert code == 130
        assert "the same command continues" in output
        assert error.splitlines()[-1] == "interrupted"
    kept = [repetition for record in load(records) for repetition in record.repetitions]
    assert len(kept) >= 3
    assert not report.exists()
    monkeypatch.setattr("backends.survey", lambda: [device("python", "core")])
    more = ["--repeats", str(len(kept) + 2)] if program is compare else ["--measure", "1"]
    assert program.main([*options, *more]) == 0
    whole, *_ = merge(load(records))
    assert list(whole.repetitions[: len(kept)]) == kept
    if program is compare:
        assert len(whole.repetitions) == len(kept) + 2
    else:
        (turn,) = whole.turns()
        assert len(turn) >= 6
    assert report.exists()
