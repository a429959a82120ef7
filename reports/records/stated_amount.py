"""Times of a measured rate for the amount that was asked: for pages that compare seconds."""

from __future__ import annotations

from msgspec import structs

from reports.records.schema import Record, Repetition

PARTS = ("transfer_s", "kernel_s", "total_s")


def at_stated_amount(record: Record) -> Record:
    """Return a record with the warm repetitions of its last measurement, scaled to the work of the proof.

    The first one has the compilation of the proof, as if all had run the stated amount. A record without a measured
    rate is unchanged.
    """
    turns = record.turns()
    if not turns:
        return record
    proof = next(one for one in record.repetitions if one.kind == "proof")
    first, *others = (_scaled(one, proof.work / one.work, proof.work) for one in turns[-1])
    first = structs.replace(first, compile_s=proof.compile_s, total_s=first.total_s + proof.compile_s)
    return record.with_repetitions((first, *others), record.verified)


def _scaled(warm: Repetition, factor: float, work: int) -> Repetition:
    energy = warm.energy_j and {source: factor * joules for source, joules in warm.energy_j.items()}
    rank_s = warm.rank_s and [factor * seconds for seconds in warm.rank_s]
    times = {name: factor * getattr(warm, name) for name in PARTS}
    alike = {"kind": "fixed", "turn": 0, "work": work, "evaluations": None, "bytes_moved": None}
    return structs.replace(warm, **alike, **times, energy_j=energy, rank_s=rank_s)
