"""A rank that is missing ends the job: killed, gone in order while others wait for it, or never there."""

import sys
import textwrap

import pytest

START = "import os, signal, sys, time\nimport numpy as np\nfrom cluster import communicator\nranks = communicator()\n"


@pytest.fixture
def ranks_of(tmp_path, mpirun):
    """Run a program on so many ranks; returns the exit code, standard output and the program's own lines of error."""

    def run(ranks, body, *more):
        path = tmp_path / "program.py"
        path.write_text(START + textwrap.dedent(body))
        done = mpirun(ranks, path, *more)
        own = [line for line in done.stderr.splitlines() if line.startswith("error") or "Traceback" in line]
        return done.returncode, done.stdout, own

    return run


@pytest.mark.parametrize(
    "waiting",
    ["ranks.barrier()", "ranks.counter()", "ranks.receive(np.zeros(3), 1)"],
    ids=["for all", "to share a counter", "for its array"],
)
def test_a_rank_that_ends_while_another_waits_for_it_ends_the_job(waiting, ranks_of):
    code, said, errors = ranks_of(
        2,
        f"""
        if ranks.rank == 1:
            sys.exit(0)
        {waiting}
        print("went on")
        """,
    )
    assert (code, said) == (1, "")
    assert errors == ["error (rank 1): it has ended, and rank 0 waits for it"]


def test_a_rank_that_nobody_waits_for_may_end_early(ranks_of):
    code, said, errors = ranks_of(
        3,
        """
        ranks.barrier()
        if ranks.rank == 2:
            ranks.send(np.arange(3), 0)
            sys.exit(0)
        time.sleep(2.5 * (1 - ranks.rank))
        if ranks.rank == 0:
            heard = np.zeros(3, int)
            ranks.receive(heard, 2)
            print(heard.tolist())
        """,
    )
    assert (code, said.split("\n")[0], errors) == (0, "[0, 1, 2]", [])


def test_a_rank_that_waits_elsewhere_sees_who_has_ended(ranks_of):
    code, said, errors = ranks_of(
        3,
        """
        assert ranks.departed() is None
        ranks.barrier()
        if ranks.rank == 1:
            sys.exit(0)
        until = time.monotonic() + 20
        while (gone := ranks.departed()) is None and time.monotonic() < until:
            time.sleep(0.01)
        # The first must not have ended before the last has looked.
        if ranks.rank == 2:
            ranks.send(np.array([gone]), 0)
        else:
            others = np.zeros(1, int)
            ranks.receive(others, 2)
            print(gone, others.tolist())
        """,
    )
    assert (code, said, errors) == (0, "1 [1]\n", [])


def test_a_rank_that_is_killed_ends_the_job(ranks_of):
    code, said, _ = ranks_of(
        2,
        """
        if ranks.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        ranks.barrier()
        print("went on")
        """,
    )
    assert code != 0 and said == ""


def test_a_program_that_never_speaks_mpi_is_not_waited_for_for_ever(tmp_path, mpirun):
    path = tmp_path / "program.py"
    path.write_text("from cluster import presence\npresence.START_S = 1.5\n" + START + "print('went on')")
    done = mpirun(1, path, ":", "-n", "1", sys.executable, "-c", "pass")
    assert (done.returncode, done.stdout) == (2, "")
    told = "error: waited 1.5 s for all ranks to start; expected every one of them to run this program"
    assert done.stderr.count("error") >= 1 and told in done.stderr
