"""Records of runs as the work and the speeds of the cluster model (`cluster.model.run_time`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, hypot, inf, log
from typing import NamedTuple

import numpy as np

from cluster.measure.anomalies import CROWDED
from cluster.model.interconnects import Interconnect
from cluster.model.run_time import Speed, Work, iteration
from core.errors import UserError
from reports.records.files import Record, merge
from reports.statistics.medians import Estimate, summarise

OF_LOCAL_SEARCH = "neighbours"
"""Unit of evaluations in every local search, including user-defined problems."""
SMALLEST_BATCH = 1 / 4096
"""Assumed size of a tree's last batches, which no record has."""
COLUMN, ROW_WORD = 32, 4
"""Columns and bytes a column: a row of an ant's weights has a multiple of these columns."""
PIECES, CARRY_BITS = 64, 8
"""Messages of a strip of a longest common subsequence, and rows with carries of one byte."""
SYNCHRONISATION_S = 5e-6
"""Seconds of a core for a synchronisation besides its messages: Python, between two kernels."""
SIGNIFICANT_DEVIATIONS = 2.0
"""Standard deviations above zero from which a fitted part counts."""
MOST_SERIAL = 0.5
"""Largest serial part of an iteration on a core; larger values have other causes."""
SLOPE_STEP = 1e-3
"""Part of an iteration for the slope of the model."""
NORMAL_95, LEAST_DEVIATION, FEW_DEVIATION = 1.96, 0.01, 0.1
"""Standard deviations of half a 95 % interval; least relative deviation of a median, and that of one or two runs."""
FLIPS = {"flip1": 1, "flip2": 2, "flip3": 3}
ROWS_AND_COLUMNS = re.compile(r"(\d+)-(\d+)")
"""An instance of the permuted perceptron problem: its rows and columns."""


class CalibrationRun:
    """A run with timed iterations; the record has all repetitions.

    Attributes
    ----------
    every_s : list of float
        Seconds of an iteration, of each repetition: the whole run divided by its iterations.
    iteration_s : Estimate
        Their median with its 95 % interval.
    size : float
        Measure of its time: units of work, times the rows of a permuted perceptron, since a unit reads all rows.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.work = work_of(record)
        self.every_s = [repetition.running_s / self.work.iterations for repetition in record.repetitions]
        self.iteration_s = summarise(self.every_s).median
        self.size = size_of(record.instance, self.work.units)

    @property
    def seconds(self) -> float:
        """The median of an iteration."""
        return self.iteration_s.value


def name_without_seed(run: CalibrationRun) -> str:
    return run.record.instance.partition(":seed=")[0]


def size_of(instance: str, units: float) -> float:
    """See `CalibrationRun.size`."""
    shape = ROWS_AND_COLUMNS.match(instance)
    return units * int(shape[1]) if shape else units


def named_work(instance: str, like: Work, neighbourhood: str) -> Work:
    """Work of an iteration on a permuted perceptron without a record, by its name.

    Raises `UserError` if the name has no size, or the neighbourhood's number of neighbours is unknown.
    """
    shape = ROWS_AND_COLUMNS.match(instance)
    if shape is None or neighbourhood not in FLIPS:
        raise UserError(f"--instance {instance}: found no record and no size in the name, expected a recorded instance")
    neighbours, columns = 1, int(shape[2])
    for chosen in range(FLIPS[neighbourhood]):
        neighbours = neighbours * (columns - chosen) // (chosen + 1)
    return like._replace(units=float(neighbours))


# --- records as work ---


def work_of(record: Record) -> Work:
    """Work and partition scheme of a run. Raises `UserError` if its workload has none in the model."""
    if record.evaluation_unit == OF_LOCAL_SEARCH:
        return local_search(record)
    if record.workload not in WORK_BY_WORKLOAD:
        known = f"expected a local search or one of {', '.join(WORK_BY_WORKLOAD)}"
        raise UserError(f"{record_place(record)}: no model of how ranks share {record.workload}: {known}")
    return WORK_BY_WORKLOAD[record.workload](record)


def record_place(record: Record) -> str:
    return record.origin or record.label


def local_search(record: Record) -> Work:
    walks = record.parameters.get("walks", 1)
    total = max(1, record.details.get("iterations") or record.parameters["iterations"] * walks)
    iterations = max(1, total // walks)
    way = "walks" if walks > 1 else "neighbourhood"
    return Work(way, record.evaluations / iterations, iterations, walks)


def climbs(record: Record) -> Work:
    """Climbers, which synchronise at the end."""
    return Work("walks", record.evaluations, shares=record.parameters["climbers"])


def ants(record: Record) -> Work:
    """Deposits on edges (a Max-Min Ant System's on one tour), and rows of weights."""
    cities, iterations = record.details["cities"], record.parameters["iterations"]
    edges = cities if record.parameters.get("variant") == "mmas" else cities * (cities - 1) // 2
    row = -(-cities // COLUMN) * COLUMN * ROW_WORD
    count = record.parameters["ants"] * record.parameters.get("colonies", 1)
    return Work("ants", record.evaluations / iterations, iterations, count, 4 * edges, cities * row)


def tree(record: Record) -> Work:
    return Work("subtrees", record.evaluations, least=record.evaluations * SMALLEST_BATCH)


def subsequence(record: Record) -> Work:
    """Cells of a table of strings, in strips; from both ends for the length alone."""
    rows = record.details["string_lengths"][0]
    waves = 1 if record.parameters.get("trace") else 2
    return Work("strips", record.evaluations, reduced_bytes=-(-rows // CARRY_BITS), pieces=PIECES, waves=waves)


def knapsack(record: Record) -> Work:
    """Cells of two tables; the last row of one is sent."""
    return Work("halves", record.evaluations, reduced_bytes=8 * (record.details["capacity"] + 1))


WORK_BY_WORKLOAD = {"ihc": climbs, "aco": ants, "exact": tree, "lcs": subsequence, "knapsack": knapsack}


# --- speeds ---


def speed_of(kind: str, work: Work, alone_s: float, unshared_s: float) -> Speed:
    """Speed of a rank from the time of an iteration alone.

    ``unshared_s`` are its serial seconds, for any number of ranks. A core also spends them alone, on the move, which
    every rank makes itself. GPUs synchronise by kernels, which one GPU does not launch: these come on top.
    """
    if kind == "gpu":
        return Speed(alone_s / work.units, 0.0, unshared_s)
    serial_s = min(unshared_s, most_serial_s(kind, alone_s))
    return Speed((alone_s - serial_s) / work.units, serial_s, SYNCHRONISATION_S)


def most_serial_s(kind: str, alone_s: float) -> float:
    return inf if kind == "gpu" else MOST_SERIAL * alone_s


@dataclass(frozen=True)
class Calibration:
    """Measured times of one kind of device, by size.

    Attributes
    ----------
    runs : tuple of CalibrationRun
        Of one rank on the device, by size, one of each instance.
    unshared_s : float
        See `speed_of`.
    why : str
        Origin of this value.
    """

    kind: str
    runs: tuple[CalibrationRun, ...]
    unshared_s: float
    why: str

    @property
    def name(self) -> str:
        record = self.runs[0].record
        return str(record.details.get("device_name") or record.environment.get("cpu_model") or record.backend)

    def alone_s(self, size: float) -> float:
        """Seconds of an iteration of one rank: straight lines between recorded sizes, in logarithms of both.

        Beyond these it grows as the size does.
        """
        sizes = [log(run.size) for run in self.runs]
        times = [log(run.seconds) for run in self.runs]
        at = log(size)
        if at <= sizes[0] or len(sizes) == 1:
            return exp(times[0] + at - sizes[0])
        if at >= sizes[-1]:
            return exp(times[-1] + at - sizes[-1])
        return float(exp(np.interp(at, sizes, times)))

    def covers(self, size: float) -> bool:
        """True for a size between those of the records, or equal to one."""
        return self.runs[0].size <= size <= self.runs[-1].size

    def speed(self, work: Work, alone_s: float) -> Speed:
        return speed_of(self.kind, work, alone_s, self.unshared_s)


def runs_on_device_kind(records: Iterable[Record], kind: str) -> list[CalibrationRun]:
    """Confirmed runs of one rank on one kind of device, of the fastest backend, by size."""
    chosen: dict[str, CalibrationRun] = {}
    for record in records:
        if record.ranks > 1 or record.device_kind != kind or record.details.get("reference"):
            continue
        run = CalibrationRun(record)
        known = chosen.get(record.instance_sha256)
        if known is None or run.seconds < known.seconds:
            chosen[record.instance_sha256] = run
    return sorted(chosen.values(), key=lambda run: run.size)


def calibrate(
    records: Sequence[Record], kind: str, network: Interconnect | None = None, leave_out: str = ""
) -> Calibration | None:
    """Calibrate a kind of device by records; None without those of one rank.

    Parameters
    ----------
    network
        Network of the runs of several ranks; None if unknown, which ignores these runs.
    leave_out
        `identity` of a run of several ranks to ignore, since it is predicted.
    """
    runs = tuple(runs_on_device_kind(records, kind))
    if not runs:
        return None
    if network is None:
        return Calibration(kind, runs, 0.0, "assumed zero: no runs on a network measured by `check`")
    own = {run.record.instance_sha256: run for run in runs}
    several = [one for one in merge(records) if one.ranks > 1 and one.device_kind == kind]
    several = [one for one in several if one.instance_sha256 in own and one.identity != leave_out]
    # If ranks share cores, most of the rest is the system's scheduling.
    several = [one for one in several if network.crowding(one.ranks) < CROWDED]
    pairs = [SerialFit.of(own[one.instance_sha256], CalibrationRun(one), network) for one in several]
    if not pairs:
        return Calibration(kind, runs, 0.0, "assumed zero: no runs on several ranks to fit it to")
    unshared, deviation = fit_serial_time(pairs)
    words = f"fitted to {len(pairs)} {'other ' if leave_out else ''}runs on several ranks"
    if unshared < SIGNIFICANT_DEVIATIONS * deviation:
        fitted = f"{unshared * 1e6:.3g} µs with a deviation of {deviation * 1e6:.3g}"
        words = f"not distinguishable from zero: {words} it is {fitted}"
        unshared = 0.0
    quickest = min(runs, key=lambda run: run.seconds)
    if unshared > most_serial_s(kind, quickest.seconds):
        words = (
            f"not a constant: {words} it is {unshared * 1e6:.3g} µs, too large a part of "
            f"{name_without_seed(quickest)} on one rank"
        )
        unshared = 0.0
    return Calibration(kind, runs, unshared, words)


class SerialFit(NamedTuple):
    """Estimate of the serial seconds from a run of several ranks.

    The run takes `rest_s` longer, with a standard deviation, than the model without serial seconds; each of them adds
    `factor` seconds to the model.
    """

    factor: float
    rest_s: float
    deviation_s: float

    @classmethod
    def of(cls, alone: CalibrationRun, several: CalibrationRun, network: Interconnect) -> SerialFit:
        kind, ranks = several.record.device_kind, several.record.ranks

        def modelled_s(unshared_s: float) -> float:
            return iteration(alone.work, speed_of(kind, alone.work, alone.seconds, unshared_s), network, ranks).total_s

        without_s, some_s = modelled_s(0.0), SLOPE_STEP * alone.seconds
        share = without_s / alone.seconds
        deviation = hypot(deviation_s(several.iteration_s), share * deviation_s(alone.iteration_s))
        return cls((modelled_s(some_s) - without_s) / some_s, several.seconds - without_s, deviation)


def fit_serial_time(pairs: Sequence[SerialFit]) -> tuple[float, float]:
    """Return the best serial seconds and their standard deviation; runs are weighted by their precision.

    The deviation is enlarged if runs differ by more than that (Birge, Physical Review 40, 1932).
    """
    factor, rest, deviation = np.array(pairs).T
    (serial_s,), _, _, (singular,) = np.linalg.lstsq((factor / deviation)[:, None], rest / deviation, rcond=None)
    squares = float((((rest - factor * serial_s) / deviation) ** 2).sum())
    return float(serial_s), max(1.0, squares / max(1, len(pairs) - 1)) ** 0.5 / float(singular)


def deviation_s(median: Estimate) -> float:
    """Standard deviation of a median, from its 95 % interval; a tenth of it with too few repetitions."""
    if median.low is None or median.high is None:
        return FEW_DEVIATION * median.value
    return max(LEAST_DEVIATION * median.value, (median.high - median.low) / (2 * NORMAL_95))
