"""Every method of a communicator, against plain Python on lists; and what it refuses."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cluster import Solo, default_communicator
from cluster.mpi.mpi_communicator import LaunchError
from core.run.checkpoint import Terminated
from tests.thread_ranks import on_ranks

CONVERSATION = Path(__file__).with_name("conversation.py")


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 2, 7))])
def test_every_rank_hears_what_plain_python_computes(ranks, mpirun):
    done = mpirun(ranks, CONVERSATION)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} of {ranks} by MPI" for rank in range(ranks)]


def test_a_process_alone_hears_the_same_without_mpi(plain):
    done = plain(CONVERSATION)
    assert (done.returncode, done.stdout) == (0, "0 of 1\n"), done.stderr


def test_a_process_alone_has_nobody_to_send_to():
    with pytest.raises(ValueError, match="rank 1 of a process alone"):
        Solo().send(np.zeros(1), 1)
    with pytest.raises(ValueError, match="rank 0 of a process alone"):
        Solo().receive(np.zeros(1), 0)


def test_a_sum_alone_does_not_share_memory():
    summand = np.arange(3)
    Solo().sum(summand)[0] = 7
    assert summand[0] == 0


@pytest.mark.parametrize("summand", [0.5, np.float32(1), np.ones(3), True, "3", np.array([True])])
def test_only_integers_are_added_up(summand):
    with pytest.raises(TypeError, match="integers"):
        Solo().sum(summand)


@pytest.mark.parametrize("pair", [(-(2**63) - 1, 0), (2**64, 0), (0, -1), (0, 2**64)])
def test_a_pair_that_does_not_fit_64_bits_is_refused(pair):
    with pytest.raises(OverflowError, match=str(next(part for part in pair if part))):
        Solo().minloc(*pair)


def test_two_mpis_that_do_not_know_each_other_are_refused(environment, plain, tmp_path):
    pytest.importorskip("mpi4py")
    environment["TMPDIR"] = str(tmp_path)  # an MPI that is aborted leaves its folder
    environment["PMI_SIZE"] = "4"
    done = plain("-c", "from cluster import default_communicator; default_communicator()")
    assert "the launcher started 4 ranks" in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("variable", [{"MPI4PY_MPIABI": "mpich"}, {"MPI4PY_LIBMPI": "/nowhere/libmpi.so"}])
def test_a_site_without_the_named_library_is_answered_with_the_settings_in_one_line(variable, environment, plain):
    pytest.importorskip("mpi4py")
    environment |= {"PMI_RANK": "0", "LD_LIBRARY_PATH": "", **variable}
    done = plain("-m", "drivers.ihc", "--climbers", "10")
    if "MPI4PY_MPIABI" in variable and done.returncode == 0:
        pytest.skip("this system has MPICH's library")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: an MPI launcher started this, but mpi4py fails (")
    assert "LD_LIBRARY_PATH to the folder of its libmpi.so.12" in done.stderr and done.stderr.count("\n") == 1


def test_a_launcher_without_mpi4py_is_answered_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(LaunchError, match="pip install .* for MPICH or Intel MPI set MPI4PY_MPIABI=mpich") as caught:
        default_communicator()
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("guilty", [0, 1])
def test_an_error_of_one_rank_is_raised_on_every_rank(guilty):
    def act(ranks):
        def fail():
            if ranks.rank >= guilty:
                raise Terminated if ranks.rank == guilty else ValueError

        with pytest.raises(Terminated) as caught:
            ranks.on_all(fail)
        return caught.value.code, caught.value.on_rank

    assert on_ranks(3, act) == [(143, guilty)] * 3
