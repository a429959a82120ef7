"""Device memory of the walks of one rank."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from core.errors import UserError
from core.lang.bundles import bundle, placed, row_sizes
from core.lang.named_arrays import size_of
from core.local_search.algorithms import Rule
from core.local_search.kernels.hooks import NO_KEY
from core.local_search.kernels.walks import RecordingWalk, Walk, WalkLimits, WalkSettings, WalkStatus, WalkTotals
from core.local_search.plan import MOST_LEVELS, Plan
from core.local_search.problem import Problem
from core.run.devices import ComputeDevice, DeviceArray

MOST_PLACES = 1 << 12
MOST_NOTES = 1 << 20
"""Most records of improvements of a walk, and of all walks of a rank, in device memory."""


class WalkMemory:
    """Device memory of the walks ``first`` to ``end - 1`` of a plan, allocated once.

    ``lanes`` is the largest number of lanes that evaluate neighbours side by side.

    Attributes
    ----------
    walkers
        Rows of `Walk`, or of `RecordingWalk` with a history: one for each walk.
    data
        Rows of the problem's data: one for each walk.
    shared
        The `WalkSettings` of the run.
    adopted
        A solution that all walks may adopt.
    keys, finished
        The smallest key of a scan, and the number of teams that have finished theirs.
    remembered : dict of str to int
        Rows of the problem's data in a checkpoint, and their numbers of elements.
    """

    def __init__(self, backend: ComputeDevice, plan: Plan, first: int, end: int, lanes: int) -> None:
        self.backend = backend
        self.first, self.end = first, end
        encoding = plan.problem.encoding
        data = plan.problem.with_room(plan.evaluation.data, lanes)
        row_lengths = row_sizes(data)
        self.remembered = remembered_sizes(plan.problem, row_lengths)
        sizes = {"elements": encoding.n, "words of memory": plan.memory_words, "words of status": size_of(WalkStatus)}
        for what, size in {**sizes, **{f"elements of {n}": k for n, k in row_lengths.items()}}.items():
            if self.count * size >= 2**31:
                raise UserError(f"{self.count} walks of {size} {what} each: expected less than 2^31 in all")
        walk = Walk(room=plan.memory_words, length=encoding.n, choices=encoding.choices)
        if plan.history:
            places = max(1, min(MOST_PLACES, MOST_NOTES // max(1, self.count)))
            walk = RecordingWalk(room=walk.room, length=walk.length, choices=walk.choices, places=places)
        self.walkers = backend.rows(walk, self.count, S=encoding.dtype)
        self.data = backend.rows(placed(data, plan.settings.data_memory), self.count)
        limits = np.zeros(size_of(WalkLimits), np.int32)
        neighbours = np.array(([*plan.sizes, 0, 0])[:MOST_LEVELS], np.uint32)
        settings = WalkSettings
        numbers: list[Any] = [limits, neighbours, plan.algorithm.cooling_table()]
        if isinstance(plan.algorithm, Rule) and plan.algorithm.parameters is not None:
            parameters: Any = type(plan.algorithm.parameters)
            settings = settings_with(parameters)
            numbers.append(plan.algorithm.parameters)
        self.shared = backend.load(settings(*numbers))
        self.number_walks(first)
        self.adopted = backend.allocate(encoding.n, encoding.dtype)
        self.keys = backend.upload(np.full(1, NO_KEY, np.uint64))
        self.finished = backend.upload(np.zeros(1, np.uint64))

    @property
    def count(self) -> int:
        """Number of this rank's walks."""
        return self.end - self.first

    def number_walks(self, first: int) -> None:
        """Number this rank's walks from ``first`` on."""
        self.first, self.end = first, first + self.count
        self.write(self.walkers.number, np.arange(self.first, self.end, dtype=np.uint64))

    def rows(self, buffer: DeviceArray, size: int) -> np.ndarray:
        """Return this rank's rows of a buffer, shape (walks, ``size``); a rank may have no walk."""
        return self.backend.download(buffer)[: self.count * size].reshape(self.count, size)

    def field(self, name: str) -> np.ndarray:
        """Return one field of this rank's walks, shape (walks, elements)."""
        return np.array(self.rows(getattr(self.walkers, name), row_sizes(self.walkers.bundle)[name]))

    def status(self) -> np.ndarray:
        """Return the status of this rank's walks, shape (walks, columns of `WalkStatus`)."""
        return self.rows(self.walkers.status, size_of(WalkStatus))

    def totals(self) -> np.ndarray:
        """Return the totals of this rank's walks, shape (walks, columns of `WalkTotals`)."""
        return self.rows(self.walkers.totals, size_of(WalkTotals))

    def write(self, buffer: DeviceArray, rows: np.ndarray) -> None:
        if self.count:
            self.backend.write(buffer, rows)


@lru_cache(maxsize=64)
def settings_with(parameters: type) -> type[WalkSettings]:
    """Return the bundle of `WalkSettings` with the parameters of a rule."""
    fields = {"__annotations__": {"parameters": parameters}, "__doc__": "Settings of walks by a rule."}
    return bundle(type("RuleSettings", (WalkSettings,), fields))


def remembered_sizes(problem: Problem, sizes: dict[str, int]) -> dict[str, int]:
    """Return the rows of the problem's data in a checkpoint, and their numbers of elements.

    Raises `UserError` if `Problem.remembered` names something else.
    """
    for name in problem.remembered:
        if name not in sizes:
            rows = ", ".join(sizes) or "no row"
            raise UserError(f"{problem.name}: `remembered` names {name!r}, expected rows of the data: {rows}")
    return {name: sizes[name] for name in problem.remembered}
