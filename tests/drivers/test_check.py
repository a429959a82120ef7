"""`onekernel check FILE.py[:CLASS]`: which problem of a file is meant, and what becomes of its functions."""

import shutil
from pathlib import Path

import pytest

from core.errors import UserError
from drivers import check

DRIVER = check
LIGHTEST = Path(__file__).parents[1] / "lightest.py"
TWO = "from core.local_search.problem import Problem\nclass One(Problem): pass\nclass Two(Problem): pass\nmade = 3\n"


@pytest.fixture
def asked(monkeypatch):
    calls = []
    monkeypatch.setattr(check.custom_problem, "run_program", lambda *arguments: calls.append(arguments) or 0)
    return calls


@pytest.mark.parametrize("named", [str(LIGHTEST), f"{LIGHTEST}:Lightest"])
def test_it_is_the_files_own_check(named, asked):
    assert check.main([named, "--n", "8"]) == 0
    ((problem, started, words),) = asked
    assert (problem.__name__, started, words) == ("Lightest", (str(LIGHTEST),), ["--check", "--n", "8"])


def test_a_right_problem_passes(drive):
    code, out, err = drive(LIGHTEST, "--n", "5")
    assert (code, err) == (0, "") and "all right" in out


def test_a_wrong_one_ends_with_a_line_that_names_its_function(drive, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(LIGHTEST.read_text().replace("- bits[p]) *", "+ bits[p]) *"))
    code, out, err = drive(wrong, "--n", "5")
    assert (code, out) == (2, "")
    assert err.startswith("error: flip1 (") and "wrong.py:14: added" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (TWO, "", r"two\.py: expected one class of problems, found 2, One, Two: expected \S+two\.py:CLASS"),
        (TWO, ":Three", r"two\.py: found no problem 'Three', expected one that the file defines: One, Two"),
        ("", "", r"two\.py: expected one class of problems, found none"),
        ("x = (", "", r"two\.py:1: '\(' was never closed"),
        ("import of_no_name", "", r"two\.py: ModuleNotFoundError: No module named 'of_no_name'"),
    ],
)
def test_a_file_without_the_problem_is_a_users_mistake(text, name, message, tmp_path):
    path = tmp_path / "two.py"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        check.main([f"{path}{name}"])


def test_a_file_finds_its_neighbours(tmp_path, asked):
    shutil.copy(LIGHTEST, tmp_path / "lightest_of_mine.py")
    (tmp_path / "mine.py").write_text("from lightest_of_mine import Lightest as L\nclass Mine(L): pass\n")
    assert check.main([str(tmp_path / "mine.py")]) == 0
    assert asked[0][0].__name__ == "Mine"
