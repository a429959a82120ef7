"""Times, shares of communication and meter readings of one repetition: of a rank, and of all ranks together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple


class RepetitionTimes(NamedTuple):
    """Seconds of one repetition.

    Over several ranks as in `reports.records.schema.Repetition`: the longest compilation of any rank, the transfers and
    kernels of the slowest rank, and as total that compilation and that rank's time in sequence.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        return self.total_s - self.compile_s


class RepetitionMeasurement(NamedTuple):
    """Times and conditions of one repetition.

    Attributes
    ----------
    rank_s
        Running time of every rank.
    communication_share
        Mean over ranks of the fraction of time in communication, including waiting.
    read
        Readings of meters and counters: `started_at`, `conditions`, `energy_j`, `energy_update_s` and `bytes_moved` of
        `reports.records.schema.Repetition`.
    """

    times: RepetitionTimes
    rank_s: list[float]
    communication_share: float
    read: Mapping[str, Any]

    @classmethod
    def of(cls, measurements: Sequence[tuple[RepetitionTimes, float, Mapping[str, Any]]]) -> RepetitionMeasurement:
        """Combine the measurements of all ranks, which compile, synchronise, and then run together.

        The slowest rank has the longest run without compilation: the longest total and the longest compilation may
        belong to different ranks. Date and conditions are the first rank's; joules and bytes are summed by place.
        `processor_s` of all ranks becomes the load of others.
        """
        from reports.records.meters import others_cores

        times, shares, readings = zip(*measurements, strict=True)
        slowest = max(times, key=lambda one: one.running_s)
        compile_s = max(one.compile_s for one in times)
        sums = {name: sum_by_name(read.get(name) for read in readings) for name in ("energy_j", "bytes_moved")}
        first = {name: value for name, value in readings[0].items() if name != "processor_s"}
        others = others_cores([read.get("processor_s") for read in readings])
        if others is not None:
            first["conditions"] = {**(first.get("conditions") or {}), "others_cores": others}
        return cls(
            slowest._replace(compile_s=compile_s, total_s=compile_s + slowest.running_s),
            [one.running_s for one in times],
            sum(shares) / len(shares),
            {**first, **sums},
        )


def sum_by_name(readings: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """Return the sum of each name's numbers, or None without any."""
    sums: Counter[str] = Counter()
    for reading in readings:
        sums.update(reading or {})
    return dict(sums) or None
