"""Schema version 4 of a run record: the fields of a measured run, with types in `reports.records.check`.

An optional value that is absent was not recorded. No report shows it as 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs, to_builtins

from core.errors import escape_unprintable
from reports.records import check
from reports.records.check import HASH_SCOPES, SCHEMA, RecordError

__all__ = ["HASH_SCOPES", "SCHEMA", "Record", "RecordError", "Repetition", "identity"]


IDENTIFYING = (
    *("workload", "instance_sha256", "parameters", "execution", "seed"),
    *("backend", "device", "ranks", "environment"),
)
"""Fields that are equal in all repetitions of one run."""


class Repetition(Struct, frozen=True, omit_defaults=True):
    """One repetition: its times, in seconds of wall-clock time, and other measurements; None: not recorded.

    Over several ranks, which compile first and then start to run together: `compile_s` is the longest compilation of
    any rank, `transfer_s` and `kernel_s` are those of the rank that ran longest (so that they are parts of its time),
    and `total_s` is the longest compilation and that rank's time without compilation, one after the other.

    Attributes
    ----------
    started_at
        Start of the repetition: date and time in UTC to the second, `2026-11-22T10:27:52Z`.
    conditions
        State of the machine, as far as it can be read (see `reports.records.meters`): `load_1min` (load average of the
        last minute, at the start), `others_cores` (mean number of cores that other programs kept busy), `cpu_governor`,
        `cpu_mhz_mean`, `cpu_mhz_min`, `gpu_mhz` (right after) and `cpu_mhz_before`, `gpu_mhz_before`, `gpu_mhz_max`,
        `gpu_temperature_c`, `throttled` (true if the GPU's clock was slowed down) and `throttled_by` (the reasons).
        `resume_count` (restarts from a checkpoint) and `lost_ranks` (ranks killed during the repetition, by their
        numbers at the start of the job) mark times that do not belong to one process and all ranks. After a restart,
        `transfer_s`, `kernel_s` and `communication_share` cover the time since then, and no joules and bytes are
        recorded.
    energy_j
        Joules over the repetition by source: `gpu_nvml` and `package_rapl`. Of a trial or rate: since the end of the
        one before, so that the sum over consecutive repetitions counts, where one is too short.
    rank_s
        Each rank's own time without compilation, by rank.
    bytes_moved
        Bytes copied between host and device (`host_device`) and sent between ranks (`between_ranks`), over all ranks;
        a number that was not counted is left out.
    communication_share
        Part of its time, 0 to 1, that a rank spent in communication: the mean over ranks.
    history
        Rows [iteration, evaluations, seconds, best cost] in this order of time: evaluations of all ranks and seconds
        since the start without compilation, and the best cost that was known then.
    kind
        `fixed`: a repetition of the parameters' amount (`--repeats`). Of a measured rate: `proof`, the first call on
        that amount, which has the record's hash; `trial`, warm, on an amount that was too short; `rate`, warm.
    turn
        Number of the rate's measurement, from 0: the baseline of a comparison is measured before and after the others.
    work
        Number of units in it, in the record's `work_unit`.
    start_s
        Of a proof: seconds from the start of the process to the first call, without compilation.
    evaluations
        Of a trial or rate, whose amount is another than the record's.
    energy_update_s
        Seconds between two updates of the counter of each source in `energy_j`.
    """

    compile_s: check.Seconds
    transfer_s: check.Seconds
    kernel_s: check.Seconds
    total_s: check.Seconds
    started_at: check.Moment | None = None
    conditions: check.Plain | None = None
    energy_j: check.Joules | None = None
    rank_s: check.RankSeconds | None = None
    bytes_moved: check.BytesMoved | None = None
    communication_share: check.Share | None = None
    history: check.History | None = None
    kind: check.RepetitionKind = "fixed"
    turn: check.Count = 0
    work: check.AtLeastOne = 1
    start_s: check.Seconds | None = None
    evaluations: check.Count | None = None
    energy_update_s: check.SecondsBySource | None = None

    @property
    def running_s(self) -> float:
        """End-to-end time without compilation, which only the first repetition of a fresh cache pays."""
        return self.total_s - self.compile_s


class Record(Struct, frozen=True, kw_only=True, eq=False):
    """One run: instance, parameters, device, the times of all repetitions, and the result.

    Attributes
    ----------
    workload
        Name of the driver, `ihc` for instance.
    instance, instance_sha256
        Name, and the SHA-256 (64 hexadecimal digits) of the parsed content.
    parameters
        Everything that decides the work (climbers, start ...): records are compared only when their parameters are
        equal.
    execution
        Execution settings: everything that was asked and affects only the speed (scan, evaluation, mapping ...), and
        the compiler of CUDA devices. Runs with different settings are different runs. They are compared if their hashes
        are equal.
    backend, device
        Values of `--backend` and `--device`; for a part of a processor the part, "4 of 16 cores".
    device_kind
        Kind of device, independent of the backend: `core`, `cores` or `gpu`. A baseline is a `core`.
    ranks
        MPI ranks; 1 without MPI.
    best_index
        Number of the climber, ant or walk that found it.
    evaluations
        Number of evaluations in ONE repetition, in the unit `evaluation_unit`; `details["evaluation_definition"]`
        defines one. Other execution settings may need fewer for the same work (a pruned scan does), so only runs of
        equal settings must agree on it.
    work_unit
        Unit of the repetitions' `work`, plural: climbs, iterations, tours, cells, runs.
    evaluation_unit
        Plural noun: moves, neighbours, selections, nodes, cells, transitions.
    hash
        Hexadecimal digest of the data in `hash_scope`.
    hash_scope
        Data proved equal by equal hashes: `moves` (the index and the cost of every move of every walk), `climbs`
        (number, length and steps of every climb), `tours` (the length of every ant's tour in every iteration), or
        `result` (the best solution, and not the way to it).
    environment
        See `reports.records.environment.environment`. Another `host` is another run.
    verified
        True only if the plain NumPy scorer confirmed `best_cost`; otherwise the run enters no ratio.
    details
        Values that a report may show but which neither identify the run nor affect the work. The reports read `cities`,
        `optimum`, `maximises` (true if the largest cost is best), `instance_source` (a text), `device_name`,
        `cores_per_rank` (set by `--cores`), `rank_cores` (the numbers of each rank's cores, "0-3", set by
        `--pin-cores`), `simulated` and `reference` (true or false; the latter: the reference interpreter, too slow for
        a baseline), `verified_by` (names of verifiers), `options` (options of the command line that are not defaults),
        `reference_solvers` (see `drivers.peers.peer.PeerMeasurement`), `programs` (digests of the kernels that ran, see
        `reports.records.programs`), `profile` (see `drivers.runs.kernel_profile`); of dynamic programming also `cells`,
        `method` and `streamed_bytes`.
    origin
        Place of the record, for messages; not written.
    """

    schema: Annotated[Literal[4], Meta(description="the number 4")] = 4
    workload: check.Name
    instance: check.Name
    instance_sha256: check.Digest
    parameters: check.Plain
    execution: check.Plain
    seed: check.Integer
    backend: check.Name
    device: check.Text
    device_kind: check.DeviceKind
    ranks: check.AtLeastOne
    repetitions: Annotated[tuple[Repetition, ...], Meta(description="a list of repetitions")]
    best_cost: check.Number
    best_index: check.Count
    evaluations: check.Count
    evaluation_unit: check.Name
    hash: check.Hash
    hash_scope: check.HashScope
    environment: check.Plain
    verified: check.YesOrNo
    details: check.Plain = {}
    work_unit: check.Name = "runs"
    origin: str = ""

    @classmethod
    def checked(cls, **values: object) -> Record:
        """Return a record of these values. Raises `RecordError` with key, value and expected value."""
        values["repetitions"] = to_builtins(values["repetitions"])
        return check.convert(check.printable(values), cls)

    def __post_init__(self) -> None:
        values = structs.asdict(self)
        check.check_plain({name: value for name, value in values.items() if name != "repetitions"}, Record)
        check.convert(self.environment, check.EnvironmentValues, "environment.")
        check.convert(self.details, check.DetailValues, "details.")
        for position, repetition in enumerate(self.repetitions):
            _check_repetition(repetition, self.ranks, f"repetitions[{position}]")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._content() == other._content()

    def with_repetitions(self, repetitions: tuple[Repetition, ...], verified: bool) -> Record:
        return structs.replace(self, repetitions=repetitions, verified=verified)

    @property
    def maximises(self) -> bool:
        """True if the largest cost is best."""
        return self.details.get("maximises", False)

    def turns(self) -> list[list[Repetition]]:
        """Return the repetitions of each measurement of the rate, in order; empty without one."""
        by_turn: dict[int, list[Repetition]] = {}
        for repetition in self.repetitions:
            if repetition.kind == "rate":
                by_turn.setdefault(repetition.turn, []).append(repetition)
        return [by_turn[turn] for turn in sorted(by_turn)]

    @property
    def host_count(self) -> int:
        """Number of machines of the ranks; 1 if not recorded."""
        return self.environment.get("host_count") or 1

    @property
    def host_cores(self) -> int | None:
        """Number of cores of a host for all its ranks together; None: not recorded."""
        present: int | None = self.environment.get("cores")
        own: int | None = self.details.get("cores_per_rank")
        if own is None:
            return present
        together = own * -(-self.ranks // self.host_count)
        return min(together, present or together)

    @property
    def cores_per_rank(self) -> int | None:
        """Number of cores for each rank; None for a GPU, and if not recorded."""
        if self.device_kind == "cores":
            return self.details.get("cores_per_rank") or self.environment.get("cores")
        return 1 if self.device_kind == "core" else None

    @property
    def work_name(self) -> str:
        return f"{self.workload} on {self.instance}"

    @property
    def label(self) -> str:
        """Backend, device and ranks, and the record's place, for messages."""
        ranks = f", {self.ranks} ranks" if self.ranks > 1 else ""
        return f"{self.backend} (device {self.device}{ranks})" + (f" at {self.origin}" if self.origin else "")

    @property
    def hashed(self) -> str:
        return f"{self.hash} of {HASH_SCOPES[self.hash_scope]}"

    @property
    def identity(self) -> str:
        return identity(structs.asdict(self))

    def to_line(self) -> str:
        return json.dumps(self._content(), allow_nan=False) + "\n"

    def _content(self) -> dict[str, Any]:
        return {name: value for name, value in to_builtins(self).items() if name != "origin"}

    @classmethod
    def from_line(cls, line: str, origin: str = "") -> Record:
        """Read a line of `to_line`, without keys unknown to the schema.

        Raises `RecordError` for a line that is no JSON object, another schema version, a missing key or a wrong value.
        """
        origin = escape_unprintable(origin)
        try:
            return check.convert(_json_object(line) | {"origin": origin}, cls)
        except RecordError as error:
            raise RecordError(f"{origin}: {error}") from None


def parameters_text(values: Mapping[str, Any]) -> str:
    """Return parameters of a run as text in reports."""
    return ", ".join(f"{name} = {value}" for name, value in sorted(values.items()))


def identity(run: Mapping[str, Any]) -> str:
    """Return a text that only repetitions of one run share.

    It includes execution settings and environment: other settings, another machine or another commit make another run.
    """
    return json.dumps([run[name] for name in IDENTIFYING], sort_keys=True)


def _json_object(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except RecursionError:
        raise RecordError(f"expected at most {check.MOST_NESTED} nested levels, found {line[:40]!r}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or "schema" not in content:
        raise RecordError(f"expected a run record (a JSON object with a 'schema' key), found {line[:40]!r}")
    if type(content["schema"]) is not int or content["schema"] != SCHEMA:
        raise RecordError(f"found schema version {check.short_text(content['schema'])}, expected {SCHEMA}")
    return content


def _check_repetition(repetition: Repetition, ranks: int, where: str) -> None:
    """Check rules between the values of a repetition, beyond their types."""
    check.check_plain(structs.asdict(repetition), Repetition, f"{where}.")
    check.convert(repetition.conditions or {}, check.ConditionValues, f"{where}.conditions.")
    if repetition.compile_s > repetition.total_s:
        raise RecordError(
            f"{where}: expected total_s to include compile_s, found {repetition.total_s!r} "
            f"below compile_s {repetition.compile_s!r}"
        )
    if repetition.rank_s is not None and len(repetition.rank_s) != ranks:
        raise RecordError(f"{where}.rank_s: expected the time of each of {ranks} ranks, found {len(repetition.rank_s)}")
    try:
        datetime.fromisoformat(repetition.started_at or "2026-11-22T10:27:52Z")
    except ValueError:
        shown = check.short_text(repetition.started_at)
        raise RecordError(f"{where}.started_at: expected {check.MOMENT}, found {shown}") from None
    before: list[float] = [0, 0, 0]
    for position, row in enumerate(repetition.history or ()):
        falls = any(now < earlier for now, earlier in zip(row[:3], before, strict=True))
        if falls or isinstance(row[0], float) or isinstance(row[1], float):
            raise RecordError(
                f"{where}.history[{position}]: expected {check.HISTORY_ROW}, found {check.short_text(str(row))}"
            )
        before = row[:3]
