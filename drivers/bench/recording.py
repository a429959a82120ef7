"""Records of a benchmark: what the drivers record of a repetition, written as soon as it is over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from drivers.bench.cases import BenchmarkCandidate, CandidateResult, RecordSubject
    from reports.records.meters import Meter

C_PROGRAM_DEVICE = {"backend": "C", "device": "0", "device_kind": "core"}
"""What a record says of a reference program, which has no backend."""


class BenchmarkTimes(NamedTuple):
    """Seconds of one repetition, as `reports.records.schema.Repetition` has them."""

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

    @property
    def running_s(self) -> float:
        """From end to end, without compilation."""
        return self.total_s - self.compile_s


class BenchmarkRecorder:
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
            from reports.records.environment import environment
            from reports.records.files import load

            if os.path.exists(path):
                load(path)
            self.environment = environment()

    def add(
        self,
        candidate: BenchmarkCandidate,
        backend: Any,
        subject: RecordSubject | None,
        finding: CandidateResult,
        measured: Mapping[str, Any],
        verified: bool,
    ) -> None:
        """Append one repetition, unless its candidate keeps no records; with its times and meter readings."""
        if self.path is None or subject is None or finding.result is None:
            return
        from reports.records.files import Record, Repetition, append

        result = dict(finding.result)
        details = result.pop("details")
        record = Record.checked(
            workload=subject.workload,
            instance=subject.instance.name,
            instance_sha256=subject.instance.sha256,
            parameters=subject.parameters,
            execution=subject.execution,
            evaluation_unit=subject.evaluation_unit,
            hash_scope=subject.hash_scope,
            **self.machine(candidate, backend),
            ranks=1,
            repetitions=(Repetition(**measured),),
            environment=self.environment,
            verified=verified,
            details={**details, **self.described(backend), "recorded_by": "drivers.bench"},
            **result,
        )
        append(self.path, record)
        self.runs[record.identity] = None

    def meter(self, candidate: BenchmarkCandidate, backend: Any) -> Meter | None:
        """What reads load, clocks and joules around a repetition of a candidate; nothing without a file of records."""
        if self.path is None:
            return None
        from reports.records.meters import Meter

        if backend is None or candidate.place is None:
            return Meter(C_PROGRAM_DEVICE["device_kind"], 0)
        device = candidate.place.device
        index = int(device) if device.isdigit() else device
        return Meter(backend.device.kind, index, device_name=backend.device.name)

    def machine(self, candidate: BenchmarkCandidate, backend: Any) -> dict[str, Any]:
        """Backend, device and the device's kind."""
        if backend is None or candidate.place is None:
            return C_PROGRAM_DEVICE
        return {"backend": backend.name, "device": candidate.place.device, "device_kind": backend.device.kind}

    def described(self, backend: Any) -> dict[str, Any]:
        """Details of the device; a reference program's is the processor."""
        if backend is None:
            return {
                "device_name": self.environment["cpu_model"],
                "device_driver": "",
                "simulated": False,
                "reference": False,
            }
        device = backend.device
        return {
            "device_name": device.name,
            "device_driver": device.driver,
            "simulated": device.driver == "simulated",
            "reference": backend.is_reference,
        }

    def fold(self) -> None:
        """Make one line of all lines of each run since the last call."""
        from reports.records.files import merge_lines

        for run in self.runs:
            merge_lines(str(self.path), run)
        self.runs.clear()
