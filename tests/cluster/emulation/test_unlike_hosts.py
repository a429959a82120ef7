"""Hosts that do not fit together, and a disk that is full: one clear line, exit code 2, nothing lost."""

import json
import re
import shutil

import pytest

from tests.cluster.emulation.hosts import ROOT
from tests.cluster.emulation.test_workloads import words_for

pytestmark = pytest.mark.long
SMALL_KB = 16


def mount(hosts, host, *words):
    done = hosts.run(host, ["mount", *words])
    assert done.returncode == 0, done.stderr


def only_error(done):
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    (line,) = re.findall("^error.*", done.stderr, re.MULTILINE)
    return line


def test_another_version_on_one_host_is_named_and_the_same_in_another_folder_is_no_difference(hosts, tmp_path):
    two, copied = hosts("lan", 2), tmp_path / "core"
    shutil.copytree(ROOT / "core", copied, ignore=shutil.ignore_patterns("__pycache__"))
    mount(two, 1, "--bind", copied, ROOT / "core")
    done = two.mpirun(2, *words_for("ppp"))
    assert done.returncode == 0, done.stderr
    with open(copied / "__init__.py", "a") as file:
        file.write("# newer\n")
    assert re.fullmatch(
        r"error: the suite's sources: found \w{12} on rank 0 and \w{12} on rank 1, expected the same",
        only_error(two.mpirun(2, *words_for("ppp"))),
    )


def test_a_disk_that_fills_up_ends_the_job_and_keeps_what_was_recorded(hosts, tmp_path):
    two, folder = hosts("lan", 2), tmp_path / "small"
    folder.mkdir()
    mount(two, 0, "-t", "tmpfs", "-o", f"size={SMALL_KB}k", "none", folder)
    path = folder / "runs.jsonl"
    done = two.mpirun(2, *words_for("ppp"), "--repeats", 1000, "--record", path)
    assert only_error(done).startswith(f"error: {path}: ")
    whole = two.run(0, ["cat", path]).stdout.splitlines()[:-1]
    # The repetition without space in the file is printed.
    assert len(whole) == done.stdout.count("best cost") - 1 > 3
    assert len({json.loads(line)["hash"] for line in whole}) == 1
