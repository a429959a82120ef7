"""Runs of small programs in this process or another one; `mpirun` is a fixture of the whole suite."""

import subprocess
import sys
import textwrap

import pytest

from cluster.command_line import run


@pytest.fixture
def plain(environment):
    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def called(monkeypatch, outcome_of):
    """Call a program of `cluster` in this process; returns its exit code, standard output and standard error."""

    def call(main, *words):
        monkeypatch.setattr(sys, "argv", ["-m", *map(str, words)])
        return outcome_of(run, main)

    return call


@pytest.fixture
def program(tmp_path):
    def write(source):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        return path

    return write
