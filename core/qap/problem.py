"""The quadratic assignment problem for local search (`luong2013`, section 6.1). Read files with `core.qap.qaplib`."""

from __future__ import annotations

import os

import numpy as np

from core.arguments import Matrix, loaded_instance
from core.instances.limits import LARGEST_COST
from core.local_search.encodings import Permutation
from core.local_search.kernels.hooks import Evaluation
from core.local_search.problem import Problem
from core.qap import kernels, qaplib
from core.qap.kernels import Assignment, Differences

PAIR_BLOCK = 1 << 16
"""Pairs of facilities in one lookup of distances."""


class Qap(Problem):
    """Assign n facilities to n locations with the least sum of flow times distance.

    Parameters
    ----------
    instance : array_like, shape (n, n), or str or core.qap.instance.QapInstance
        Flows between facilities: integers, symmetric or not. Or the name, path or specification of an instance (see
        `core.qap.qaplib.load`), or an instance.
    distances : array_like, shape (n, n)
        With flows, distances between locations, integers, symmetric or not.

    Raises
    ------
    InstanceError
        See `core.qap.instance.QapInstance`.
    """

    neighbourhoods = ("exchange2", "exchange3")
    published = "linear"
    tested = True

    def __init__(self, instance: qaplib.QapInstance | str | Matrix, distances: Matrix | None = None) -> None:
        if distances is not None:
            instance = qaplib.QapInstance("matrices", instance, distances)  # type: ignore[arg-type]
        instance = loaded_instance(instance, qaplib.QapInstance, qaplib.load, "two matrices")
        a, b, n = instance.flows, instance.distances, instance.n
        # With symmetric matrices, `added_placed` adds four products more than a difference has.
        room = LARGEST_COST - instance.largest_difference - 4 * int(np.ptp(a)) * int(np.ptp(b))
        symmetric = bool((a == a.T).all() and (b == b.T).all() and room >= 0)
        super().__init__(instance.name, Permutation(n), Assignment(a, b, n, symmetric))
        self.instance = instance
        self.optimum = instance.best_known
        self.set_digest = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None) -> Qap:
        return cls(qaplib.load(spec, data))

    def cost(self, solution: np.ndarray) -> int:
        return qaplib.cost(self.instance, solution)

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        """See `Problem`; a block of solutions fits a core's cache."""
        n = self.encoding.n
        flows, distances = self.instance.flows.reshape(-1), self.instance.distances.reshape(-1)
        costs = np.empty(len(solutions), np.int64)
        block = max(1, PAIR_BLOCK // (n * n))
        for first in range(0, len(solutions), block):
            places = solutions[first : first + block].astype(np.int32)
            pairs = places[:, :, None] * np.int32(n) + places[:, None, :]
            between = distances[pairs.reshape(len(places), -1)]
            costs[first : first + block] = np.einsum("p,wp->w", flows, between, dtype=np.int64)
        return costs

    def cost_range(self) -> tuple[int, int]:
        return self.instance.cost_range

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``incremental`` (O(1) for most neighbours) and ``linear`` (O(n), the paper's)."""
        return {
            "incremental": Evaluation(
                kernels.added,
                quick=kernels.read_kept,
                begin=kernels.place_all,
                update=kernels.note_exchange,
                move=kernels.exchange_placed,
                refresh=kernels.keep_differences,
                quick_for=("exchange2",),
                work=1,
            ),
            "linear": Evaluation(kernels.added, partial=kernels.added_in_parts, work=self.encoding.n),
        }

    def data_for(self, evaluation: str) -> Assignment:
        """Return the matrices; with memory for kept differences, if the evaluation reads them."""
        matrices, n = self.data, self.encoding.n
        assert isinstance(matrices, Assignment)
        if evaluation == "linear":
            return matrices
        return Differences(
            flows=matrices.flows,
            distances=matrices.distances,
            n=n,
            symmetric=matrices.symmetric,
            cells=n * n,
            pairs=n * (n - 1) // 2,
            ends=4 * n,
        )
