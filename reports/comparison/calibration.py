"""Records of one core as times of a permuted perceptron's neighbourhood, by size, for `cluster.model.run_time`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import comb, exp, log

import numpy as np

from cluster.model.run_time import Speed
from core.errors import UserError
from reports.records.files import Record
from reports.statistics.medians import summarise

SYNCHRONISATION_S = 5e-6
"""Seconds of a core for a synchronisation besides its messages: Python, between two kernels."""
FLIPS = {"flip1": 1, "flip2": 2, "flip3": 3}
ROWS_AND_COLUMNS = re.compile(r"(\d+)-(\d+)")
"""An instance of the permuted perceptron problem: its rows and columns."""


class CalibrationRun:
    """A run of one walk on one core; the record has all repetitions.

    Attributes
    ----------
    neighbours : float
        Evaluations of an iteration.
    iteration_s : Estimate
        Median over the repetitions of an iteration's seconds, with its 95 % interval.
    size : int
        Measure of its time: see `size_of`.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.name = record.instance.partition(":seed=")[0]
        iterations = max(1, record.details.get("iterations") or record.parameters["iterations"])
        self.neighbours = record.evaluations / iterations
        self.iteration_s = summarise([one.running_s / iterations for one in record.repetitions]).median
        self.size = size_of(self.name, self.neighbours)


def size_of(instance: str, neighbours: float) -> float:
    """Return the number of neighbours times that of rows, since an evaluation reads all rows."""
    shape = ROWS_AND_COLUMNS.match(instance)
    return neighbours * int(shape[1]) if shape else neighbours


class Calibration:
    """Measured times of one core, by size; each instance has one record."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.runs = sorted(map(CalibrationRun, records), key=lambda run: run.size)

    @property
    def name(self) -> str:
        record = self.runs[0].record
        return str(record.details.get("device_name") or record.environment.get("cpu_model") or record.backend)

    def neighbours(self, instance: str) -> float:
        """Return the neighbours of an instance: those of its record, or by the size in its name.

        Raises `UserError` if neither is known.
        """
        recorded = next((run.neighbours for run in self.runs if run.name == instance), None)
        if recorded is not None:
            return recorded
        shape = ROWS_AND_COLUMNS.match(instance)
        flips = FLIPS.get(self.runs[0].record.parameters.get("neighbourhood", ""))
        if shape is None or flips is None:
            raise UserError(f"{instance}: found no record of one core and no size in the name, expected one of them")
        return float(comb(int(shape[2]), flips))

    def iteration_s(self, instance: str) -> float:
        """Return the seconds of an iteration: straight lines between recorded sizes, in logarithms of both.

        Beyond these it grows as the size does.
        """
        sizes = [log(run.size) for run in self.runs]
        times = [log(run.iteration_s.value) for run in self.runs]
        at = log(size_of(instance, self.neighbours(instance)))
        beyond = min(0.0, at - sizes[0]) + max(0.0, at - sizes[-1])
        return exp(float(np.interp(at, sizes, times)) + beyond)

    def speed(self, instance: str, iteration_s: float) -> Speed:
        """Return the speed of a rank on an instance from the time of an iteration alone."""
        return Speed(iteration_s / self.neighbours(instance), SYNCHRONISATION_S)
