"""Points on the axes: one coordinate of the solution differs, by a step into the point's crown."""

import itertools

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.problems.weierstrass.problem import Weierstrass
from core.search.local_search import HillClimbing, Iterations, LocalSearch, TabuSearch


def run_search(cpu, iterations, evaluation="kept", dtype="float32", algorithm=None):
    problem = Weierstrass("5", points=40, dtype=dtype)
    search = LocalSearch(cpu, Solo(), problem, algorithm or TabuSearch(), "axes", evaluation=evaluation, seed=3)
    return problem, search.run(Iterations(iterations))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kept_contributions_cost_what_a_full_evaluation_costs(cpu, dtype):
    problem, kept = run_search(cpu, 30, dtype=dtype)
    _, full = run_search(cpu, 30, "full", dtype)
    assert (kept.digest, kept.cost) == (full.digest, full.cost)
    assert abs(problem.cost(kept.solution) - kept.cost) <= problem.tolerance()


def test_a_move_changes_one_coordinate_by_a_step_into_its_crown(cpu):
    descent = [run_search(cpu, k, algorithm=HillClimbing())[1].solution.astype(np.float64) for k in range(1, 6)]
    for before, after in itertools.pairwise(descent):
        move = after - before
        (axis,) = np.flatnonzero(move)
        point = int(abs(move[axis]) * 40 * 5)
        assert point < 40
        assert point % 5 == axis


def test_points_of_both_kinds_are_no_neighbourhoods_of_one_search(cpu):
    with pytest.raises(UserError, match="their moves differ in kind"):
        LocalSearch(cpu, Solo(), Weierstrass("5"), HillClimbing(), ["crowns", "axes"])
