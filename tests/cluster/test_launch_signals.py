"""SIGTERM to `onekernel cluster launch` in every phase of a job: the exit code by which a batch script queues it again.

The launcher is a script beside a link to this Python.
"""

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from cluster.launch import job
from cluster.launch.plan import LaunchCommand
from tests.patience import soon

ROOT = Path(__file__).parents[2]
NO_HANDLER = ""
"""SIGUSR1 ends a launcher that has set no handlers yet."""


def started(tmp_path, environment, traps):
    """Start `job` over a launcher with these traps; return the process when the launcher is up."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(os.path.realpath(sys.executable))
    (folder / "mpirun").write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && exit\n{traps}\ntouch '{tmp_path}/up'\nfor k in $(seq 600); do sleep 0.05; done\n"
    )
    (folder / "mpirun").chmod(0o755)
    (tmp_path / "job.py").touch()
    words = [folder / "python", "-m", "cluster", "launch", "-n", "2", "job.py"]
    packages = os.pathsep.join((str(ROOT), sysconfig.get_path("purelib")))  # the link is none of a virtual environment
    environment = environment | {"PYTHONPATH": packages}
    process = subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    assert soon((tmp_path / "up").exists)
    return process


@pytest.mark.parametrize(
    ("traps", "signals", "code"),
    [
        pytest.param(NO_HANDLER, 1, 143, id="the launcher handles no SIGUSR1 yet"),
        pytest.param("trap 'exit 138' USR1", 1, 143, id="a rank handles no SIGUSR1 yet", marks=pytest.mark.slow),
        pytest.param("trap 'exit 143' USR1", 1, 143, id="ranks keep their state", marks=pytest.mark.slow),
        pytest.param("trap 'exit 5' USR1", 1, 5, id="a rank fails"),
        pytest.param("trap 'exit 0' USR1", 1, 0, id="the program is done", marks=pytest.mark.slow),
        pytest.param("trap 'touch heard' USR1; trap 'exit 143' TERM", 2, 143, id="twice", marks=pytest.mark.slow),
        pytest.param("kill -USR1 $$", 0, 138, id="SIGUSR1 from elsewhere", marks=pytest.mark.slow),
    ],
)
def test_the_exit_code_says_that_the_time_was_over(traps, signals, code, environment, tmp_path):
    if not signals:
        traps = f"touch '{tmp_path}/up'; {traps}"
    with started(tmp_path, environment, traps) as process:
        for number in range(signals):
            assert not number or soon((tmp_path / "heard").exists)
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == code


@pytest.fixture
def handlers():
    """Restore this process's handlers. A SIGTERM that `job` does not handle fails the test."""

    def fail(number, frame):
        raise AssertionError("nothing passes SIGTERM on")

    before = {number: signal.signal(number, fail) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("is_early", [True, False], ids=["before the launcher starts", "as it starts"])
def test_a_signal_while_the_launcher_is_started_reaches_it(is_early, handlers, monkeypatch):
    real = subprocess.Popen

    def start(*arguments, **more):
        if is_early:
            signal.raise_signal(signal.SIGTERM)
        child = real(*arguments, **more)
        if not is_early:
            signal.raise_signal(signal.SIGTERM)
        return child

    monkeypatch.setattr(subprocess, "Popen", start)
    assert job.run_command(LaunchCommand(["sleep", "60"], [])) == 143
