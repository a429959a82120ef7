"""Common options, exit codes and errors of the drivers, and their progress bar."""

import argparse
import subprocess
import sys
import textwrap

import pytest

from core.errors import UserError
from drivers.endings import run_driver
from drivers.options import Options, add_options, parsed
from drivers.progress import progress
from tests.conftest import ROOT


def ending_with(error):
    def driver(argv):
        raise error

    return driver


class OwnError(ValueError):
    """An error that cannot derive from `UserError`."""

    exit_code = 2


def parse(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser, Options)
    return parsed(Options, vars(parser.parse_args(arguments)))


def test_all_drivers_share_these_options():
    places = "--data D --backend opencl --device 1:0 --cores 4 --record r.jsonl --state s.state --state-every 5"
    line = f"--instance kroA100 --repeats 3 --seed 9 --resume --progress {places}"
    work = {"instance": "kroA100", "repeats": 3, "seed": 9, "resume": True, "progress": True, "state_every": 5.0}
    where = {"data": "D", "backend": "opencl", "device": "1:0", "cores": 4, "record": "r.jsonl", "state": "s.state"}
    usual = {"own_cores": False, "seeds": None, "share": "auto", "peers": False, "quiet": False}
    assert vars(parse(*line.split())) == work | where | usual
    assert parse("--no-progress").progress is False
    assert parse().progress is None


@pytest.mark.parametrize("wrong", [["--repeats", "0"], ["--repeats", "x"], ["--seed", "-1"], ["--nonsense"]])
def test_a_wrong_option_ends_with_exit_code_2(wrong, capsys):
    with pytest.raises(SystemExit) as end:
        parse(*wrong)
    assert end.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (5, 5)])
def test_a_driver_that_returns_decides_its_exit_code(returned, code):
    assert run_driver(lambda argv: returned if argv == ["a"] else 9, ["a"]) == code


@pytest.mark.parametrize("error", [UserError("a.tsp:3: found x, expected y"), OwnError("a.tsp:3: found x, expected y")])
def test_a_users_mistake_is_one_line_and_exit_code_2(error, capsys):
    assert run_driver(ending_with(error), []) == 2
    assert capsys.readouterr() == ("", "error: a.tsp:3: found x, expected y\n")


def test_any_other_error_shows_its_traceback_and_ends_with_exit_code_1(capsys):
    assert run_driver(ending_with(ValueError("a fault of ours")), []) == 1
    said = capsys.readouterr().err
    assert "Traceback (most recent call last)" in said
    assert "ValueError: a fault of ours" in said


def test_an_unexpected_error_reaches_the_hook_that_ends_the_other_ranks(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: seen.append((kind, str(error))))
    run_driver(ending_with(RuntimeError("lost")), [])
    assert seen == [(RuntimeError, "lost")]


def test_an_interrupt_ends_with_exit_code_130_and_no_traceback(capsys):
    assert run_driver(ending_with(KeyboardInterrupt()), []) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.slow
def test_one_failing_rank_ends_the_others_with_exit_code_2(mpirun):
    script = """
        import sys
        from core.errors import UserError
        from drivers.endings import run_driver

        def driver(argv):
            from mpi4py import MPI
            if MPI.COMM_WORLD.Get_rank() == 1:
                raise UserError("the device of this rank is missing")
            MPI.COMM_WORLD.Barrier()

        sys.exit(run_driver(driver))
        """
    result = mpirun(2, "-c", textwrap.dedent(script))
    assert result.returncode == 2
    assert "error (rank 1): the device of this rank is missing" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_options_are_light_enough_for_64_ranks_and_no_bar_imports_nothing():
    # An installed package may load modules at every start of Python (numba-cuda does): those are not ours.
    script = """
        import sys
        before = set(sys.modules)
        import drivers.options, drivers.endings, drivers.command
        from drivers.progress import progress
        for wanted, rank in (None, 0), (False, 0), (True, 1):
            with progress("climbing", wanted=wanted, rank=rank) as bar:
                bar.show(3, 3)
        print(*sorted(set(sys.modules) - before))
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    loaded = set(result.stdout.split())
    assert "drivers.progress" in loaded and result.stderr == ""
    assert not loaded & {"numba", "rich", "mpi4py", "psutil", "subprocess", "json"}


def test_a_bar_that_is_asked_for_counts_on_standard_error(capsys):
    pytest.importorskip("rich", reason="rich is not installed")
    with progress("climbing", wanted=True) as bar:
        bar.show(1, 3)
        bar.show(3, 3)
    shown = capsys.readouterr()
    assert "climbing" in shown.err
    assert "3/3" in shown.err
    assert shown.out == ""


def test_a_bar_that_is_asked_for_without_rich_is_a_users_mistake(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(UserError, match="needs rich"):
        progress("climbing", wanted=True)
