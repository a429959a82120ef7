"""A rank that is missing ends the job: killed, gone in order while others wait for it, or never there."""

import re
import sys
import textwrap
from pathlib import Path

import pytest

from cluster.mpi.failures import lost_hosts

FOLDER = Path(__file__).parent
ULFM = ("--with-ft", "ulfm")
START = "import os, signal, sys, time\nimport numpy as np\nfrom cluster import default_communicator\nranks = default_communicator()\n"


@pytest.fixture
def ranks_of(program, mpirun):
    def run(ranks, body):
        done = mpirun(ranks, program(START + textwrap.dedent(body)))
        own = [line for line in done.stderr.splitlines() if line.startswith("error") or "Traceback" in line]
        return done.returncode, done.stdout, own

    return run


@pytest.mark.parametrize(
    "waiting",
    [
        "ranks.barrier()",
        pytest.param("ranks.counter()", marks=pytest.mark.slow),
        pytest.param("ranks.receive(np.zeros(3), 1)", marks=pytest.mark.slow),
    ],
    ids=["for all", "to share a counter", "for its array"],
)
def test_a_rank_that_ends_while_another_waits_for_it_ends_the_job(waiting, ranks_of):
    body = f"""
        if ranks.rank == 1:
            sys.exit(0)
        {waiting}
        print("went on")
    """
    assert ranks_of(2, body) == (1, "", ["error (rank 1): it has ended, and rank 0 waits for it"])


@pytest.mark.slow
def test_a_rank_that_nobody_waits_for_may_end_early(ranks_of):
    body = """
        ranks.barrier()
        if ranks.rank == 2:
            ranks.send(np.arange(3), 0)
            sys.exit(0)
        time.sleep(2.5 * (1 - ranks.rank))
        if ranks.rank == 0:
            heard = np.zeros(3, int)
            ranks.receive(heard, 2)
            print(heard.tolist())
    """
    assert ranks_of(3, body) == (0, "[0, 1, 2]\n", [])


@pytest.mark.slow
def test_a_rank_that_waits_elsewhere_sees_which_rank_has_ended(ranks_of):
    body = """
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
    """
    assert ranks_of(3, body) == (0, "1 [1]\n", [])


@pytest.mark.slow
def test_a_program_that_never_speaks_mpi_is_not_waited_for_for_ever(program, mpirun):
    path = program("from cluster.mpi.failures import liveness \nliveness.START_S = 1.5\n" + START + "print('went on')")
    done = mpirun(1, path, ":", "-n", "1", sys.executable, "-c", "pass")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: waited 1.5 s for all ranks to start; expected every one of them to run this program" in done.stderr


def test_the_systems_table_tells_which_connection_gets_no_answer():
    heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
    state = "1: 01004D0A:8AD9 {} {} 00000000:00000016 02:000000D4 {} 0 {} {} 2 0000000000000000 20 4 30 10 -1"
    rows = [
        state.format("02004D0A:BE25", "01", "00000000", lost_hosts.MOST_UNANSWERED, 11),
        state.format("03004D0A:BE25", "01", "00000000", lost_hosts.MOST_UNANSWERED - 1, 12),
        state.format("0100A8C0:BE25", "01", "0000000A", 0, 13),
        state.format("00000000:0000", "0A", "0000000A", 0, 14),
    ]
    by_inode = lost_hosts.connections("\n".join([heading, *rows]))
    assert {inode: one.is_lost for inode, one in by_inode.items()} == {11: True, 12: False, 13: True}
    if sys.byteorder == "little":
        assert lost_hosts.format_address(by_inode[11].address) == "10.77.0.2"
        assert lost_hosts.format_address("B80D01200000000067452301EFCDAB89") == "2001:db8::123:4567:89ab:cdef"


# --- ranks that continue when others are killed ---


def test_every_call_tells_of_a_rank_that_is_lost_and_the_others_go_on(mpirun):
    """Words that ranks share by messages come first."""
    done = mpirun(11, FOLDER / "losing.py", options=ULFM)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    lost = re.findall(r"^(\w+): lost (\d+)$", said, re.MULTILINE)
    calls = ("add", "minloc", "sum", "bcast", "gather", "join", "reduce", "transfer", "barrier", "assemble")
    assert sorted(lost) == sorted(zip(calls, ["10", "0", "9", "1", "8", "2", "7", "3", "6", "4"], strict=True))
    assert said.count("left: [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]") == 1


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1], ids=["none is lost", "one is lost"])
def test_a_rank_that_fails_ends_a_job_that_survives_lost_ranks(lost, mpirun, program):
    """Open MPI 5.0.11 would end this rank alone, and let the others wait for it."""
    path = program(f"""
        import os, signal
        from cluster import default_communicator
        from core.errors import UserError
        ranks = default_communicator()
        ranks.barrier()
        if ranks.rank == 2 and {lost}:
            os.kill(os.getpid(), signal.SIGKILL)
        if ranks.rank == 0:
            raise UserError("found a mistake")
        ranks.agree(False)
        ranks.shrink()
        print("went on")
    """)
    done = mpirun(3, path, options=ULFM)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("error: found a mistake")
