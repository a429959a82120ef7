"""Runs of papers that need a GPU, on a machine without one: their number and estimated duration."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import backends
from drivers.experiments.case import Case
from drivers.experiments.estimate import START_S, estimate_seconds, format_estimate
from drivers.experiments.presets.paper_plan import ReproductionChoice, plan_reproduction
from drivers.experiments.presets.series import GPU, MachineResources
from reports.papers.paper import Paper
from reports.records.files import Record
from reports.records.sources import is_stale

MULTIPROCESSORS = 132
"""Multiprocessors of the assumed GPU, an H100."""


def with_absent_gpu(machine: MachineResources, surveyed: Sequence[Any]) -> MachineResources | None:
    """Return this machine's resources with a GPU added; None if it has one, or the user named the backends."""
    named = (one for one in surveyed if not one.usable and backends.backend_class(one.backend).automatic_for == GPU)
    absent = next(named, None)
    if absent is None or machine.chosen or any(one.kind == GPU for one in machine.devices):
        return None
    gpu = absent._replace(usable=True, kind=GPU, device="0", name="a GPU", compute_units=MULTIPROCESSORS)
    return replace(machine, devices=(*machine.devices, gpu))


def describe_gpu_runs(
    paper: Paper, there: MachineResources, chosen: ReproductionChoice, records: Sequence[Record]
) -> Iterator[str]:
    """Yield a line on a paper's runs on a GPU without current records; nothing if all have them."""
    plan = plan_reproduction(paper, paper.exhibits, there, chosen)
    on_gpu = [one for one in records if one.device_kind == GPU]
    runs = {key: case.records_among(on_gpu, {}) for key, case in plan.needed.items() if case.configuration.kind == GPU}
    left = [
        key
        for key, known in runs.items()
        if not plan.needed[key].is_complete([one for one in known if not is_stale(one)])
    ]
    if left:
        parts = [part.exhibit.name for part in plan.parts if not part.needs.keys().isdisjoint(left)]
        stale = sum(bool(runs[key]) for key in left)
        seconds = sum(gpu_seconds(plan.needed[key], runs[key]) for key in left)
        yield (
            f"{paper.name}, {', '.join(dict.fromkeys(parts))}: {len(left)} runs need a GPU ({stale} have stale or too "
            f"few records), about {format_estimate(seconds)} on one"
        )


def gpu_seconds(case: Case, known: Sequence[Record]) -> float:
    """Return the estimated duration of a case on a GPU: as recorded, else from its work, else of a start."""
    repetitions = case.repeats * len(case.seeds)
    if known:
        return START_S + repetitions * statistics.mean(second for one in known for second in one.running_seconds)
    if case.work is None:
        return START_S
    return START_S + estimate_seconds(case.work, case.configuration, repetitions)
