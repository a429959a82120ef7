"""Runs in IOHprofiler's format, so that IOHanalyzer and iohinspector draw them: best cost over evaluations.

Layout, after https://iohprofiler.github.io: a folder per algorithm; in it a file `IOHprofiler_f1_kroE100.json` per
instance, which lists the runs, and `data_f1_kroE100/IOHprofiler_f1_DIM100.dat` with their rows `evaluations raw_y`, a
heading before each run. A function is an instance of a workload, the dimension is its size, and there is a run per
seed: repetitions of a seed take the same course.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.records.files import Record, group_by, merge
from reports.records.schema import parameters_text

VERSION = "1.0.0"
"""Version of the format. IOHanalyzer compares it, as text, with the least version for data files with two columns."""
HEADING = "evaluations raw_y"
SIZES = ("cities", "size", "items")
"""Details with the size of an instance, in the order of the search."""
START = "start_cost"
"""Detail with the cost of the solution that a search started from."""

CostRows = list[tuple[int, int | float]]


IohRun = tuple[Record, CostRows]
"""A record, and its evaluations with the best cost so far, from the first evaluation on."""


def write(records: Sequence[Record], folder: Path) -> tuple[list[Path], list[str]]:
    """Write the course of every run into a folder, which is made if missing; files of the same names are overwritten.

    Returns the files that describe the runs, and descriptions of the runs with missing data.
    Raises `UserError` if no run has a course, repetitions of a run differ in it, or the folder cannot be written.
    """
    runs: list[IohRun] = []
    notes: list[str] = []
    for record in merge(records):
        rows = cost_rows(record)
        if rows:
            runs.append((record, rows))
        if not any(repetition.history for repetition in record.repetitions):
            rest = "its start and its end are written" if rows else "left out, since its start is not known either"
            where = f"{record.work_name}, seed {record.seed}, {record.label}"
            notes.append(f"{where}: no history was recorded; {rest}")
    if not runs:
        raise UserError(notes[0] if len(notes) == 1 else f"none of {len(notes)} runs has a history or a known start")
    try:
        return list(_write(runs, folder)), notes
    except OSError as error:
        raise UserError(f"{folder}: cannot write IOHprofiler's files: {error.strerror}") from None


def cost_rows(record: Record) -> CostRows:
    """Return evaluations with the best cost so far; empty if neither a history nor the start is known.

    Readers identify the start of a run by its row of evaluation 1. A start solution is the first evaluation, even if
    the search did not count it; without one the first known cost is used.
    """
    history = next((repetition.history for repetition in record.repetitions if repetition.history), None)
    counted = record.evaluations
    if history:
        rows: CostRows = [(max(1, int(evaluations)), cost) for _, evaluations, _, cost in history]
    else:
        start = record.details.get(START)
        if not isinstance(start, int | float) or isinstance(start, bool) or counted <= 1:
            return []
        rows = [(1, start)]
    if rows[0][0] > 1:
        rows.insert(0, (1, rows[0][1]))
    if rows[-1][0] < counted:
        rows.append((counted, record.best_cost))
    # Of several costs at one number of evaluations the last is the best.
    return sorted(dict(rows).items())


def _write(runs: Sequence[IohRun], folder: Path) -> Iterable[Path]:
    functions = list(dict.fromkeys((record.workload, record.instance_sha256) for record, _ in runs))
    names = _algorithm_names([record for record, _ in runs])
    places = _folder_names(names.values())
    for alike in group_by(runs, lambda run: [_kind(run[0]), run[0].instance_sha256]):
        record = alike[0][0]
        name, number = names[_kind(record)], functions.index((record.workload, record.instance_sha256)) + 1
        place, function, size = folder / places[name], f"f{number}_{_file_name(record.instance)}", _size(record)
        data = Path(f"data_{function}") / f"IOHprofiler_f{number}_DIM{size}.dat"
        (place / data).parent.mkdir(parents=True, exist_ok=True)
        lines = [line for _, rows in alike for line in (HEADING, *(f"{count} {cost}" for count, cost in rows))]
        (place / data).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        content = {
            "version": VERSION,
            "suite": "onekernel",
            "function_id": number,
            "function_name": f"{record.workload} {record.instance}",
            "maximization": record.maximises,
            "algorithm": {"name": name, "info": parameters_text(_run_settings(record))},
            "attributes": HEADING.split(),
            "scenarios": [{"dimension": size, "path": data.as_posix(), "runs": [_run(*run) for run in alike]}],
        }
        described = place / f"IOHprofiler_{function}.json"
        described.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        yield described


def _run(record: Record, rows: CostRows) -> dict[str, Any]:
    count, cost = (max if record.maximises else min)(rows, key=lambda row: row[1])
    return {"instance": 1, "seed": record.seed, "evals": rows[-1][0], "best": {"evals": count, "y": cost, "x": []}}


def _run_settings(record: Record) -> dict[str, Any]:
    """Return the settings that distinguish algorithms: all but the instance and the seed."""
    asked = {"backend": record.backend, "device": record.device, "ranks": record.ranks}
    return {**record.parameters, **record.execution, **asked, "host": record.environment.get("host")}


def _kind(record: Record) -> str:
    return json.dumps([record.workload, _run_settings(record)], sort_keys=True)


def _algorithm_names(records: Sequence[Record]) -> Mapping[str, str]:
    """Name each algorithm by its workload and its differences from the others of that workload."""
    kinds = {_kind(record): (record.workload, _run_settings(record)) for record in records}
    names = {}
    for kind, (workload, asked) in kinds.items():
        others = [other for same, other in kinds.values() if same == workload]
        apart = [name for name, value in asked.items() if any(other.get(name) != value for other in others)]
        names[kind] = " ".join([workload, *(f"{name}={asked[name]}" for name in sorted(apart))])
    return names


def _folder_names(names: Iterable[str]) -> Mapping[str, str]:
    """Return a unique folder name for each algorithm."""
    places: dict[str, str] = {}
    for name in names:
        if name not in places:
            plain = _file_name(name)
            places[name] = plain if plain not in places.values() else f"{plain}-{len(places) + 1}"
    return places


def _size(record: Record) -> int:
    sizes = [record.details.get(name) for name in SIZES]
    return next((size for size in sizes if isinstance(size, int) and not isinstance(size, bool) and size > 0), 1)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=+-]+", "_", name)[:100].strip("._") or "unnamed"
