"""A user's folder may hold files named like the suite's packages: whatever is started there finds the suite's."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import onekernel
from cluster.launch import commands

ROOT = Path(__file__).parents[1]
PACKAGES = ("core", "backends", "cluster", "drivers", "reports")


@pytest.fixture
def folder(tmp_path):
    """A folder with a problem beside files that end the importing program."""
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('somebody imported the user's {name}.py')\n")
    shutil.copy(ROOT / "tests" / "lightest.py", tmp_path)
    return tmp_path


@pytest.fixture
def python(folder, environment):
    def run(*arguments, **more):
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, cwd=folder, env=environment | more, capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.parametrize("backend", ["cpu", pytest.param("joblib", marks=pytest.mark.slow)])
def test_an_own_problem_runs_beside_such_files(backend, python):
    done = python("lightest.py", "--backend", backend, "--iterations", "5")
    assert done.returncode == 0, done.stderr
    assert " confirmed by the scorer" in done.stdout


@pytest.mark.slow
def test_a_driver_by_its_module_runs_beside_all_others_but_drivers(python, folder):
    (folder / "drivers.py").unlink()
    done = python("-m", "drivers.ihc", "--instance", "uniform:8:seed=1", "--climbers", "4", "--backend", "python")
    assert done.returncode == 0, done.stderr


def test_a_users_own_module_that_came_first_is_named(python, folder):
    (folder / "core.py").write_text("mine = 1\n")
    done = python("-c", "import core, onekernel")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {folder / 'core.py'} was imported as 'core', which is the name of a package of onekernel: "
        "expected another name for that file, or its import nowhere in this program"
    )


def test_programs_are_started_safely_outside_the_suites_folder(monkeypatch, tmp_path):
    assert commands.python_command(("-m", "drivers.ihc")) == [sys.executable, "-m", "drivers.ihc"]
    monkeypatch.chdir(tmp_path)
    assert commands.python_command(("-m", "drivers.ihc")) == [sys.executable, "-P", "-m", "drivers.ihc"]
    assert commands.python_command(("mine.py",)) == [sys.executable, "mine.py"]


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert onekernel.__version__ == version("onekernel")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = onekernel.nothing
