"""Records of a benchmark: what the drivers record of a repetition, written as soon as it is over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drivers.bench.contests import Contestant, Finding, Subject
    from reports.meters import Meter

ALONE = {"backend": "C", "device": "0", "device_kind": "core"}
"""What a record says of a yardstick, which has no backend."""


class Times(NamedTuple):
    """Seconds of one repetition, as `reports.records.Sample` has them."""

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        """From end to end, without compilation."""
        return self.total_s - self.compile_s


class Recorder:
    """Appends repetitions to a file of records, or does nothing where there is none.

    A line is on the disk when `add` returns, so a benchmark that is killed loses the repetition that it was in.

    Raises
    ------
    RecordError
        The file is there and holds something else than records.

    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.runs: dict[str, None] = {}
        self.environment: dict[str, Any] = {}
        if path is not None:
            from reports.environment import environment
            from reports.records import load

            if os.path.exists(path):
                load(path)
            self.environment = environment()

    def add(
        self,
        contestant: Contestant,
        backend: Any,
        subject: Subject | None,
        finding: Finding,
        sample: Mapping[str, Any],
        scored: bool,
    ) -> None:
        """Append one repetition, unless its contestant keeps no records; a sample's times and what a meter read."""
        if self.path is None or subject is None or finding.result is None:
            return
        from reports.records import Record, Sample, append

        result = dict(finding.result)
        details = result.pop("details")
        record = Record(
            workload=subject.workload,
            instance=subject.instance.name,
            instance_sha256=subject.instance.sha256,
            parameters=subject.parameters,
            ways=subject.ways,
            hash_covers=subject.hash_covers,
            **self.machine(contestant, backend),
            ranks=1,
            samples=(Sample(**sample),),
            environment=self.environment,
            scored=scored,
            details={**details, **self.described(backend), "measured_by": "drivers.bench"},
            **result,
        )
        append(self.path, record)
        self.runs[record.identity] = None

    def meter(self, contestant: Contestant, backend: Any) -> Meter | None:
        """What reads load, clocks and joules around a repetition of a contestant; nothing without a file of records."""
        if self.path is None:
            return None
        from reports.meters import Meter

        if backend is None or contestant.place is None:
            return Meter(ALONE["device_kind"], 0)
        device = contestant.place.device
        index = int(device) if device.isdigit() else device
        return Meter(backend.device.kind, index, device_name=backend.device.name)

    def machine(self, contestant: Contestant, backend: Any) -> dict[str, Any]:
        """Backend, device and the device's kind."""
        if backend is None or contestant.place is None:
            return ALONE
        return {"backend": backend.name, "device": contestant.place.device, "device_kind": backend.device.kind}

    def described(self, backend: Any) -> dict[str, Any]:
        """Details of the device; a yardstick's is the processor."""
        if backend is None:
            return {"device_name": self.environment["cpu"], "driver": "", "simulated": False, "oracle": False}
        device = backend.device
        return {
            "device_name": device.name,
            "driver": device.driver,
            "simulated": device.driver == "simulated",
            "oracle": backend.oracle,
        }

    def fold(self) -> None:
        """Make one line of all lines of each run since the last call."""
        from reports.records import fold

        for run in self.runs:
            fold(str(self.path), run)
        self.runs.clear()
