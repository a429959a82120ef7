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

from reports.records.files import Record, Repetition
from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY


class CsvColumn(NamedTuple):
    """A column: its name, the unit of its values, what they mean, and how they come out of a repetition."""

    name: str
    unit: str
    meaning: str
    value: Callable[[Record, Repetition], Any]


def _record_field(name: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: getattr(record, name)


def _json_field(name: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: json.dumps(getattr(record, name), sort_keys=True)


def _environment(name: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: record.environment.get(name)


def _repetition_field(name: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: getattr(repetition, name)


def _condition(name: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: (repetition.conditions or {}).get(name)


def _joules(source: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: (repetition.energy_j or {}).get(source)


def _bytes(path: str) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: (repetition.bytes_moved or {}).get(path)


def _rank_s(choice: Callable[[list[float]], float]) -> Callable[[Record, Repetition], Any]:
    return lambda record, repetition: choice(repetition.rank_s) if repetition.rank_s else None


def _rate(record: Record, repetition: Repetition) -> float | None:
    """Evaluations per second; None where a workload counts none, as exact search does."""
    return record.evaluations / repetition.running_s if record.evaluations and repetition.running_s > 0 else None


def _throttled_by(record: Record, repetition: Repetition) -> str | None:
    reasons = (repetition.conditions or {}).get("throttled_by")
    return None if reasons is None else "; ".join(reasons)


COLUMNS = (
    CsvColumn("workload", "", "name of the workload", _record_field("workload")),
    CsvColumn("instance", "", "name of the instance", _record_field("instance")),
    CsvColumn("instance_sha256", "", "SHA-256 of the instance's content", _record_field("instance_sha256")),
    CsvColumn("parameters", "JSON", "parameters, which decide the work", _json_field("parameters")),
    CsvColumn("execution", "JSON", "execution settings, which affect only the speed", _json_field("execution")),
    CsvColumn("seed", "", "seed of the random numbers", _record_field("seed")),
    CsvColumn("backend", "", "as given to --backend", _record_field("backend")),
    CsvColumn("device", "", "as given to --device", _record_field("device")),
    CsvColumn("device_kind", "", "core, cores or gpu", _record_field("device_kind")),
    CsvColumn(
        "device_name",
        "",
        "name of the device by its device driver",
        lambda record, repetition: record.details.get("device_name"),
    ),
    CsvColumn("ranks", "", "MPI ranks, 1 without MPI", _record_field("ranks")),
    CsvColumn("host", "", "name of the (first) host", _environment("host")),
    CsvColumn("host_count", "", "number of hosts", _environment("host_count")),
    CsvColumn("cores", "", "cores of a host", _environment("cores")),
    CsvColumn("cpu_model", "", "processor", _environment("cpu_model")),
    CsvColumn("commit", "", "git commit of the project", _environment("commit")),
    CsvColumn("started_at", "UTC", "start of the repetition, ISO 8601", _repetition_field("started_at")),
    CsvColumn("compile_s", "s", "longest compilation of any rank", _repetition_field("compile_s")),
    CsvColumn("transfer_s", "s", "copies between host and device", _repetition_field("transfer_s")),
    CsvColumn("kernel_s", "s", "kernels", _repetition_field("kernel_s")),
    CsvColumn("total_s", "s", "from end to end, compilation included", _repetition_field("total_s")),
    CsvColumn("running_s", "s", "from end to end without compilation", _repetition_field("running_s")),
    CsvColumn("rank_least_s", "s", "running time of the fastest rank", _rank_s(min)),
    CsvColumn("rank_most_s", "s", "running time of the slowest rank", _rank_s(max)),
    CsvColumn("evaluations", "", "number of evaluations, see evaluation_unit", _record_field("evaluations")),
    CsvColumn("evaluation_unit", "", "unit of evaluations", _record_field("evaluation_unit")),
    CsvColumn("evaluations_per_s", "1/s", "evaluations / running_s; empty if none are counted", _rate),
    CsvColumn("best_cost", "", "cost of the best solution", _record_field("best_cost")),
    CsvColumn("best_index", "", "number of the climber, ant or walk that found it", _record_field("best_index")),
    CsvColumn("verified", "", "True if plain NumPy confirmed best_cost", _record_field("verified")),
    CsvColumn("hash", "", "equal hashes prove equal work or results", _record_field("hash")),
    CsvColumn("hash_scope", "", "values that the hash covers", _record_field("hash_scope")),
    CsvColumn("load_1min", "", "load average of the minute before", _condition("load_1min")),
    CsvColumn("cpu_governor", "", "governor of the processor's clock", _condition("cpu_governor")),
    CsvColumn("cpu_mhz_mean", "MHz", "mean clock of the cores, right after", _condition("cpu_mhz_mean")),
    CsvColumn("cpu_mhz_min", "MHz", "lowest clock of a core, right after", _condition("cpu_mhz_min")),
    CsvColumn("gpu_mhz", "MHz", "clock of the GPU, right after", _condition("gpu_mhz")),
    CsvColumn("gpu_mhz_max", "MHz", "highest clock of the GPU", _condition("gpu_mhz_max")),
    CsvColumn("gpu_temperature_c", "deg C", "temperature of the GPU, right after", _condition("gpu_temperature_c")),
    CsvColumn("throttled", "", "True if the GPU's clock was slowed down", _condition("throttled")),
    CsvColumn("throttled_by", "", "reasons, separated by semicolons", _throttled_by),
    CsvColumn("gpu_j", "J", "energy of the GPU (NVML)", _joules(GPU_ENERGY)),
    CsvColumn("package_j", "J", "energy of all processor packages (RAPL)", _joules(PACKAGE_ENERGY)),
    CsvColumn("bytes_host_device", "B", "copied between host and device", _bytes("host_device")),
    CsvColumn("bytes_between_ranks", "B", "sent between ranks", _bytes("between_ranks")),
    CsvColumn(
        "communication_share", "", "part of the time in communication, 0 to 1", _repetition_field("communication_share")
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
        for repetition in record.repetitions:
            seen[run] += 1
            rows.append([seen[run], *(column.value(record, repetition) for column in COLUMNS)])
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
