"""A workload's records as speeds of one core and of a GPU on any of its instances, for the cluster model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cluster.model.interconnects import Interconnect
from cluster.model.run_time import Speed, Work
from core.errors import UserError
from reports.comparison.calibration import calibrate, name_without_seed, named_work, size_of
from reports.records.files import Record

PAPERS_WORK = ("ppp", "flip2")
"""Workload and neighbourhood of tables 10 and 11 of `luong2013`."""


class ModelledRank(NamedTuple):
    """One rank on one instance: the work of an iteration and the rank's speed."""

    work: Work
    speed: Speed


class WorkloadCalibration:
    """One core, and the GPU if there is one, of a workload's records.

    ``network`` is that of runs of several ranks, or None. Raises `UserError` without a record of one rank on one core.
    """

    def __init__(self, records: Sequence[Record], network: Interconnect | None) -> None:
        core = calibrate(records, "core", network)
        if core is None:
            configurations = ", ".join(sorted({f"{one.backend} with ranks: {one.ranks}" for one in records}))
            name = records[0].workload
            raise UserError(
                f"--records: no run of {name} on one core, only on {configurations}: record one with `--backend cpu`"
            )
        self.core = core
        self.gpu = calibrate(records, "gpu")
        self.first = core.runs[0]
        self.neighbourhood = str(self.first.record.parameters.get("neighbourhood", ""))
        self.works = {name_without_seed(run): run.work for run in core.runs}

    @property
    def is_of_the_paper(self) -> bool:
        return (self.first.record.workload, self.neighbourhood) == PAPERS_WORK

    def work(self, instance: str) -> Work:
        known = self.works.get(instance)
        return known or named_work(instance, self.first.work, self.neighbourhood)

    def rank(self, instance: str) -> ModelledRank:
        work = self.work(instance)
        return ModelledRank(work, self.core.speed(work, self.core_s(instance)))

    def core_s(self, instance: str) -> float:
        return self.core.alone_s(size_of(instance, self.work(instance).units))

    def covers(self, instance: str) -> bool:
        """True for an instance between the smallest and the largest with records of one core."""
        return self.core.covers(size_of(instance, self.work(instance).units))

    def gpu_s(self, instance: str) -> float | None:
        """Seconds of an iteration on the GPU; None without one, or beyond its recorded sizes.

        Small instances do not fill a GPU, so larger ones take little longer, up to an unknown size.
        """
        size = size_of(instance, self.work(instance).units)
        return self.gpu.alone_s(size) if self.gpu and self.gpu.covers(size) else None
