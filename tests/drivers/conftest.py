"""Runs of a driver: the module under test says which, ``DRIVER``, or names one for every run."""

import functools
import venv
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from drivers.cli.exit_codes import run_driver
from drivers.compare import main as compare_main
from drivers.peers import environment, packages
from drivers.runs import checkpoint_file
from reports.plots import style
from reports.records.environment import project_commit
from tests.drivers.made_up_runs import made_up_suite

PROJECT_COMMIT = functools.cache(project_commit)


@pytest.fixture(scope="module", autouse=True)
def one_commit():
    """Ask git for the commit once, since it looks at every file."""
    with patch("reports.records.environment.project_commit", PROJECT_COMMIT):
        yield


@pytest.fixture
def drive(request, outcome_of):
    """Run the driver in this process; return exit code, standard output and standard error."""

    def run(*arguments, driver=None):
        return outcome_of(run_driver, (driver or request.module.DRIVER).main, [*map(str, arguments)])

    return run


class CutOffError(Exception):
    """End of a run that is cut off."""


@pytest.fixture
def cut_off(monkeypatch):
    """End runs of this process after a number of states, as if it had been killed."""
    write = checkpoint_file.write_checkpoint

    def after(states):
        left = [states]

        def writing(*arguments):
            write(*arguments)
            left[0] -= 1
            if not left[0]:
                raise CutOffError

        monkeypatch.setattr(checkpoint_file, "write_checkpoint", writing)

    yield after
    monkeypatch.undo()


@pytest.fixture
def mpirun(request, mpirun):
    """Run the driver, or without one any program, on ranks."""
    if not hasattr(request.module, "DRIVER"):
        return mpirun
    name = request.module.DRIVER.__name__
    return lambda ranks, *arguments: mpirun(ranks, "-m", name, *arguments)


@pytest.fixture
def undrawn(monkeypatch):
    """Make empty files of plots, since drawing them takes most of the time."""
    monkeypatch.setattr(style, "save", lambda figure, path, **how: path.touch())


@pytest.fixture
def compare(tmp_path, undrawn, monkeypatch):
    """Compare hill climbing on made-up devices in a folder; return the exit code. `started` gets the cases.

    Reference solvers of this machine are not found.
    """
    monkeypatch.setattr("drivers.experiments.presets.compare.installed_peers", lambda peers: [])

    def run(*arguments, devices, started=None, folder=tmp_path):
        fixed = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--repeats", "3", "--out", str(folder)]
        with made_up_suite(*devices, started=started):
            return compare_main([*fixed, *arguments])

    return run


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Give packages environments of this test only, which find NumPy and SciPy here; return the function that writes
    a module of one.
    """
    monkeypatch.setattr(environment, "cache_folder", lambda: tmp_path / "cache")

    def write(name, code, version="9.9"):
        top = name.partition(".")[0]
        made = packages()[top.replace("_", "-")]
        venv.create(made.folder, symlinks=True)
        (site,) = made.folder.glob("lib/python*/site-packages")
        about = f"Metadata-Version: 2.1\nName: {top}\nVersion: {version}\n"
        texts = {f"{top}-{version}.dist-info/METADATA": about, "here.pth": str(Path(np.__file__).parents[1])}
        for path, text in (texts | {f"{name.replace('.', '/')}.py": code}).items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(text)
        (made.folder / made.requirement).touch()

    return write
