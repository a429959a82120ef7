"""Ants choose cities with the probabilities of equation 1: chi-square tests on fixed seeds."""

import numpy as np
import pytest

from core import tours as tsp
from tests.core.ant_colony.reference import Colonies, weights_of

N = 10
ANTS = 20_000
SEED = 2011
ACCEPTED, REJECTED = 0.001, 1e-9
FEWEST = 5
"""Expected counts below this are pooled (Cochran 1954)."""


class Sample:
    """The tours of one iteration, and the pheromone from which they were made."""

    def __init__(self, iteration, **changes):
        self.distances = tsp.load(f"uniform:{N}:seed=3").distances
        self.changes = {"ants": ANTS, "alpha": 1.0, "beta": 2.0, "rho": 0.5, **changes}
        self.colonies = Colonies(self.distances, SEED, **self.changes)
        self.colonies.run(iteration)
        self.pheromone = self.colonies.pheromone[0].copy()
        self.colonies.iterate()
        self.tours = self.colonies.tours[0]

    @property
    def weights(self):
        return weights_of(self.pheromone, self.colonies.eta, self.colonies.alpha_fixed)

    def equation1(self, alpha=1.0, beta=2.0):
        """Numerators of equation 1 in float64, from the distances themselves."""
        distances = self.colonies.distances + 1.0 * np.eye(N)
        numerators = self.pheromone.astype(np.float64) ** alpha * distances**-beta
        np.fill_diagonal(numerators, 0)
        return numerators


SAMPLES = {"first iteration": lambda: Sample(0), "other exponents": lambda: Sample(2, alpha=1.5, beta=1.0)}


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request):
    return SAMPLES[request.param]()


def p_value(counts, probabilities):
    """p-value of counts against probabilities, both (groups, choices).

    Each group's total is fixed and costs a degree of freedom. Rare choices of a group are pooled.
    """
    stats = pytest.importorskip("scipy.stats")
    observed, expected, groups = [], [], 0
    for sample_counts, chances in zip(counts, probabilities, strict=True):
        if not sample_counts.sum():
            continue
        wanted = sample_counts.sum() * chances / chances.sum()
        order = np.argsort(wanted)
        rare = int(np.searchsorted(np.cumsum(wanted[order]), FEWEST)) + 1
        observed += [sample_counts[order[:rare]].sum(), *sample_counts[order[rare:]]]
        expected += [wanted[order[:rare]].sum(), *wanted[order[rare:]]]
        groups += 1
    return stats.chisquare(observed, expected, ddof=groups - 1, sum_check=False).pvalue


def seconds(tours):
    """Count the tours with city j right after city i at the start: (n, n)."""
    counts = np.zeros((N, N))
    np.add.at(counts, (tours[:, 0], tours[:, 1]), 1)
    return counts


def thirds(tours):
    """Count the tours with city k third after i and j: (n * n, n), and the pairs (i, j): (n * n, 2)."""
    counts = np.zeros((N, N, N))
    np.add.at(counts, tuple(tours[:, :3].T), 1)
    pairs = np.stack(np.divmod(np.arange(N * N), N), axis=1)
    met = pairs[:, 0] != pairs[:, 1]
    return counts.reshape(N * N, N)[met], pairs[met]


def from_the_second(weights, pairs):
    rows = weights[pairs[:, 1]].astype(np.float64)
    rows[np.arange(len(pairs)), pairs[:, 0]] = 0
    return rows


def test_the_start_is_uniform(sample):
    counts = np.bincount(sample.tours[:, 0], minlength=N)
    assert p_value([counts], [np.ones(N)]) > ACCEPTED
    assert p_value([counts], [np.linspace(1, 1.25, N)]) < REJECTED


def test_the_third_city_follows_equation_1_without_the_visited(sample):
    counts, pairs = thirds(sample.tours)
    alpha, beta = sample.changes["alpha"], sample.changes["beta"]
    assert p_value(counts, from_the_second(sample.weights, pairs)) > ACCEPTED
    assert p_value(counts, from_the_second(sample.equation1(alpha, beta), pairs)) > ACCEPTED


def test_candidates_follow_equation_1_among_themselves():
    sample = Sample(2, candidates=4)
    allowed = np.zeros((N, N))
    np.put_along_axis(allowed, sample.colonies.near, 1, axis=1)
    counts = seconds(sample.tours)
    assert counts[allowed == 0].sum() == 0
    assert p_value(counts, sample.equation1() * allowed) > ACCEPTED
    assert p_value(counts, sample.equation1(beta=2.4) * allowed) < REJECTED
    assert p_value(counts, allowed) < REJECTED
