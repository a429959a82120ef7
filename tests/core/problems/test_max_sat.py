"""MAX-SAT: weights by loops and by brute force, kept counts behind walks, and formulas as texts or objects."""

import itertools

import numpy as np

from core.problems import sat
from core.problems.max_sat import MaxSat


def test_a_problem_is_made_of_an_instance_or_of_what_names_one(tmp_path):
    (tmp_path / "two.cnf").write_text("p cnf 2 2\n1 0\n-1 -2 0\n")
    problems = [MaxSat(sat.SatInstance("two", 2, [[1], [-1, -2]])), MaxSat(str(tmp_path / "two.cnf"))]
    problems += [MaxSat("two", tmp_path), MaxSat("two.cnf", tmp_path)]
    assert {problem.name for problem in problems} == {"two"}
    assert len({problem.sha256 for problem in problems}) == 1
    assert [problems[0].cost(np.array(bits)) for bits in itertools.product((0, 1), repeat=2)] == [1, 1, 0, 1]
