"""`python -m core.problems`: what it prints and its exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.problems import samples

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    (tmp_path / "five.tsp").write_text(samples.EUCLIDEAN)

    def call(*arguments):
        command = [sys.executable, "-m", "core.problems", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)

    return call


def test_show_describes_an_instance(run, tmp_path):
    done = run("show", "five", "--data", str(tmp_path))
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines()[:4] == [
        "name       five",
        "cities     5",
        "distances  EUC_2D",
        "optimum    not known",
    ]


def test_list_tells_what_is_at_hand(run, tmp_path):
    done = run("list", "--data", str(tmp_path))
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert done.returncode == 0
    assert lines["kroA100"] == ["100", "21282", "-"]
    assert lines["five"] == ["?", "?", str(tmp_path / "five.tsp")]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["show", "kroA10O"], "kroA10O: found no such instance"),
        (["show", "uniform:2"], "uniform:2: found size '2'"),
        (["show", "{tmp}/broken.tsp"], "broken.tsp:4: found DIMENSION 'five'"),
        (["show", "{tmp}/pipe"], "pipe: found a pipe, expected a TSPLIB file"),
        (["show", "five", "--data", "{tmp}/none"], "none: found no such folder"),
        (["fetch", "tsplib", "kroA10O"], "kroA10O: found no such name"),
        (["fetch", "archive", "gr17"], "fetch archive takes no names"),
        (["fetch", "elsewhere"], "invalid choice"),
        ([], "required"),
    ],
)
def test_user_mistake_ends_with_code_2_and_no_traceback(run, tmp_path, arguments, words):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken.tsp").write_text(samples.EUCLIDEAN.replace(": 5", ": five"))
    done = run(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert done.returncode == 2 and done.stdout == ""
    assert words in done.stderr and "Traceback" not in done.stderr


def test_failed_download_ends_with_code_1_and_no_traceback(run):
    done = run("fetch", "tsplib", "gr17", "--url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert done.stderr.startswith("http://127.0.0.1:9/gr17.tsp.gz cannot be reached")
    assert "Traceback" not in done.stderr
