import contextlib
import re
import sys
import textwrap
from types import SimpleNamespace

import pytest

from cluster import abort

RULE = re.compile("-{5,}")
"""Of a launcher's banner."""


def without_banner(text):
    """Lines of text outside the banners of a launcher."""
    lines = re.sub(r"-{5,}\n.*?-{5,}\n", "", text, flags=re.DOTALL).splitlines()
    return [line for line in lines if line.strip()]


@pytest.fixture
def program(tmp_path):
    """Write a rank's program and return its path."""

    def write(source: str):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        return path

    return write


MISTAKE = """
    from cluster import communicator

    class NoSuchCity(Exception):
        exit_code = 2

    ranks = communicator()
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
START = "from cluster import communicator; ranks = communicator()"


def command_line(start="", arguments="", end=""):
    return COMMAND_LINE.format(start=start, arguments=arguments, end=end)


def test_a_rank_that_fails_ends_the_ranks_that_wait_for_it(program, mpirun):
    path = program("""
        from cluster import communicator

        ranks = communicator()
        if ranks.rank == 2:
            raise RuntimeError("the third rank fell off the hill")
        ranks.barrier()
    """)
    done = mpirun(3, path)
    assert done.returncode == 1
    assert "rank 2 failed:" in done.stderr
    assert "Traceback" in done.stderr
    assert "RuntimeError: the third rank fell off the hill" in done.stderr


def test_a_mistake_that_all_ranks_see_is_told_once(program, mpirun):
    done = mpirun(3, program(MISTAKE.format(guilty=[0, 1, 2])))
    assert done.returncode == 2
    assert without_banner(done.stderr) == ["error: city 101 of 100"]


def test_open_mpi_says_in_one_banner_that_a_rank_ended_the_job(program, mpirun):
    done = mpirun(3, program(MISTAKE.format(guilty=[0])))
    assert "MPI_ABORT" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if RULE.fullmatch(line)]) <= 2


@pytest.mark.parametrize(("launcher", "asked"), [({"PRTE_LAUNCHED": "1"}, []), ({}, [2])], ids=["prterun", "another"])
def test_a_launcher_that_is_not_known_to_end_all_ranks_is_asked_by_mpi(monkeypatch, launcher, asked):
    aborted, left = [], []
    world = SimpleNamespace(Get_size=lambda: 3, Abort=aborted.append)
    mpi = SimpleNamespace(Is_initialized=lambda: True, Is_finalized=lambda: False, COMM_WORLD=world)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", mpi)
    monkeypatch.delenv("PRTE_LAUNCHED", raising=False)
    for name, value in launcher.items():
        monkeypatch.setenv(name, value)

    def leave(code):
        left.append(code)
        raise SystemExit(code)

    monkeypatch.setattr(abort.os, "_exit", leave)
    with contextlib.suppress(SystemExit):
        abort.end_job(2)
    assert (aborted, left) == (asked, [] if asked else [2])


def test_a_mistake_that_one_rank_sees_is_told_with_its_rank(program, mpirun):
    done = mpirun(3, program(MISTAKE.format(guilty=[1])))
    assert done.returncode == 2
    assert done.stderr.count("error (rank 1): city 101 of 100") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("start", ["", START], ids=["before MPI starts", "after"])
def test_a_wrong_option_is_told_once(start, program, mpirun):
    done = mpirun(3, program(command_line(start)), "--climbers", "many")
    assert done.returncode == 2
    assert without_banner(done.stderr) == [
        "climb: error: argument --climbers: invalid int value: 'many' (--help lists all options)"
    ]


def test_a_wrong_option_ends_ranks_that_did_not_see_it(program, mpirun):
    wrong_on_the_first = "['--climbers', 'many'] if ranks.rank == 0 else []"
    done = mpirun(3, program(command_line(START, wrong_on_the_first, "ranks.barrier()")))
    assert done.returncode == 2
    assert "climb: error: argument --climbers" in done.stderr


def test_help_is_printed_once(program, mpirun):
    done = mpirun(3, program(command_line()), "--help")
    assert done.returncode == 0
    assert done.stdout.count("Climbs hills.") == 1


def test_a_process_alone_ends_like_any_other_program(program, plain):
    path = program(command_line())
    assert plain(path, "--climbers", "3").returncode == 0
    assert "Climbs hills." in plain(path, "--help").stdout
    wrong = plain(path, "--climbers", "many")
    assert wrong.returncode == 2
    assert "invalid int value: 'many'" in wrong.stderr


def test_the_hook_gives_a_mistake_exit_code_2_in_one_process(program, plain):
    path = program("""
        from cluster import abort

        abort.install()

        class NoSuchCity(Exception):
            exit_code = 2

        raise NoSuchCity("city 101 of 100")
    """)
    done = plain(path)
    assert (done.returncode, done.stderr) == (2, "error: city 101 of 100\n")
