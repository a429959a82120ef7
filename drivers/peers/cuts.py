"""Solvers of max-cut and quadratic forms over bits: tabu search and simulated annealing of dwave-samplers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.problems.more.max_cut.quadratic_forms import QuadraticForm
from drivers.peers.peer import PeerAnswer, PeerPackage, PeerSubject

TABU_MARGIN_S = 1e-3
"""Resolution of its tabu search's clock."""


def cost(problem: Any, bits: Sequence[int]) -> int:
    return int(_form(problem).values(np.array(bits, np.int32)[None])[0])


def refusal(problem: Any) -> str | None:
    return None if hasattr(_form(problem), "coefficients") else "more than 2 parts, expected 2"


def _form(problem: Any) -> Any:
    return getattr(problem, "instance", problem)


CUTS = PeerSubject(cost=cost, minimal=QuadraticForm("minimal", np.array([[-1, 2], [2, -1]])))


def coefficients(problem: Any) -> np.ndarray:
    matrix: np.ndarray = _form(problem).coefficients
    return matrix


def binary_model(form: np.ndarray) -> Any:
    """Return the form as dimod's model; its time counts."""
    dimod = importlib.import_module("dimod")
    first, second = np.nonzero(np.triu(form, 1))
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        form.diagonal().astype(float), (first, second, form[first, second].astype(float)), 0.0, "BINARY"
    )


def _bits(samples: Any, n: int) -> PeerAnswer:
    best = samples.first.sample
    return PeerAnswer([int(best[place]) for place in range(n)], False)


def with_tabu(form: np.ndarray, seconds: float, seed: int) -> PeerAnswer:
    """Multistart tabu search in C++ on one core, for some seconds."""
    package = importlib.import_module("dwave.samplers")
    timeout = max(1, round(1000 * seconds))
    return _bits(package.TabuSampler().sample(binary_model(form), timeout=timeout, num_reads=1, seed=seed), len(form))


def with_annealing(form: np.ndarray, seconds: float, seed: int) -> PeerAnswer:
    """Simulated annealing in C++ on one core, one run of 1,000 sweeps, without time limit."""
    package = importlib.import_module("dwave.samplers")
    return _bits(package.SimulatedAnnealingSampler().sample(binary_model(form), num_reads=1, seed=seed), len(form))


TABU, ANNEALING = (
    PeerPackage(
        name=f"dwave {method}",
        subject=CUTS,
        refuses=refusal,
        requirement="dwave-samplers>=1.4,<2",
        form=coefficients,
        solve=solve,
        timed=timed,
        shortest_s=TABU_MARGIN_S * timed,
    )
    for method, solve, timed in (("tabu", with_tabu, True), ("annealing", with_annealing, False))
)

PEERS = (TABU, ANNEALING)
