"""Times, shares of communication and meter readings of one repetition: of a rank, and of all ranks together."""

from __future__ import annotations

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


def combine_rank_times(times_of_ranks: Sequence[RepetitionTimes]) -> RepetitionTimes:
    """Combine the times of all ranks, which compile, synchronise, and then run together.

    The slowest rank has the longest run without compilation: the longest total and the longest compilation may belong
    to different ranks.
    """
    slowest = max(times_of_ranks, key=lambda times: times.running_s)
    compile_s = max(times.compile_s for times in times_of_ranks)
    return slowest._replace(compile_s=compile_s, total_s=compile_s + slowest.running_s)


class RepetitionMeasurement(NamedTuple):
    """Times and conditions of one repetition.

    Attributes
    ----------
    rank_s
        Running time of every rank.
    communication_share
        Mean over ranks of the fraction of time in communication, including waiting.
    read
        Readings of meters and counters: `started_at`, `conditions`, `energy_j` and `bytes_moved` of
        `reports.records.schema.Repetition`.
    """

    times: RepetitionTimes
    rank_s: list[float]
    communication_share: float
    read: Mapping[str, Any]

    @classmethod
    def of(cls, measurements: Sequence[tuple[RepetitionTimes, float, Mapping[str, Any]]]) -> RepetitionMeasurement:
        times = [one for one, _, _ in measurements]
        return cls(
            combine_rank_times(times),
            [time.running_s for time in times],
            sum(share for _, share, _ in measurements) / len(measurements),
            combine_readings([read for _, _, read in measurements]),
        )


def combine_readings(readings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first rank's date and conditions; the sums of all ranks' joules and bytes, by place of measurement."""
    return {
        **readings[0],
        **{name: sum_by_name(read.get(name) for read in readings) for name in ("energy_j", "bytes_moved")},
    }


def sum_by_name(readings: Iterable[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    """Return the sum of each name's numbers, or None without any."""
    sums: dict[str, Any] = {}
    for reading in readings:
        for name, value in (reading or {}).items():
            sums[name] = sums.get(name, 0) + value
    return sums or None
