"""Page of ranks: each run on one rank and on several, the ratio of times, and waiting times.

The records are those of `python -m drivers.bench --workload ranks`, or of any program that ran the same
work on several numbers of ranks, on devices of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from core.errors import UserError
from reports.comparison.machines import describe_machines
from reports.comparison.speedups import PROBLEM_FIELDS, ratio_obstacles
from reports.pages.markdown import fill, written_into
from reports.pages.provenance import devices, repetitions
from reports.records.files import Record, UnequalWorkError, group_by, merge
from reports.records.stated_amount import at_stated_amount
from reports.statistics.medians import Estimate, ratio_of_medians
from reports.text.formatting import grouped, per_cent, ratio_interval, seconds
from reports.text.tables import TextTable

NAME = "ranks"


class RankGain(NamedTuple):
    """One work by one rank and by several, with the same hash, and the speed-up of all ranks."""

    single: Record
    together: Record
    speedup: Estimate


def rank_gains(records: Iterable[Record]) -> list[RankGain]:
    """Return every work with runs of one rank and of several on the same kind of device, in order.

    Raises `UnequalWorkError` if two runs of one work have different hashes.
    """
    gains = []
    stated = map(at_stated_amount, merge(records))
    for runs in group_by(stated, lambda run: [getattr(run, name) for name in (*PROBLEM_FIELDS, "backend")]):
        for together in runs:
            single = next((run for run in runs if run.ranks == 1 and not ratio_obstacles(run, together)), None)
            if single is None or together.ranks == 1:
                continue
            if single.hash != together.hash:
                raise UnequalWorkError(
                    f"{single.work_name}: hash {together.hash} of {together.ranks} ranks, {single.hash} of one"
                )
            over = ratio_of_medians(single.running_seconds, together.running_seconds)
            gains.append(RankGain(single, together, over))
    return gains


def render(gains: Sequence[RankGain], made_by: str = "") -> str:
    columns: dict[str, Callable[[RankGain], str]] = {
        "workload": lambda one: one.single.workload,
        "instance": lambda one: one.single.instance,
        ">work": lambda one: f"{grouped(one.single.evaluations)} {one.single.evaluation_unit}",
        "backend": lambda one: one.together.backend,
        ">ranks": lambda one: str(one.together.ranks),
        ">one rank": lambda one: seconds(median(one.single.running_seconds)),
        ">all ranks": lambda one: seconds(median(one.together.running_seconds)),
        ">speed-up [95 %]": lambda one: ratio_interval(one.speedup),
        ">in communication": lambda one: per_cent(
            median(rep.communication_share or 0.0 for rep in one.together.repetitions)
        ),
    }
    records = [record for gain in gains for record in (gain.single, gain.together)]
    unconfirmed = [gain.single.workload for gain in gains if not (gain.single.verified and gain.together.verified)]
    return fill(
        "ranks.md.j2",
        made_by=made_by,
        table=TextTable.of("Speed-up of several ranks over one", gains, columns),
        repetitions=repetitions(records),
        unconfirmed=list(dict.fromkeys(unconfirmed)),
        devices=devices(records),
        machines=describe_machines(records),
    )


def write(gains: Sequence[RankGain], out: Path, made_by: str = "") -> list[Path]:
    """Write the report into a folder.

    Raises `UserError` if there is nothing to compare, or the folder cannot be written.
    """
    if not gains:
        raise UserError("no problem has runs of one rank and of several: nothing to compare")
    path = out / f"{NAME}.md"
    with written_into(out):
        path.write_text(render(gains, made_by), encoding="utf-8")
    return [path]
