"""Records as a table of comma-separated values: a row per repetition, which spreadsheets and pandas read.

`COLUMNS` is the table's documentation too: `python -m reports csv --help` prints it.
"""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from reports.meters import GPU_ENERGY, PACKAGE_ENERGY
from reports.records import Record, Sample


class Column(NamedTuple):
    """A column: its name, the unit of its values, what they mean, and how they come out of a repetition."""

    name: str
    unit: str
    meaning: str
    value: Callable[[Record, Sample], Any]


def _own(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: getattr(record, name)


def _text_of(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: json.dumps(getattr(record, name), sort_keys=True)


def _environment(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: record.environment.get(name)


def _measured(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: getattr(sample, name)


def _condition(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: (sample.conditions or {}).get(name)


def _joules(source: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: (sample.energy_j or {}).get(source)


def _bytes(way: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: (sample.bytes_moved or {}).get(way)


def _rank_seconds(choice: Callable[[list[float]], float]) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: choice(sample.rank_seconds) if sample.rank_seconds else None


def _rate(record: Record, sample: Sample) -> float | None:
    """Evaluations per second; None where a workload counts none, as exact search does."""
    return record.evaluations / sample.running_s if record.evaluations and sample.running_s > 0 else None


def _throttled_by(record: Record, sample: Sample) -> str | None:
    reasons = (sample.conditions or {}).get("throttled_by")
    return None if reasons is None else "; ".join(reasons)


COLUMNS = (
    Column("workload", "", "what ran, a driver's name", _own("workload")),
    Column("instance", "", "name of the instance", _own("instance")),
    Column("instance_sha256", "", "SHA-256 of the instance's content", _own("instance_sha256")),
    Column("parameters", "JSON", "what decides the work", _text_of("parameters")),
    Column("ways", "JSON", "what decides the speed alone", _text_of("ways")),
    Column("seed", "", "seed of the random numbers", _own("seed")),
    Column("backend", "", "as given to --backend", _own("backend")),
    Column("device", "", "as given to --device", _own("device")),
    Column("device_kind", "", "core, cores or gpu", _own("device_kind")),
    Column("device_name", "", "as the driver calls it", lambda record, sample: record.details.get("device_name")),
    Column("ranks", "", "MPI ranks, 1 without MPI", _own("ranks")),
    Column("host", "", "name of the (first) host", _environment("host")),
    Column("hosts", "", "number of hosts", _environment("hosts")),
    Column("cores", "", "cores of a host", _environment("cores")),
    Column("cpu", "", "processor", _environment("cpu")),
    Column("suite", "", "version of the suite, a git commit", _environment("suite")),
    Column("started", "UTC", "when the repetition began, ISO 8601", _measured("started")),
    Column("compile_s", "s", "longest compilation of any rank", _measured("compile_s")),
    Column("transfer_s", "s", "copies between host and device", _measured("transfer_s")),
    Column("kernel_s", "s", "kernels", _measured("kernel_s")),
    Column("total_s", "s", "from end to end, compilation included", _measured("total_s")),
    Column("running_s", "s", "from end to end without compilation", _measured("running_s")),
    Column("rank_least_s", "s", "running time of the fastest rank", _rank_seconds(min)),
    Column("rank_most_s", "s", "running time of the slowest rank", _rank_seconds(max)),
    Column("evaluations", "", "what was counted, see unit", _own("evaluations")),
    Column("unit", "", "what evaluations counts", _own("unit")),
    Column("evaluations_per_s", "1/s", "evaluations / running_s; empty if none are counted", _rate),
    Column("best_cost", "", "cost of the best solution", _own("best_cost")),
    Column("best_index", "", "which climber, ant or restart found it", _own("best_index")),
    Column("scored", "", "True if plain NumPy confirmed best_cost", _own("scored")),
    Column("trajectory_hash", "", "equal hashes prove equal work or answers", _own("trajectory_hash")),
    Column("hash_covers", "", "what the hash is made of", _own("hash_covers")),
    Column("load_1min", "", "load average of the minute before", _condition("load_1min")),
    Column("governor", "", "governor of the processor's clock", _condition("governor")),
    Column("cpu_mhz_mean", "MHz", "mean clock of the cores, right after", _condition("cpu_mhz_mean")),
    Column("cpu_mhz_min", "MHz", "lowest clock of a core, right after", _condition("cpu_mhz_min")),
    Column("gpu_mhz", "MHz", "clock of the GPU, right after", _condition("gpu_mhz")),
    Column("gpu_mhz_max", "MHz", "highest clock of the GPU", _condition("gpu_mhz_max")),
    Column("gpu_celsius", "deg C", "temperature of the GPU, right after", _condition("gpu_celsius")),
    Column("throttled", "", "True if the GPU's clock was slowed down", _condition("throttled")),
    Column("throttled_by", "", "by what, separated by semicolons", _throttled_by),
    Column("gpu_j", "J", "energy of the GPU (NVML)", _joules(GPU_ENERGY)),
    Column("package_j", "J", "energy of all processor packages (RAPL)", _joules(PACKAGE_ENERGY)),
    Column("bytes_host_device", "B", "copied between host and device", _bytes("host_device")),
    Column("bytes_ranks", "B", "sent between ranks", _bytes("ranks")),
    Column("communication_share", "", "part of the time in communication, 0 to 1", _measured("communication_share")),
)
"""Columns of a row but for the first, `repetition`; a value that was not recorded is empty."""

_REPETITION = ("repetition", "", "number of the repetition in its run, from 1")


def rows_of(records: Iterable[Record]) -> list[list[Any]]:
    """Return a row of values per repetition, the heading first; None where nothing was recorded.

    Parameters
    ----------
    records : iterable of Record
        Lines as they were read: repetitions of a run may be spread over several.
    """
    rows: list[list[Any]] = [["repetition", *(column.name for column in COLUMNS)]]
    seen: Counter[str] = Counter()
    for record in records:
        run = record.identity
        for sample in record.samples:
            seen[run] += 1
            rows.append([seen[run], *(column.value(record, sample) for column in COLUMNS)])
    return rows


def text_of(records: Iterable[Record]) -> str:
    """Return the table as text, lines ended by a line feed; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows_of(records))
    return text.getvalue()


def documentation() -> str:
    """Return the columns with their units and meanings, for `--help`."""
    lines = [_REPETITION, *((column.name, column.unit, column.meaning) for column in COLUMNS)]
    table = [f"{name:<20} {unit:<5} {meaning}" for name, unit, meaning in [("column", "unit", "meaning"), *lines]]
    return textwrap.indent("\n".join(table), "  ")
