import os
import sys
from pathlib import Path

import pytest

from cluster import setup

SHIPPED = "# Open MPI's own words\n"


@pytest.fixture
def prefix(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("prte-mca-params.conf", "openmpi-mca-params.conf"):
        (tmp_path / "etc" / name).write_text(SHIPPED)
    (tmp_path / "bin" / "activate").write_text("PATH=here\n")
    return tmp_path


def contents(prefix: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in prefix.rglob("*") if path.is_file()}


def test_setting_up_twice_is_setting_up_once(prefix):
    first = setup.set_up(prefix, as_root=True)
    once = contents(prefix)
    assert setup.set_up(prefix, as_root=True) == first
    assert contents(prefix) == once
    assert "rmaps_default_mapping_policy = slot:oversubscribe\n" in once["prte-mca-params.conf"]
    assert "export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n" in once["activate"]


def test_what_was_in_the_files_stays(prefix):
    (prefix / "etc" / "openmpi-mca-params.conf").write_text("mpi_yield_when_idle = 0\n")
    setup.set_up(prefix, as_root=False)
    setup.set_up(prefix, as_root=False)
    text = contents(prefix)["openmpi-mca-params.conf"]
    assert text.startswith("mpi_yield_when_idle = 0\n") and text.count("mpi_yield_when_idle =") == 1
    assert text.count("OPENBLAS_NUM_THREADS=1") == 1


def test_nobody_but_root_may_run_as_root(prefix):
    setup.set_up(prefix, as_root=True)
    setup.set_up(prefix, as_root=False)
    assert contents(prefix)["activate"] == "PATH=here\n"


def test_an_environment_without_open_mpi_is_left_alone(tmp_path):
    (report,) = setup.set_up(tmp_path, as_root=True)
    assert "pip install" in report
    assert contents(tmp_path) == {}


def test_the_literal_command_starts_more_ranks_than_cores(mpirun):
    parameters = Path(sys.prefix) / "etc" / "prte-mca-params.conf"
    if not parameters.exists() or setup.BEGIN not in parameters.read_text():
        pytest.skip("this environment was not set up by `onekernel setup`")
    ranks = (os.cpu_count() or 1) + 1
    if ranks > 33:
        pytest.skip(f"{ranks} ranks are too many for a test")
    done = mpirun(ranks, "-c", "print('here')", crowd=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["here"] * ranks
