"""A comparison that is interrupted or killed loses at most the repetition in flight, and goes on when called again."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from drivers.compare import House, main
from reports.records import load
from tests.conftest import ROOT
from tests.drivers.made_up_comparison import device
from tests.patience import PATIENCE_S, soon

# The oracle has nothing to compile, and a repetition takes milliseconds.
WORK = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "4", "--backends", "python", "--ranks"]


def endless(folder, environment):
    """Start a comparison of more repetitions than anybody waits for, as a shell does: in a process group of its own."""
    command = [sys.executable, "-m", "drivers.compare", *WORK, "--repeats", "1000000", "--out", str(folder)]
    return subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def lines(records):
    return records.read_bytes().count(b"\n") if records.exists() else 0


@pytest.mark.parametrize("how", ["Ctrl-C", pytest.param("SIGKILL", marks=pytest.mark.slow)])
def test_what_was_recorded_before_the_end_is_kept_and_gone_on_from(how, tmp_path, environment):
    records = tmp_path / "compare-ihc.jsonl"
    comparison = endless(tmp_path, environment)
    try:
        assert soon(lambda: lines(records) >= 3)
        children = psutil.Process(comparison.pid).children(recursive=True)
        assert len(children) >= 2  # the guardian and the driver
        before = lines(records)
        if how == "Ctrl-C":
            os.killpg(comparison.pid, signal.SIGINT)
        else:
            comparison.kill()
        output, error = comparison.communicate(timeout=PATIENCE_S)
        assert soon(lambda: not any(child.is_running() for child in children))
    finally:
        comparison.kill()
    if how == "Ctrl-C":
        assert comparison.returncode == 130
        assert "the same command goes on" in output
        assert error.splitlines()[-1] == "interrupted"

    kept = [sample for record in load(records) for sample in record.samples]
    assert len(kept) >= before
    assert not (tmp_path / "compare-ihc.md").exists()
    wanted = len(kept) + 2
    assert main([*WORK, "--repeats", str(wanted), "--out", str(tmp_path)], House(lambda: [device("python")])) == 0
    (whole,) = load(records)
    assert list(whole.samples[:-2]) == kept
    assert len(whole.samples) == wanted
    assert (tmp_path / "compare-ihc.md").exists()
