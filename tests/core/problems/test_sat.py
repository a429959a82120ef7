"""Formulas as texts: DIMACS files with and without weights, and generated ones."""

import gzip
import itertools

import numpy as np

from core.problems.more.max_sat import formulas
from core.problems.more.max_sat.problem import MaxSat
from tests.core.problems.test_generators import split_mix

TEXT = "c three variables\np cnf 3 3\n1 -2 0\nc between\n-1 3\n2 0 -3 0\n"
WEIGHTED = "p wcnf 3 3 10\n10 1 -2 0\n3 -1 3 2 0\n1 -3 0\n"


def clauses_of(instance):
    signed = [-(one // 2 + 1) if one & 1 else one // 2 + 1 for one in instance.literals.tolist()]
    return [signed[first:end] for first, end in zip(instance.starts, instance.starts[1:], strict=False)]


def test_a_file_gives_its_clauses(tmp_path):
    (tmp_path / "three.cnf").write_text(TEXT)
    (tmp_path / "packed.cnf.gz").write_bytes(gzip.compress(TEXT.encode()))
    for instance in (formulas.load(str(tmp_path / "three.cnf")), formulas.load("packed", tmp_path)):
        assert (instance.variables, clauses_of(instance)) == (3, [[1, -2], [-1, 3, 2], [-3]])
        assert instance.weights.tolist() == [1, 1, 1]
    assert formulas.load(str(tmp_path / "three.cnf")).name == "three" and instance.name == "packed"


def test_weights_stand_before_the_clauses():
    instance = formulas.parse(WEIGHTED, "w.wcnf")
    assert (instance.name, instance.weights.tolist()) == ("w", [10, 3, 1])
    assert clauses_of(instance) == clauses_of(formulas.parse(TEXT))
    assert instance.sha256 != formulas.parse(TEXT).sha256


def test_the_last_lines_of_satlib_s_files_are_left_out():
    assert formulas.parse(TEXT + "%\n0\n\n").sha256 == formulas.parse(TEXT).sha256
    assert formulas.parse(TEXT.replace("c between\n", "").replace("\n", "\r\n")).sha256 == formulas.parse(TEXT).sha256


def test_a_literal_counts_once_and_what_nothing_violates_not_at_all():
    instance = formulas.SatInstance("odd", 3, [[2, 2, -3], [1, -1], [3]], [5, 6, 7])
    assert (clauses_of(instance), instance.weights.tolist()) == ([[2, -3], [3]], [5, 7])


def test_the_clauses_of_a_variable_are_listed():
    clauses, firsts = formulas.clauses_by_variable(formulas.parse(TEXT.replace("3 3", "4 3")))
    by_variable = [clauses[a:b].tolist() for a, b in zip(firsts, firsts[1:], strict=False)]
    assert by_variable == [[0, 3], [1, 2], [2, 5], []]


def test_generated_clauses_have_different_variables_drawn_from_the_words():
    instance = formulas.generate("random:9:ratio=3.5:length=4:seed=6")
    assert instance.name == "random:9:ratio=3.5:length=4:seed=6"
    words, expected = split_mix(6, 31 * 4), []
    for first in range(0, 31 * 4, 4):
        left, clause = list(range(1, 10)), []
        for word in words[first : first + 4]:
            variable = left.pop((word >> 32) * len(left) >> 32)
            clause.append(-variable if word & 1 else variable)
        expected.append(clause)
    assert clauses_of(instance) == expected


def test_the_name_of_a_generated_formula_says_all():
    short, long = formulas.load("random:50"), formulas.load("random:50:ratio=4.2:length=3:seed=1")
    assert short.name == long.name == "random:50:ratio=4.2:length=3:seed=1"
    assert short.sha256 == long.sha256 != formulas.load("random:50:seed=2").sha256
    assert len(short.weights) == 210


def test_numbers_of_numpy_are_literals_too():
    formula = formulas.SatInstance("n", 3, np.array([[1, -2], [3, 2]]), np.array([2, 3]))
    assert clauses_of(formula) == [[1, -2], [3, 2]]


def test_a_problem_is_made_of_an_instance_or_of_what_names_one(tmp_path):
    (tmp_path / "two.cnf").write_text("p cnf 2 2\n1 0\n-1 -2 0\n")
    problems = [MaxSat(formulas.SatInstance("two", 2, [[1], [-1, -2]])), MaxSat(str(tmp_path / "two.cnf"))]
    problems += [MaxSat("two", tmp_path), MaxSat("two.cnf", tmp_path)]
    assert {problem.name for problem in problems} == {"two"}
    assert len({problem.sha256 for problem in problems}) == 1
    assert [problems[0].cost(np.array(bits)) for bits in itertools.product((0, 1), repeat=2)] == [1, 1, 0, 1]


def test_variables_that_share_a_clause():
    clauses = [[1, -2], [2, 4, -5], [5, 1], [-1, 2]]
    partners, begins = formulas.variables_by_variable(formulas.SatInstance("test", 6, clauses))
    rows = [partners[first:end].tolist() for first, end in itertools.pairwise(begins)]
    expected = [{v} | {abs(w) - 1 for c in clauses if v + 1 in map(abs, c) for w in c} for v in range(6)]
    assert rows == [sorted(row) for row in expected]
