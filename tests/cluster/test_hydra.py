"""Ranks under MPICH, whose launcher is Hydra, with mpi4py's wheel: the hashes of one process, exit codes, signals.

Debian's package `mpich` is enough. It names its library otherwise than mpi4py's wheel does.
"""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import soon

ROOT = Path(__file__).parents[2]
PATIENT = Path(__file__).with_name("patient.py")
CONVERSATION = Path(__file__).with_name("conversation.py")
WORK = {
    "ihc": "--instance uniform:20:seed=1 --climbers 40",
    "ppp": "--instance 73-73 --iterations 20",
    "aco": "--instance uniform:20:seed=1 --ants 12 --iterations 6",
}


@pytest.fixture
def hydra(environment, tmp_path):
    """The environment of ranks under MPICH."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    launcher = shutil.which("mpiexec.hydra", path=environment["PATH"])
    if launcher is None:
        pytest.skip("there is no MPICH: apt-get install mpich")
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    debians = re.search(r"=> (.*/libmpich\.so\.12)$", listed, re.MULTILINE)
    if debians:
        (tmp_path / "libmpi.so.12").symlink_to(debians[1])
    folders = f"{tmp_path}:{environment.get('LD_LIBRARY_PATH', '')}"
    return environment | {"MPI4PY_MPIABI": "mpich", "LD_LIBRARY_PATH": folders.rstrip(":")}


def launched(environment, *words):
    command = [sys.executable, "-m", "cluster", "launch", *map(str, words)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment, cwd=ROOT, **streams)


def run(environment, *words):
    with launched(environment, *words) as job:
        out, err = job.communicate(timeout=200)
    return job.returncode, out, err


@pytest.mark.slow
@pytest.mark.parametrize("name", WORK)
def test_ranks_under_mpich_have_the_hash_of_one_process(name, hydra):
    command = [sys.executable, "-m", f"drivers.{name}", *WORK[name].split(), "--backend", "cpu", "--no-progress"]
    alone = subprocess.run(command, env=hydra, cwd=ROOT, capture_output=True, text=True, timeout=200, check=True).stdout
    (expected,) = re.findall(r"hash (\w{16})", alone)
    for ranks in (2, 4):
        code, out, err = run(hydra, "-n", ranks, name, *command[3:])
        assert code == 0, err
        assert "% in communication" in out and re.findall(r"hash (\w{16})", out) == [expected]
        assert "UCX" not in out + err


def test_every_rank_under_mpich_hears_what_plain_python_computes(hydra):
    code, out, err = run(hydra, "-n", 3, CONVERSATION)
    assert code == 0, err
    assert sorted(re.findall(r"\d of 3 by MPI", out)) == [f"{rank} of 3 by MPI" for rank in range(3)]


@pytest.mark.slow
def test_exit_codes_and_signals_pass_through_hydra(hydra, tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    assert run(hydra, "-n", 2, PATIENT, tmp_path, 3, "--end")[0] == 3
    with launched(hydra, "-n", 2, PATIENT, folder, 143) as job:
        assert soon(lambda: len(list(folder.iterdir())) == 2)
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=60)
    # MPICH 4.0's launcher sometimes loses the code of ranks after SIGUSR1.
    assert job.returncode in (143, 0)
    assert sum("has ended by [15]" in path.name for path in folder.iterdir()) == 2
