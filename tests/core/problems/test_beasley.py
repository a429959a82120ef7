"""Beasley's files of quadratic forms, and forms like theirs from a generator."""

import itertools

import numpy as np
import pytest

from core.problems import beasley
from core.problems.errors import InstanceError
from core.problems.max_cut import Qubo
from tests.core.problems.test_generators import split_mix

TEXT = "2\n 2 1\n 1 2 9\n 3 4\n 1 1 5\n 3 1 -7\n 2 3 4\n 3 3 -2\n"


def test_a_file_s_problems_are_told_by_number(tmp_path):
    (tmp_path / "two.txt").write_text(TEXT)
    first, second = Qubo("two", tmp_path), Qubo(f"{tmp_path / 'two.txt'}:2")
    assert (first.name, second.name) == ("two:1", "two:2")
    matrix = np.array([[5, 0, -7], [0, 0, 4], [-7, 4, -2]])
    for bits in itertools.product((0, 1), repeat=3):
        assert second.cost(np.array(bits)) == -(np.array(bits) @ matrix @ bits)
    assert first.cost(np.array([1, 1])) == -18


def test_generated_entries_are_the_words_scaled():
    form = beasley.load("random:7:density=0.4:largest=9:seed=3")
    for word, (i, j) in zip(split_mix(3, 28), itertools.combinations_with_replacement(range(7), 2), strict=True):
        entry = ((word & 2**32 - 1) * 19 >> 32) - 9 if word >> 32 < 0.4 * 2**32 else 0
        assert form.coefficients[i, j] == form.coefficients[j, i] == -entry * (1 if i == j else 2)
    assert form.name == "random:7:density=0.4:largest=9:seed=3"


@pytest.mark.parametrize(
    ("text", "spec", "words"),
    [
        ("", "f.txt", "f.txt:1: found the end instead of a number of problems, expected an integer from 1 to 1000"),
        (TEXT, "f.txt:3", "f.txt: found 2 problems and no number 3, expected 1 to 2"),
        (TEXT, "f.txt:0", "f.txt: found 2 problems and no number 0"),
        (
            TEXT.replace("3 3 -2\n", ""),
            "f.txt:2",
            "f.txt:7: found the end instead of a bit, expected an integer from 1 to 3",
        ),
        (TEXT.replace("3 3 -2", "3 4 -2"), "f.txt:2", "f.txt:8: found bit '4'"),
        (TEXT.replace("1 2 9", "1 2 x"), "f.txt", "f.txt:3: found entry 'x'"),
        (
            TEXT.replace("1 2 9", "1 2 2147483647"),
            "f.txt",
            "f.txt: found coefficients whose sizes sum up to 4294967294",
        ),
        (TEXT.replace("3 3 -2", "1 3 2"), "f.txt:2", "f.txt:8: found entry 1 3 again, expected it once"),
        (TEXT + "7\n", "f.txt:2", "f.txt:9: found '7' after them, expected 2 problems"),
        (TEXT, "g.txt", "g.txt: found no such file"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path, text, spec, words):
    (tmp_path / "f.txt").write_text(text)
    with pytest.raises(InstanceError) as refusal:
        beasley.load(str(tmp_path / spec))
    assert words in str(refusal.value)


@pytest.mark.parametrize(("spec", "words"), [("random:0", "bits '0'"), ("random:9:density=2", "density '2'")])
def test_what_names_no_form_is_refused(spec, words):
    with pytest.raises(InstanceError, match=words):
        Qubo(spec)
