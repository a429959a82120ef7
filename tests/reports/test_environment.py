"""What a record says of the machine and the installation."""

import json
import os
import socket
import subprocess
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from reports.records.environment import cores, environment
from tests.conftest import ROOT


def test_it_names_versions_and_processor_and_is_the_same_on_every_call():
    found = environment()
    assert found == environment()
    assert json.loads(json.dumps(found)) == found
    assert found["packages"]["numpy"] == np.__version__
    assert "onekernel-no-such-package" not in found["packages"]
    assert 1 <= found["cores"] <= os.cpu_count()
    assert environment(host_count=3)["host_count"] == 3
    assert found["host"] == socket.gethostname()


def test_the_processor_is_the_one_that_the_system_reports():
    lscpu = subprocess.run(["sh", "-c", "LC_ALL=C lscpu"], capture_output=True, text=True)
    names = [line.partition(":")[2].strip() for line in lscpu.stdout.splitlines() if line.startswith("Model name")]
    if not names:
        pytest.skip("lscpu is not here to compare with")
    assert " ".join(names[0].split()) == environment()["cpu_model"]


@pytest.mark.parametrize(
    ("granted", "count"),
    [("150000 100000", 2), ("200000 100000", 2), ("50000 100000", 1), ("900000 100000", 8), ("max 100000", 8)],
)
def test_the_cores_of_a_container_are_its_quota_rounded_up(monkeypatch, granted, count):
    monkeypatch.setattr("reports.records.environment.os.cpu_count", lambda: 8)
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: f"{granted}\n")
    assert cores() == count


def test_the_commit_is_the_checkouts():
    head = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True)
    if head.returncode:
        pytest.skip("not a git checkout with a commit")
    said = environment()["commit"].removesuffix("+changes")
    assert head.stdout.strip().startswith(said.rpartition("-g")[2]) or said in _tags()


def test_an_installed_suite_is_named_by_its_version(monkeypatch, tmp_path):
    monkeypatch.setattr("reports.records.environment.ROOT", tmp_path)
    assert environment()["commit"] == metadata.version("onekernel")


def _tags():
    return subprocess.run(["git", "-C", str(ROOT), "tag"], capture_output=True, text=True).stdout.split()
