"""Provenance of records as text: machine, dates and repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from reports.comparison.machines import letter_machines
from reports.records.files import Record, merge
from reports.records.programs import is_stale
from reports.text.formatting import cores, counted, listed, span

STALE = "Stale: "
"""Beginning of a line about runs of earlier kernels, in a separate paragraph."""


def devices(records: Sequence[Record]) -> str:
    """Return the processors of the machines, with their numbers of cores, and the used GPUs."""
    processors = [
        f"{environment.get('cpu_model') or 'a processor that is not recorded'}, {cores(environment)}"
        for environment in letter_machines(records).values()
    ]
    gpus = [
        str(record.details.get("device_name") or record.backend) for record in records if record.device_kind == "gpu"
    ]
    # CUDA and OpenCL may name the same GPU differently, one name a part of the other.
    names = [name for name in dict.fromkeys(gpus) if not any(name != longer and name in longer for longer in gpus)]
    return listed([*names, *dict.fromkeys(processors)])


def dates(records: Sequence[Record]) -> str:
    """Return the day, or the first and the last; empty if none is recorded."""
    days = sorted(
        repetition.started_at[:10] for record in records for repetition in record.repetitions if repetition.started_at
    )
    return span(days[0], days[-1]) if days else ""


def runs(records: Sequence[Record]) -> str:
    merged = merge(records)
    repetitions = sum(len(record.repetitions) for record in merged)
    return f"{counted(len(merged), 'run')}, {counted(repetitions, 'repetition')} in all"


def stale_line(records: Sequence[Record], renewed_by: str) -> str:
    """Return a line with the number of runs with older or unrecorded kernels; empty if there is none."""
    merged = merge(records)
    count = sum(map(is_stale, merged))
    if not count:
        return ""
    return (
        f"{STALE}{count:,} of {counted(len(merged), 'run')} (earlier or unrecorded kernels); "
        f"`{renewed_by}` makes new ones."
    )


def repetitions(records: Sequence[Record]) -> str:
    """Return the number of repetitions of each run as text: one number, or the least and the most."""
    counts = sorted({len(record.repetitions) for record in merge(records)})
    spread = span(str(counts[0]), str(counts[-1]))
    return f"{spread} repetition{'' if spread == '1' else 's'}"
