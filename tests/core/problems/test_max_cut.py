"""Max-cut and QUBO: known cuts, and graphs, matrices and Beasley's files as instances."""

import itertools

import numpy as np
import pytest

from core.problems.instances.errors import InstanceError
from core.problems.more.max_cut import beasley, graphs, quadratic_forms
from core.problems.more.max_cut.problem import MaxCut
from core.problems.more.max_cut.qubo import Qubo
from tests.core.problems.test_generators import split_mix


def test_more_rows_than_are_multiplied_at_a_time(monkeypatch):
    form = quadratic_forms.of_graph(graphs.load("random:30:weights=-3..9"))
    bits = np.random.default_rng(4).integers(0, 2, (5, 30))
    expected = form.values(bits).tolist()
    monkeypatch.setattr(quadratic_forms, "ROW_BLOCK", 7)
    assert form.values(bits).tolist() == expected


def test_the_rows_of_a_form_are_its_coefficients_that_are_not_0():
    form = quadratic_forms.of_matrix("form", np.diag([0, 3, 0, -2, 0]) + 5 * np.eye(5, k=2, dtype=int))
    columns, entries, starts = form.rows
    assert [columns[a:b].tolist() for a, b in itertools.pairwise(starts)] == [[0, 2], [1, 3], [2, 0, 4], [3, 1], [4, 2]]
    for p, (a, b) in enumerate(itertools.pairwise(starts)):
        assert entries[a:b].tolist() == form.coefficients[p, columns[a:b]].tolist()
    assert len(entries) == np.count_nonzero(form.coefficients) + 3  # zeros on the diagonal


def test_forms_of_few_coefficients_are_searched_by_these_alone():
    sparse, dense = MaxCut("random:60:density=0.05"), MaxCut("random:60:density=0.5")
    assert list(sparse.evaluations("flip1")) == ["sparse-fields", *dense.evaluations("flip1")]


def test_a_graph_is_found_by_path_name_and_generator(tmp_path):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G0").write_text("3 2\n1 2 5\n2 3 -7\n")
    problems = [MaxCut(str(tmp_path / "gset" / "G0")), MaxCut("G0", tmp_path)]
    assert [(one.name, one.cost(np.array([0, 1, 1]))) for one in problems] == [("G0", -5)] * 2
    named = MaxCut("random:9:density=0.3")
    assert named.name == "maxcut:9:2:seed=0:density=0.3:weights=1..10"
    assert MaxCut(named.name).sha256 == named.sha256 != problems[0].sha256


TEXT = "2\n 2 1\n 1 2 9\n 3 4\n 1 1 5\n 3 1 -7\n 2 3 4\n 3 3 -2\n"


def test_a_file_s_problems_are_told_by_number(tmp_path):
    (tmp_path / "two.txt").write_text(TEXT)
    first, second = Qubo("two", tmp_path), Qubo(f"{tmp_path / 'two.txt'}:2")
    assert (first.name, second.name) == ("two:1", "two:2")
    matrix = np.array([[5, 0, -7], [0, 0, 4], [-7, 4, -2]])
    for bits in itertools.product((0, 1), repeat=3):
        assert second.cost(np.array(bits)) == -(np.array(bits) @ matrix @ bits)
    assert first.cost(np.array([1, 1])) == -18
    for number in (0, 3):
        with pytest.raises(InstanceError, match=f"two.txt: found 2 problems and no number {number}, expected 1 to 2"):
            Qubo(f"two:{number}", tmp_path)


def test_generated_entries_are_the_words_scaled():
    form = beasley.load("random:7:density=0.4:largest=9:seed=3")
    for word, (i, j) in zip(split_mix(3, 28), itertools.combinations_with_replacement(range(7), 2), strict=True):
        entry = ((word & 2**32 - 1) * 19 >> 32) - 9 if word >> 32 < 0.4 * 2**32 else 0
        assert form.coefficients[i, j] == form.coefficients[j, i] == -entry * (1 if i == j else 2)
    assert form.name == "random:7:density=0.4:largest=9:seed=3"
