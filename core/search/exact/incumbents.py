"""The history of an exact search: its incumbents, as the host saw them between launches."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.search.exact.solution import Report


class Incumbents:
    """A `Report` that remembers when the incumbent improved, and passes everything on.

    The host sees the incumbent between launches: of several that one launch found it sees the last.

    Parameters
    ----------
    began : float
        When the search began, by `time.perf_counter`.
    start_length
        Of the tour that it begins with.
    report
        Who else is told.

    """

    def __init__(self, began: float, start_length: int, report: Report | None) -> None:
        self.began = began
        self.report = report
        seconds = time.perf_counter() - began
        self.looks = [(seconds, 0)]
        self.found = [(seconds, start_length)]

    def __call__(self, nodes: int, incumbent: int, bound: int | None) -> None:
        """Remember how many nodes this rank has explored, and the incumbent if it is a better one."""
        seconds = time.perf_counter() - self.began
        self.looks.append((seconds, nodes))
        if incumbent < self.found[-1][1]:
            self.found.append((seconds, incumbent))
        if self.report is not None:
            self.report(nodes, incumbent, bound)

    def history(self, communicator: Any) -> list[list[Any]]:
        """Rows [number of the incumbent, nodes, seconds, length] of all ranks, on every rank.

        The first is the start's. Nodes are those of all ranks; of the ranks that did not look just then they are
        interpolated linearly by time between their looks.
        """
        every = communicator.gather((self.found, self.looks))
        rows: list[list[Any]] = []
        for seconds, length in sorted(one for found, _ in every or [] for one in found):
            if not rows or length < rows[-1][3]:
                nodes = sum(np.interp(seconds, *np.transpose(looks)) for _, looks in every)
                rows.append([len(rows), round(float(nodes)), seconds, length])
        shared: list[list[Any]] = communicator.bcast(rows)
        return shared
