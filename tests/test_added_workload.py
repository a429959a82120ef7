"""A workload is one package and one program: added to the project's files, `tests/added_workload` runs everywhere.

Its folder has the files of an outsider, who changes none of the project's: a package of `core`, a program, and a
paper's table.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import backends

ROOT = Path(__file__).parents[1]
ADDED = ROOT / "tests" / "added_workload"
PACKAGES = ("core", "backends", "cluster", "drivers", "reports", "onekernel")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "out", "gallery")
HASH = "5ada03a9bffd80ab"
"""Hash of `--instance 12 --divisor 3` in its record."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with the added files."""
    folder = tmp_path_factory.mktemp("project")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=LEFT_OUT)
    before = {path for path in folder.rglob("*") if path.is_file()}
    shutil.copytree(ADDED, folder, ignore=LEFT_OUT, dirs_exist_ok=True)
    assert {path for path in folder.rglob("*") if path.is_file()} - before == {
        folder / path.relative_to(ADDED) for path in ADDED.rglob("*.*") if "__pycache__" not in path.parts
    }
    return folder


@pytest.fixture
def run(project, environment):
    def started(*words, **more):
        there = environment | {"PYTHONPATH": str(project)} | more
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, cwd=project, env=there, capture_output=True, text=True, timeout=250)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return started


def smallest_gap():
    """Enumerate in NumPy: the least distance of a subset's sum from a third of the sum, of 12 numbers."""
    numbers = np.random.Generator(np.random.Philox(0)).integers(1, 2**20, 12)
    chosen = np.arange(2**12)[:, None] >> np.arange(12) & 1
    return int(abs(chosen @ numbers - numbers.sum() // 3).min())


def test_an_added_package_and_program_are_a_workload_of_all_lists(run):
    program = """
        import sys
        from drivers import console
        from drivers.experiments.presets.overview import overview_parser
        import onekernel as ok
        assert console.main([]) == 0
        assert "subset" in overview_parser("").format_help()
        found = ok.run("subset", instance="12", divisor=3, backend="cpu")
        print(found.cost, found.evaluations, found.hash)
    """
    words = run("-c", "\n".join(line[8:] for line in program.splitlines())).splitlines()
    assert sum("subset sum, by enumeration" in line for line in words) == 1
    assert words[-1] == f"{smallest_gap()} 4096 {HASH}"


@pytest.mark.slow
def test_an_added_workload_runs_on_every_backend_in_compare_and_in_a_papers_table(run, tmp_path):
    usable = list(dict.fromkeys(row.backend for row in backends.survey() if row.usable))
    words = ["--instance", "12", "--divisor", "3", "--repeats", "2", "--out", tmp_path]
    run("-m", "drivers.console", "compare", "subset", *words, "--backends", *usable, "--ranks", "2", "--oversubscribe")
    records = [json.loads(line) for line in (tmp_path / "compare-subset.jsonl").read_text().splitlines()]
    assert {record["backend"] for record in records} == {*usable}
    assert {record["ranks"] for record in records} == {1, 2}
    results = {(record["best_cost"], record["hash"], record["verified"]) for record in records}
    assert results == {(smallest_gap(), HASH, True)}
    words = ["--scale", "quick", "--backends", "cpu", "threads", "--busy", "--out", tmp_path]
    run("-m", "drivers.reproduce", "madeup", *words)
    (row,) = [line for line in (tmp_path / "madeup.md").read_text().splitlines() if line.startswith("| 12 |")]
    published, *ours = [cell.strip() for cell in row.split("|")[2:-1]]
    assert published == "3.0" and len(ours) == 3 and all(ours)


@pytest.mark.slow
def test_an_added_workload_runs_in_the_simulator_of_cuda(run):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    words = ("-m", "drivers.subset", "--instance", "6", "--divisor", "3")
    simulated = run(*words, "--backend", "cuda", NUMBA_ENABLE_CUDASIM="1")
    assert simulated.partition("hash ")[2] == run(*words, "--backend", "cpu").partition("hash ")[2]
