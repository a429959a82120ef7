"""The problem with its scorer, and the search."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from core.errors import UserError
from core.run.checkpoint import Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.partition import equal_part
from core.run.protocol import Callback, Search
from core.run.stop import Stop
from core.subset.kernels import nearest

MOST_NUMBERS = 30


class SubsetProblem:
    """Random numbers, (n,), int64, and a target, their sum divided by ``divisor``."""

    def __init__(self, name: str, divisor: int, seed: int) -> None:
        if not name.isdecimal() or not 1 <= int(name) <= MOST_NUMBERS:
            raise UserError(f"--instance {name}: expected a count of numbers from 1 to {MOST_NUMBERS}")
        self.name, self.n, self.optimum = name, int(name), None
        self.numbers = np.random.Generator(np.random.Philox(seed)).integers(1, 2**20, self.n)
        self.target = int(self.numbers.sum()) // divisor
        self.sha256 = hashlib.sha256(self.numbers.tobytes()).hexdigest()

    def cost(self, chosen: np.ndarray) -> int:
        return abs(int(self.numbers[chosen].sum()) - self.target)


class NearestSubset(NamedTuple):
    """Result: the least gap, and the first subset that has it, (n,), bool."""

    cost: int
    solution: np.ndarray
    evaluations: int
    history: None = None
    finished: bool = True

    @property
    def hash(self) -> str:
        return hashlib.sha256(f"{self.cost} {self.solution.tolist()}".encode()).hexdigest()[:16]


class SubsetSearch(Search):
    """Enumeration of all subsets; each rank has an equal share."""

    unit = "subsets"

    def __init__(self, backend: ComputeDevice, communicator: Ranks, problem: SubsetProblem) -> None:
        self.backend, self.communicator, self.problem = backend, communicator, problem
        self.numbers = backend.upload(problem.numbers)

    def warm_up(self) -> None:
        with self.backend.warming_up():
            self.least_key(0, 1)

    def least_key(self, first: int, end: int) -> int:
        """Return the least of ``gap * 2^n + subset``."""
        limits, problem = self.backend.capabilities, self.problem
        best, lanes = self.backend.upload(np.full(1, 2**62)), min(128, limits.max_team_size)
        work = (self.numbers, problem.n, problem.target, first, end, best)
        self.backend.launch(nearest, max(1, limits.lanes_resident // lanes), lanes, *work)
        return int(self.backend.download(best)[0])

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> NearestSubset:
        (stop or Stop()).only("an enumeration")
        ranks, n = ranks or self.communicator, self.problem.n
        key, _ = ranks.minloc(self.least_key(*equal_part(2**n, ranks.rank, ranks.size)), ranks.rank)
        return NearestSubset(key >> n, (key >> np.arange(n) & 1).astype(bool), 2**n)
