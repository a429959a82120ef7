"""Times and meter readings of one repetition: of a rank, and of all ranks together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from reports.records.schema import Repetition


class RankTimes(NamedTuple):
    """Measurements of one repetition on one rank.

    Attributes
    ----------
    compile_s, transfer_s, kernel_s, running_s
        Seconds; `running_s` is from end to end, without compilation.
    communication_share
        Part of the time in communication, 0 to 1.
    read
        Readings of meters and counters: `started_at`, `conditions`, `energy_j`, `energy_update_s` and `bytes_moved` of
        `reports.records.schema.Repetition`, and `processor_s` and `gpu` of `reports.records.meters.Meter`.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    running_s: float
    communication_share: float
    read: Mapping[str, Any]


def of_all_ranks(ranks: Sequence[RankTimes]) -> Repetition:
    """Combine the measurements of all ranks, which compile, synchronise, and then run together.

    Date and conditions are the first rank's; joules and bytes are summed by place, joules of a GPU that several ranks
    use once. Processor times of all ranks become the load of others.
    """
    from reports.records.meters import GPU_ENERGY, others_cores
    from reports.records.schema import Repetition

    slowest = max(ranks, key=lambda one: one.running_s)
    compile_s = max(one.compile_s for one in ranks)
    first = ranks[0].read
    others = others_cores([one.read.get("processor_s") for one in ranks])
    conditions = {**(first.get("conditions") or {}), **({} if others is None else {"others_cores": others})}
    joules, counted = [], set[str]()
    for one in ranks:
        gpu, own = one.read.get("gpu"), one.read.get("energy_j") or {}
        joules.append({name: drawn for name, drawn in own.items() if name != GPU_ENERGY or gpu not in counted})
        counted |= {gpu} if gpu else set()
    return Repetition(
        compile_s,
        slowest.transfer_s,
        slowest.kernel_s,
        compile_s + slowest.running_s,
        started_at=first.get("started_at"),
        conditions=conditions or None,
        energy_j=sum_by_name(joules),
        energy_update_s=first.get("energy_update_s"),
        bytes_moved=sum_by_name(one.read.get("bytes_moved") for one in ranks),
        rank_s=[one.running_s for one in ranks],
        communication_share=sum(one.communication_share for one in ranks) / len(ranks),
    )


def sum_by_name(readings: Iterable[Mapping[str, Any] | None]) -> dict[Any, Any] | None:
    """Return the sum of each name's numbers, or None without any."""
    sums: Counter[Any] = Counter()
    for reading in readings:
        sums.update(reading or {})
    return dict(sums) or None
