"""Solvers of the quadratic assignment problem: the two methods of SciPy."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from core.qap.instance import QapInstance
from core.qap.instance import cost as cost_of_permutation
from drivers.peers.peer import PeerAnswer, PeerPackage, PeerSubject

FEWEST = 2
"""Facilities: both methods exchange pairs."""

MethodAndMatrices = tuple[str, np.ndarray, np.ndarray]


def cost(problem: object, permutation: Sequence[int]) -> int:
    return cost_of_permutation(_instance(problem), np.array(permutation, np.int64))


def refusal(problem: object) -> str | None:
    n = _instance(problem).n
    return f"{n} facilities, expected at least {FEWEST}" if n < FEWEST else None


def _instance(problem: Any) -> QapInstance:
    return getattr(problem, "instance", problem)


LINE = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
ASSIGNMENTS = PeerSubject(cost, QapInstance("minimal", LINE, LINE))


def method_and_matrices(problem: object, method: str) -> MethodAndMatrices:
    instance = _instance(problem)
    return method, instance.flows.astype(np.int64), instance.distances.astype(np.int64)


def with_scipy(asked: MethodAndMatrices, seconds: float, seed: int) -> PeerAnswer:
    """One run of a method without time limit.

    ``faq`` is the fast approximate method (Vogelstein et al. 2015) from the barycentre, ``2opt`` exchanges pairs from a
    random permutation to a local optimum.
    """
    method, flows, distances = asked
    package = importlib.import_module("scipy.optimize")
    result = package.quadratic_assignment(flows, distances, method=method, options={"rng": np.random.default_rng(seed)})
    return PeerAnswer(result.col_ind.tolist(), False)


def scipy_method(method: str) -> PeerPackage:
    form = partial(method_and_matrices, method=method)
    return PeerPackage(f"scipy {method}", ASSIGNMENTS, "scipy>=1.14,<2", form, with_scipy, refuses=refusal)


SCIPY_FAQ, SCIPY_2OPT = scipy_method("faq"), scipy_method("2opt")
