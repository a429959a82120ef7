"""A reproduction that is stopped at any moment loses at most the repetition in flight, and ends as an undisturbed one."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from reports.records import load
from tests.conftest import ROOT
from tests.drivers.made_up_paper import HEAD
from tests.patience import PATIENCE_S, soon

pytestmark = pytest.mark.slow

# The oracle has nothing to compile, and a repetition takes milliseconds.
PAPER = (
    HEAD
    + """
[[exhibits]]
table = "1"
title = "hill climbing"
workload = "ihc"
series = ["core"]
rows = [{ instance = "uniform:6:seed=1:side=10000" }, { instance = "uniform:7:seed=1:side=10000" }]
quick = { amount = { climbers = 1 }, repeats = 20 }
"""
)
RUNS, REPEATS = 2, 20
MARKS = re.compile(r" \[[a-z](, [a-z])*\]")
TIMES = re.compile(r"[×\d][\d,.]*( (s|ms|µs|ns|min)\b)?")
"""Times in a report: numbers with their units, which differ from run to run."""


def command(folder, *more):
    path = folder / "made-up.toml"
    path.write_text(PAPER)
    given = [str(path), "--scale", "quick", "--backends", "python", "--out", str(folder)]
    return [sys.executable, "-m", "drivers.reproduce", *given, *more]


def started(folder, environment, *more):
    """Start a reproduction as a shell does: in a process group of its own."""
    return subprocess.Popen(
        command(folder, *more),
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def samples(folder):
    """All repetitions that are recorded, by run."""
    path = folder / "made-up.jsonl"
    found = {}
    for record in load(path) if path.exists() else []:
        found.setdefault(record.identity, []).extend(record.samples)
    return found


def without_times(report):
    """A report without its times, what makes them doubtful, and its command line, which names the folder."""
    lines = [line for line in report.splitlines() if line and not line.startswith(("Made by", "- **a**", "- **b**"))]
    return TIMES.sub("#", MARKS.sub("", "\n".join(lines)))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The report of a reproduction that nobody stops, without its times, and how long it takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    began = time.monotonic()
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command(folder), env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return without_times((folder / "made-up.md").read_text()), time.monotonic() - began


def resumed(folder, environment):
    """Let the same command go on to its end."""
    done = subprocess.run(command(folder), env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore:.*the last line is incomplete")
@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.long if k > 1 else ()) for k in range(21)])
def test_a_kill_at_any_moment_loses_at_most_the_repetition_in_flight(seed, undisturbed, tmp_path, environment):
    report, takes_s = undisturbed
    draw = random.Random(seed)
    reproduction = started(tmp_path, environment)
    children = []
    try:
        time.sleep(draw.uniform(0.1, 1.0) * takes_s)
        before = samples(tmp_path)
        if reproduction.poll() is None:
            children = psutil.Process(reproduction.pid).children(recursive=True)
        if seed % 2 and reproduction.poll() is None:
            os.killpg(reproduction.pid, signal.SIGKILL)  # whatever writes a record is cut off too
        else:
            reproduction.kill()
        reproduction.communicate(timeout=PATIENCE_S)
        assert soon(lambda: not any(child.is_running() for child in children))
    finally:
        reproduction.kill()
    kept = samples(tmp_path)
    for run, those in before.items():
        assert [one for one in kept[run] if one in those] == those
    resumed(tmp_path, environment)
    whole = samples(tmp_path)
    assert [len(those) for those in whole.values()] == [REPEATS] * RUNS
    for run, those in kept.items():
        assert whole[run][: len(those)] == those
    assert without_times((tmp_path / "made-up.md").read_text()) == report


def test_an_interrupt_keeps_the_records_and_writes_no_report(undisturbed, tmp_path, environment):
    report, _ = undisturbed
    reproduction = started(tmp_path, environment, "--repeats", "1000000")
    try:
        # On a busy machine planning and starting the first driver take longer than what `soon` waits for.
        assert any(soon(lambda: sum(map(len, samples(tmp_path).values())) >= 3) for _ in range(6))
        os.killpg(reproduction.pid, signal.SIGINT)
        output, error = reproduction.communicate(timeout=PATIENCE_S)
    finally:
        reproduction.kill()
    assert reproduction.returncode == 130
    assert "the same command goes on" in output
    assert error.splitlines()[-1] == "interrupted"
    assert not (tmp_path / "made-up.md").exists()
    (kept,) = samples(tmp_path).values()
    resumed(tmp_path, environment)
    first, second = samples(tmp_path).values()
    assert first[: len(kept)] == kept
    assert (len(first), len(second)) == (max(REPEATS, len(kept)), REPEATS)
    # A run that has more repetitions than the other says how many.
    assert len(kept) > REPEATS or without_times((tmp_path / "made-up.md").read_text()) == report
