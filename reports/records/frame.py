"""Records as a data frame of pandas, or as comma-separated values: a row per repetition.

`COLUMNS` is the table's documentation too: `python -m reports csv --help` prints it.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from core.errors import UserError
from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY
from reports.records.schema import Record, Repetition

if TYPE_CHECKING:
    import pandas


class Column(NamedTuple):
    """A column: its name, the unit and the meaning of its values, and where they are from (see `_sources`)."""

    name: str
    unit: str
    meaning: str
    source: str = "record"


COLUMNS = (
    Column("repetition", "", "number of the repetition in its run, from 1", "computed"),
    Column("workload", "", "name of the workload"),
    Column("instance", "", "name of the instance"),
    Column("instance_sha256", "", "SHA-256 of the instance's content"),
    Column("parameters", "JSON", "parameters, which decide the work", "computed"),
    Column("execution", "JSON", "execution settings, which affect only the speed", "computed"),
    Column("seed", "", "seed of the random numbers"),
    Column("backend", "", "as given to --backend"),
    Column("device", "", "as given to --device"),
    Column("device_kind", "", "core, cores or gpu"),
    Column("device_name", "", "name of the device by its device driver", "details"),
    Column("ranks", "", "MPI ranks, 1 without MPI"),
    Column("host", "", "name of the (first) host", "environment"),
    Column("host_count", "", "number of hosts", "environment"),
    Column("cores", "", "cores of a host", "environment"),
    Column("cpu_model", "", "processor", "environment"),
    Column("commit", "", "git commit of the project", "environment"),
    Column("started_at", "UTC", "start of the repetition, ISO 8601", "repetition"),
    Column("compile_s", "s", "longest compilation of any rank", "repetition"),
    Column("transfer_s", "s", "copies between host and device", "repetition"),
    Column("kernel_s", "s", "kernels", "repetition"),
    Column("total_s", "s", "from end to end, compilation included", "repetition"),
    Column("running_s", "s", "from end to end without compilation", "computed"),
    Column("rank_least_s", "s", "running time of the fastest rank", "computed"),
    Column("rank_most_s", "s", "running time of the slowest rank", "computed"),
    Column("evaluations", "", "number of evaluations, see evaluation_unit"),
    Column("evaluation_unit", "", "unit of evaluations"),
    Column("evaluations_per_s", "1/s", "evaluations / running_s; empty if none are counted", "computed"),
    Column("best_cost", "", "cost of the best solution"),
    Column("best_index", "", "number of the climber, ant or walk that found it"),
    Column("verified", "", "True if plain NumPy confirmed best_cost"),
    Column("hash", "", "equal hashes prove equal work or results"),
    Column("hash_scope", "", "values that the hash covers"),
    Column("load_1min", "", "load average of the minute before", "conditions"),
    Column("cpu_governor", "", "governor of the processor's clock", "conditions"),
    Column("cpu_mhz_mean", "MHz", "mean clock of the cores, right after", "conditions"),
    Column("cpu_mhz_min", "MHz", "lowest clock of a core, right after", "conditions"),
    Column("gpu_mhz", "MHz", "clock of the GPU, right after", "conditions"),
    Column("gpu_mhz_max", "MHz", "highest clock of the GPU", "conditions"),
    Column("gpu_temperature_c", "deg C", "temperature of the GPU, right after", "conditions"),
    Column("throttled", "", "True if the GPU's clock was slowed down", "conditions"),
    Column("throttled_by", "", "reasons, separated by semicolons", "computed"),
    Column("gpu_j", "J", "energy of the GPU (NVML)", "computed"),
    Column("package_j", "J", "energy of all processor packages (RAPL)", "computed"),
    Column("bytes_host_device", "B", "copied between host and device", "computed"),
    Column("bytes_between_ranks", "B", "sent between ranks", "computed"),
    Column("communication_share", "", "part of the time in communication, 0 to 1", "repetition"),
)
"""Columns of a row; a value that was not recorded is empty."""


def frame(records: Iterable[Record], dtype: Any = None) -> pandas.DataFrame:
    """Return a data frame with a row for each repetition, and the columns `record` and `COLUMNS`.

    Parameters
    ----------
    records : iterable of Record
        Lines as they were read: repetitions of a run may be spread over several. The column `record` has the position
        of the record among them, `repetition` the number of the repetition in its run.
    dtype : optional
        Type of all columns; without one, pandas chooses the type of each. `object` keeps values as they were recorded.

    Raises
    ------
    UserError
        pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise UserError("tables of records need pandas: pip install pandas") from None
    rows = []
    seen: Counter[str] = Counter()
    for position, record in enumerate(records):
        run = record.identity
        for repetition in record.repetitions:
            seen[run] += 1
            sources = _sources(record, repetition, seen[run])
            rows.append([position, *(sources[column.source].get(column.name) for column in COLUMNS)])
    return pandas.DataFrame(rows, columns=["record", *(column.name for column in COLUMNS)], dtype=dtype)


def csv_text(records: Iterable[Record]) -> str:
    """Return the columns as comma-separated values, lines ended by a line feed; None is an empty cell."""
    return str(
        frame(records, object).to_csv(index=False, columns=[column.name for column in COLUMNS], lineterminator="\n")
    )


def documentation() -> str:
    """Return the columns with their units and meanings, for `--help`."""
    lines = [("column", "unit", "meaning"), *((column.name, column.unit, column.meaning) for column in COLUMNS)]
    return textwrap.indent("\n".join(f"{name:<20} {unit:<5} {meaning}" for name, unit, meaning in lines), "  ")


def _sources(record: Record, repetition: Repetition, number: int) -> dict[str, Mapping[str, Any]]:
    """Return where the values of a row are found by the names of their columns."""
    running_s, reasons = repetition.running_s, (repetition.conditions or {}).get("throttled_by")
    joules, moved = repetition.energy_j or {}, repetition.bytes_moved or {}
    computed = {
        "repetition": number,
        "parameters": json.dumps(record.parameters, sort_keys=True),
        "execution": json.dumps(record.execution, sort_keys=True),
        "running_s": running_s,
        "rank_least_s": min(repetition.rank_s) if repetition.rank_s else None,
        "rank_most_s": max(repetition.rank_s) if repetition.rank_s else None,
        # A workload such as exact search may count no evaluations.
        "evaluations_per_s": record.evaluations / running_s if record.evaluations and running_s > 0 else None,
        "throttled_by": None if reasons is None else "; ".join(reasons),
        "gpu_j": joules.get(GPU_ENERGY),
        "package_j": joules.get(PACKAGE_ENERGY),
        "bytes_host_device": moved.get("host_device"),
        "bytes_between_ranks": moved.get("between_ranks"),
    }
    return {
        "record": structs.asdict(record),
        "environment": record.environment,
        "details": record.details,
        "repetition": structs.asdict(repetition),
        "conditions": repetition.conditions or {},
        "computed": computed,
    }
