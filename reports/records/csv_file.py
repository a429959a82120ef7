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

from reports.records.files import Record, Sample
from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY


class CsvColumn(NamedTuple):
    """A column: its name, the unit of its values, what they mean, and how they come out of a repetition."""

    name: str
    unit: str
    meaning: str
    value: Callable[[Record, Sample], Any]


def _record_field(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: getattr(record, name)


def _json_field(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: json.dumps(getattr(record, name), sort_keys=True)


def _environment(name: str) -> Callable[[Record, Sample], Any]:
    return lambda record, sample: record.environment.get(name)


def _sample_field(name: str) -> Callable[[Record, Sample], Any]:
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
    CsvColumn("workload", "", "name of the driver", _record_field("workload")),
    CsvColumn("instance", "", "name of the instance", _record_field("instance")),
    CsvColumn("instance_sha256", "", "SHA-256 of the instance's content", _record_field("instance_sha256")),
    CsvColumn("parameters", "JSON", "settings that change the search", _json_field("parameters")),
    CsvColumn("ways", "JSON", "what decides the speed alone", _json_field("ways")),
    CsvColumn("seed", "", "seed of the random numbers", _record_field("seed")),
    CsvColumn("backend", "", "as given to --backend", _record_field("backend")),
    CsvColumn("device", "", "as given to --device", _record_field("device")),
    CsvColumn("device_kind", "", "core, cores or gpu", _record_field("device_kind")),
    CsvColumn("device_name", "", "as the driver calls it", lambda record, sample: record.details.get("device_name")),
    CsvColumn("ranks", "", "MPI ranks, 1 without MPI", _record_field("ranks")),
    CsvColumn("host", "", "name of the (first) host", _environment("host")),
    CsvColumn("hosts", "", "number of hosts", _environment("hosts")),
    CsvColumn("cores", "", "cores of a host", _environment("cores")),
    CsvColumn("cpu", "", "processor", _environment("cpu")),
    CsvColumn("suite", "", "version of the suite, a git commit", _environment("suite")),
    CsvColumn("started", "UTC", "when the repetition began, ISO 8601", _sample_field("started")),
    CsvColumn("compile_s", "s", "longest compilation of any rank", _sample_field("compile_s")),
    CsvColumn("transfer_s", "s", "copies between host and device", _sample_field("transfer_s")),
    CsvColumn("kernel_s", "s", "kernels", _sample_field("kernel_s")),
    CsvColumn("total_s", "s", "from end to end, compilation included", _sample_field("total_s")),
    CsvColumn("running_s", "s", "from end to end without compilation", _sample_field("running_s")),
    CsvColumn("rank_least_s", "s", "running time of the fastest rank", _rank_seconds(min)),
    CsvColumn("rank_most_s", "s", "running time of the slowest rank", _rank_seconds(max)),
    CsvColumn("evaluations", "", "number of evaluations, see unit", _record_field("evaluations")),
    CsvColumn("unit", "", "what evaluations counts", _record_field("unit")),
    CsvColumn("evaluations_per_s", "1/s", "evaluations / running_s; empty if none are counted", _rate),
    CsvColumn("best_cost", "", "cost of the best solution", _record_field("best_cost")),
    CsvColumn("best_index", "", "climber, ant or restart that found it", _record_field("best_index")),
    CsvColumn("scored", "", "True if plain NumPy confirmed best_cost", _record_field("scored")),
    CsvColumn("trajectory_hash", "", "equal hashes prove equal work or answers", _record_field("trajectory_hash")),
    CsvColumn("hash_covers", "", "what the hash is made of", _record_field("hash_covers")),
    CsvColumn("load_1min", "", "load average of the minute before", _condition("load_1min")),
    CsvColumn("governor", "", "governor of the processor's clock", _condition("governor")),
    CsvColumn("cpu_mhz_mean", "MHz", "mean clock of the cores, right after", _condition("cpu_mhz_mean")),
    CsvColumn("cpu_mhz_min", "MHz", "lowest clock of a core, right after", _condition("cpu_mhz_min")),
    CsvColumn("gpu_mhz", "MHz", "clock of the GPU, right after", _condition("gpu_mhz")),
    CsvColumn("gpu_mhz_max", "MHz", "highest clock of the GPU", _condition("gpu_mhz_max")),
    CsvColumn("gpu_celsius", "deg C", "temperature of the GPU, right after", _condition("gpu_celsius")),
    CsvColumn("throttled", "", "True if the GPU's clock was slowed down", _condition("throttled")),
    CsvColumn("throttled_by", "", "reasons, separated by semicolons", _throttled_by),
    CsvColumn("gpu_j", "J", "energy of the GPU (NVML)", _joules(GPU_ENERGY)),
    CsvColumn("package_j", "J", "energy of all processor packages (RAPL)", _joules(PACKAGE_ENERGY)),
    CsvColumn("bytes_host_device", "B", "copied between host and device", _bytes("host_device")),
    CsvColumn("bytes_ranks", "B", "sent between ranks", _bytes("ranks")),
    CsvColumn(
        "communication_share", "", "part of the time in communication, 0 to 1", _sample_field("communication_share")
    ),
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
