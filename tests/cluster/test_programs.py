"""`python -m cluster`: the list, and what there is not."""

import pytest

from cluster.__main__ import main
from cluster.programs import PROGRAMS


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_without_a_word_all_programs_are_listed(words, called):
    code, out, err = called(main, *words)
    assert (code, err) == (0, "")
    rows = [line.split(maxsplit=1) for line in out.splitlines()[2:-2]]
    assert rows == [[name, program.title] for name, program in PROGRAMS.items()]
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS if name != "setup"])
def test_every_program_says_how_it_was_called(name, plain):
    done = plain("-m", "cluster", name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m cluster {name} ")


def test_an_unknown_program_is_a_users_mistake_with_the_nearest_name(called):
    code, out, err = called(main, "lunch", "-n", 4)
    assert (code, out) == (2, "")
    assert err.startswith("error: python -m cluster lunch (did you mean launch?): expected one of ")
    assert err.count("\n") == 1 and all(name in err for name in PROGRAMS)
