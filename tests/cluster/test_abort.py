"""End of a job of ranks: one exit code, and one line for a user error."""

import re
import sys
from types import SimpleNamespace

import pytest

from cluster.mpi.failures import abort

RULE = re.compile("-{5,}")
MISTAKE = """
    from cluster import default_communicator

    class NoSuchCity(Exception):
        exit_code = 2

    ranks = default_communicator()
    if ranks.rank in {guilty}:
        raise NoSuchCity("city 101 of 100")
    ranks.barrier()
"""
COMMAND_LINE = """
    from cluster.command_line import RankParser

    parser = RankParser(prog="climb", description="Climbs hills.")
    parser.add_argument("--climbers", type=int, help="how many")
    {start}
    parser.parse_args({arguments})
    {end}
"""
START = "from cluster import default_communicator; ranks = default_communicator()"
WRONG = "climb: error: argument --climbers: invalid int value: 'many' (--help lists all options)"


def command_line(start="", arguments="", end=""):
    return COMMAND_LINE.format(start=start, arguments=arguments, end=end)


def without_banner(text):
    lines = re.sub(r"-{5,}\n.*?-{5,}\n", "", text, flags=re.DOTALL).splitlines()
    return [line for line in lines if line.strip()]


@pytest.mark.slow
def test_a_rank_that_fails_ends_the_ranks_that_wait_for_it_and_hold_windows_open(program, mpirun):
    path = program("""
        from cluster import default_communicator

        ranks = default_communicator()
        counter = ranks.counter()
        if ranks.rank == 2:
            raise RuntimeError("the third rank fell off the hill")
        ranks.barrier()
    """)
    done = mpirun(3, path)
    assert done.returncode == 1
    assert "rank 2 failed:" in done.stderr
    assert "Traceback" in done.stderr
    assert "RuntimeError: the third rank fell off the hill" in done.stderr


@pytest.mark.parametrize(
    ("guilty", "message"),
    [
        ([0, 1, 2], "error: city 101 of 100"),
        pytest.param([1], "error (rank 1): city 101 of 100", marks=pytest.mark.slow),
    ],
    ids=["all", "another"],
)
def test_a_mistake_that_ranks_see_is_told_once_beside_one_banner(guilty, message, program, mpirun):
    done = mpirun(3, program(MISTAKE.format(guilty=guilty)))
    assert done.returncode == 2
    assert without_banner(done.stderr) == [message]
    assert "MPI_ABORT" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if RULE.fullmatch(line)]) <= 2


@pytest.fixture
def aborted(monkeypatch):
    """Exit codes of `MPI_Abort` in a job of two ranks."""
    codes = []
    world = SimpleNamespace(Get_size=lambda: 2, Abort=codes.append)
    mpi = SimpleNamespace(Is_initialized=lambda: True, Is_finalized=lambda: False, COMM_WORLD=world)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", mpi)
    return codes


def test_a_launcher_that_is_not_known_to_end_all_ranks_is_asked_by_mpi(aborted, monkeypatch):
    monkeypatch.delenv("PRTE_LAUNCHED", raising=False)
    abort.end_job(2)
    assert aborted == [2]


@pytest.mark.parametrize(("parent", "ended"), [("prterun", 1), ("prted", 1), ("systemd", 0), ("", 0)])
def test_only_a_launcher_is_ended_by_a_rank_that_fails_under_ulfm(parent, ended, aborted, monkeypatch):
    """The system's first process is the parent of an orphaned rank."""
    started = []
    monkeypatch.setenv(abort.launcher.SURVIVES, "1")
    monkeypatch.setattr(abort.launcher, "parent_name", lambda: parent)
    monkeypatch.setattr(abort, "end_launcher", lambda *commands: started.append(commands))
    abort.end_job(2)
    assert (len(started), aborted) == (ended, [2])


@pytest.mark.parametrize(
    "source",
    [
        command_line(),
        pytest.param(
            command_line(START, "['--climbers', 'many'] if ranks.rank == 0 else []", "ranks.barrier()"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["before MPI starts", "on the first rank alone"],
)
def test_a_wrong_option_is_told_once_and_ends_all_ranks(source, program, mpirun):
    done = mpirun(3, program(source), "--climbers", "many")
    assert (done.returncode, without_banner(done.stderr)) == (2, [WRONG])


def test_the_hook_gives_a_mistake_exit_code_2_in_one_process(program, plain):
    path = program("""
        from cluster.mpi.failures import abort

        abort.install()

        class NoSuchCity(Exception):
            exit_code = 2

        raise NoSuchCity("city 101 of 100")
    """)
    done = plain(path)
    assert (done.returncode, done.stderr) == (2, "error: city 101 of 100\n")
