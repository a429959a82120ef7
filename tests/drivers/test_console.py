"""The command `onekernel`: what it lists, starts and refuses."""

import importlib.metadata
import re
import subprocess
import sys

import pytest

from drivers import console
from drivers.workload.registry import NAMES
from tests.conftest import ROOT

SCRIPT = "import sys; from drivers.console import main; sys.exit(main())"


@pytest.fixture
def onekernel(environment):
    """Run the command as its script does, which is outside the working folder."""

    def run(*arguments, cwd=ROOT, **more):
        command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, env=environment | more, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def run_here(monkeypatch, outcome_of):
    monkeypatch.setattr(sys, "argv", ["pytest"])
    return lambda *arguments: outcome_of(console.main, [*map(str, arguments)])


def test_alone_it_lists_every_program_within_eighty_columns(run_here):
    code, listed, _ = run_here()
    assert code == 0 and run_here("--help") == (0, listed, "")
    rows = [line.split(maxsplit=1) for line in listed.splitlines()[2:-2]]
    assert [name for name, _ in rows] == [*NAMES, *console.OTHER_PROGRAMS]
    assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # other tests have imported it
@pytest.mark.parametrize("name", [*NAMES, *console.OTHER_PROGRAMS])
def test_every_program_says_how_it_was_called(name, run_here):
    code, said, _ = run_here(name, "--help")
    assert not code and said.startswith(f"usage: onekernel {name} ")


def test_an_unknown_program_is_a_users_mistake_with_the_nearest_name(run_here):
    code, out, err = run_here("ich")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: onekernel ich \(did you mean ihc\?\): expected one of ihc, .*\n", err)


def test_wrong_options_are_told_in_the_commands_words(onekernel):
    done = onekernel("ihc", "--foo")
    assert done.returncode == 2
    assert done.stderr == "onekernel ihc: error: unrecognized arguments: --foo (--help lists all options)\n"


def test_it_knows_its_version(run_here):
    assert run_here("--version") == (0, f"onekernel {importlib.metadata.version('onekernel')}\n", "")
