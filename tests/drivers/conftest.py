"""Runs of a driver: the module under test says which, ``DRIVER``, or names one for every run."""

import pytest

from drivers.endings import run_driver


@pytest.fixture
def drive(request, capsys):
    """Run the driver in this process; returns the exit code, standard output and standard error."""

    def run(*arguments, driver=None):
        code = run_driver((driver or request.module.DRIVER).main, [*map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def mpirun(request, mpirun):
    """Run the driver on so many ranks; without one, any program."""
    if not hasattr(request.module, "DRIVER"):
        return mpirun
    return lambda ranks, *arguments: mpirun(ranks, "-m", request.module.DRIVER.__name__, *arguments)
