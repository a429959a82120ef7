"""`python -m cluster`: the list, and what there is not."""

import importlib.util

import pytest

from cluster.programs import PROGRAMS


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_without_a_word_all_programs_are_listed(words, plain):
    done = plain("-m", "cluster", *words)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()[2:-2]]
    assert rows == [[name, program.title] for name, program in PROGRAMS.items()]
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_says_how_it_was_called(name, plain):
    assert importlib.util.find_spec(PROGRAMS[name].module)
    done = plain("-m", "cluster", name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m cluster {name} ") or name == "setup"


def test_an_unknown_program_is_a_users_mistake_with_the_nearest_name(plain):
    done = plain("-m", "cluster", "lunch", "-n", 4)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: python -m cluster lunch (did you mean launch?): expected one of {', '.join(PROGRAMS)}; "
        "`python -m cluster` says what they do\n"
    )
