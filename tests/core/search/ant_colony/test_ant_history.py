"""The history of ants: iterations that improved the best, with evaluations and times of all colonies."""

from itertools import accumulate

import pytest

from cluster import Solo
from core.problems import tsp
from core.search.ant_colony import AntColony, Settings
from core.search.stop import Iterations

CITIES, ITERATIONS = 13, 12
CASES = {
    "one colony": {"ants": 6},
    "three that exchange": {"ants": 3, "colonies": 3, "variant": "mmas", "exchange": 5},
}


def of_curve(curve, case):
    """Iteration, evaluations and length of every improvement, from the best of every iteration."""
    ants = CASES[case]["ants"] * CASES[case].get("colonies", 1)
    best = [None, *accumulate(curve, min)]
    return [
        [iteration, (iteration + 1) * ants * CITIES**2, after]
        for iteration, (before, after) in enumerate(zip(best, best[1:], strict=False))
        if before is None or after < before
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_history_is_that_of_the_curve(cpu, case):
    distances = tsp.load(f"uniform:{CITIES}:seed=4").distances
    engine = AntColony(cpu, Solo(), distances, Settings(**CASES[case]), seed=7)
    outcome = engine.run(Iterations(ITERATIONS), history=True)
    rows, seconds = [[*row[:2], row[3]] for row in outcome.history], [row[2] for row in outcome.history]
    assert rows == of_curve(outcome.curve.tolist(), case)
    assert rows[-1][2] == outcome.length
    assert seconds == sorted(seconds) and seconds[0] > 0
    plain = engine.run(Iterations(ITERATIONS))
    assert plain.history is None
    assert plain.digest == outcome.digest
