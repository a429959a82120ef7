"""Runs of a driver: the module under test says which, ``DRIVER``, or names one for every run."""

import importlib
import os

import pytest

from drivers.cli.exit_codes import run_driver
from drivers.runs import checkpoint_file
from reports.plots import style


@pytest.fixture
def drive(request, capsys):
    """Run the driver in this process; return exit code, standard output and standard error."""

    def run(*arguments, driver=None):
        code = run_driver((driver or request.module.DRIVER).main, [*map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

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

    def save(figure, folder, name, formats=style.FORMATS, **how):
        files = [folder / f"{name}.{form}" for form in formats]
        for one in files:
            one.touch()
        return files

    monkeypatch.setattr(style, "save", save)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Put packages first on the import path, also of child processes; return the function that writes a module."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)

    def write(name, code):
        path = folder / f"{name.replace('.', '/')}.py"
        for parent in [parent for parent in path.parents if parent.is_relative_to(folder) and parent != folder]:
            parent.mkdir(parents=True, exist_ok=True)
            (parent / "__init__.py").touch()
        path.write_text(code)
        importlib.invalidate_caches()

    return write
