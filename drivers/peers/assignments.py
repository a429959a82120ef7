"""Solvers of the quadratic assignment problem: the two methods of SciPy."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.qap.instance import QapInstance
from core.qap.instance import cost as cost_of_permutation
from drivers.peers.peer import PeerAnswer, PeerPackage, PeerSubject

FEWEST = 2
"""Facilities: both methods exchange pairs."""

Matrices = tuple[np.ndarray, np.ndarray]


def cost(problem: Any, permutation: Sequence[int]) -> int:
    return cost_of_permutation(_instance(problem), np.array(permutation, np.int64))


def refusal(problem: Any) -> str | None:
    n = _instance(problem).n
    return f"{n} facilities, expected at least {FEWEST}" if n < FEWEST else None


def _instance(problem: Any) -> Any:
    return getattr(problem, "instance", problem)


LINE = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
ASSIGNMENTS = PeerSubject(cost=cost, minimal=QapInstance("minimal", LINE, LINE))


def matrices(problem: Any) -> Matrices:
    instance = _instance(problem)
    return instance.flows.astype(np.int64), instance.distances.astype(np.int64)


def with_faq(flows_distances: Matrices, seconds: float, seed: int) -> PeerAnswer:
    """The fast approximate method (Vogelstein et al. 2015), one run from the barycentre, without time limit."""
    return _scipy("faq", flows_distances, seed)


def with_two_opt(flows_distances: Matrices, seconds: float, seed: int) -> PeerAnswer:
    """Exchanges of two from a random permutation to a local optimum, without time limit."""
    return _scipy("2opt", flows_distances, seed)


def _scipy(method: str, flows_distances: Matrices, seed: int) -> PeerAnswer:
    package = importlib.import_module("scipy.optimize")
    result = package.quadratic_assignment(*flows_distances, method=method, options={"rng": np.random.default_rng(seed)})
    return PeerAnswer(result.col_ind.tolist(), False)


SCIPY_FAQ, SCIPY_2OPT = (
    PeerPackage(
        name=f"scipy {method}",
        subject=ASSIGNMENTS,
        refuses=refusal,
        requirement="scipy>=1.14,<2",
        form=matrices,
        solve=solve,
    )
    for method, solve in (("faq", with_faq), ("2opt", with_two_opt))
)
