"""History of a search from samples of its best cost between launches."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError


class ProgressSample(NamedTuple):
    """Progress of a rank: seconds since the search began, evaluations, and steps."""

    seconds: float
    evaluations: int
    steps: int


class ProgressSamples:
    """A rank's samples of its progress between launches, and the improvements that they show.

    Of several improvements in one launch the host sees the last.

    Parameters
    ----------
    began : float
        When the search began, by `time.perf_counter`.
    cost
        Of the solution that it begins with; None: with none.
    earlier : ndarray, shape (rows, 4), float64, optional
        The history up to the checkpoint from which the run resumes.
    done
        Evaluations and steps of all ranks up to there.

    """

    def __init__(
        self,
        began: float,
        cost: int | None = None,
        earlier: np.ndarray | None = None,
        done: tuple[int, int] = (0, 0),
    ) -> None:
        self.began = began
        self.earlier = np.zeros((0, 4)) if earlier is None else earlier
        self.done = done
        seconds = time.perf_counter() - began
        self.samples = [ProgressSample(seconds, 0, 0)]
        self.found: list[tuple[float, int]] = [] if cost is None else [(seconds, cost)]

    def see(self, cost: int, evaluations: int, steps: int = 0) -> None:
        """Add a sample of what this rank has done, and the cost if it is an improvement."""
        seconds = time.perf_counter() - self.began
        self.samples.append(ProgressSample(seconds, evaluations, steps))
        if not self.found or cost < self.found[-1][1]:
            self.found.append((seconds, cost))

    def history(self, communicator: Any, *, numbered: bool) -> list[list[Any]]:
        """Rows [steps, evaluations, seconds, cost] of all ranks, on every rank.

        Steps and evaluations are those of all ranks; those of ranks without a sample at that time are
        interpolated linearly by time between their samples.

        Parameters
        ----------
        communicator
            All ranks call this together.
        numbered
            Rows begin with their own number, from 0, in place of steps.

        """
        every = communicator.gather((self.found, self.samples))
        rows: list[list[Any]] = [[int(a), int(b), seconds, int(cost)] for a, b, seconds, cost in self.earlier.tolist()]
        for seconds, cost in sorted(one for found, _ in every or [] for one in found):
            if not rows or cost < rows[-1][3]:
                evaluations, steps = (
                    before + round(sum(interpolate_sample(seconds, samples, k) for _, samples in every or []))
                    for k, before in zip((1, 2), self.done, strict=True)
                )
                rows.append([len(rows) if numbered else steps, evaluations, seconds, cost])
        shared: list[list[Any]] = communicator.bcast(rows)
        return shared

    def rows(self, communicator: Any, *, numbered: bool) -> np.ndarray:
        """Return the history as an array of four columns, as a checkpoint has it."""
        return np.array(self.history(communicator, numbered=numbered), np.float64).reshape(-1, 4)


def interpolate_sample(seconds: float, samples: list[ProgressSample], column: int) -> float:
    """Return a count of a rank at a time, from its samples."""
    columns = np.array(samples, np.float64).T
    return float(np.interp(seconds, columns[0], columns[column]))


def refuse_history(history: bool, search: str) -> None:
    """Refuse the history of a search that knows its answer at its end alone.

    Raises
    ------
    UserError
        A history is asked for.

    """
    if history:
        raise UserError(f"{search} has no history: nothing is known of its answer before the end")
