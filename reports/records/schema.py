"""Schema version 2 of a run record: the fields of a measured run; `reports.records.check` checks them.

Lines of version 1 are read too: `reports.records.version_1` says what they mean in version 2. What version 2 learned
later may be absent, which means that it was not recorded; nothing shows it as 0.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from reports.records import version_1
from reports.records.check import (
    HASH_COVERS,
    MOST_NESTED,
    OPTIONAL_SAMPLE,
    SCHEMA,
    RecordError,
    check_record,
    is_integer,
    short_text,
)
from reports.records.defaults import complete_settings

__all__ = ["HASH_COVERS", "READ", "SCHEMA", "Record", "RecordError", "Sample", "identity"]

READ = (version_1.SCHEMA, SCHEMA)
"""Versions that `Record.from_line` reads; it writes the last."""

_OPTIONAL = ("details", "unit", "schema", "origin")


@dataclass(frozen=True)
class Sample:
    """One repetition: its times, in seconds of wall-clock time, and what else was measured; None: not recorded.

    Over several ranks, which compile first and then start to run together: `compile_s` is the longest compilation of
    any rank, `transfer_s` and `kernel_s` are those of the rank that ran longest (so that they are parts of its time),
    and `total_s` is the longest compilation and that rank's time without compilation, one after the other.

    Attributes
    ----------
    compile_s, transfer_s, kernel_s, total_s : float
    started : str, optional
        When the repetition began: date and time in UTC to the second, `2026-11-22T10:27:52Z`.
    conditions : dict, optional
        What the machine was like, as far as it can be read (see `reports.records.meters`): `load_1min` (load average of
        the last minute, at the beginning), `governor`, `cpu_mhz_mean`, `cpu_mhz_min`, `gpu_mhz`, `gpu_mhz_max`,
        `gpu_celsius`, `throttled` (whether something slowed the GPU's clock down) and `throttled_by` (what did).
        `resumed` (how often it went on from a state that was kept) and `lost_ranks` (those that were killed on the way,
        by their numbers when the job began) say that its time is not that of one process and all ranks. Where it went
        on, `transfer_s`, `kernel_s` and `communication_share` are those of the time since then, and no joules and bytes
        are recorded.
    energy_j : dict, optional
        Joules over the repetition by what they were read from, "gpu (NVML)" for instance.
    rank_seconds : list of float, optional
        Every rank's own time without compilation, by rank.
    bytes_moved : dict, optional
        Bytes copied between host and device (`host_device`) and sent between ranks (`ranks`), over all ranks; what
        was not counted is left out.
    communication_share : float, optional
        Part of its time, 0 to 1, that a rank spent in communication: the mean over ranks.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best cost] in this order of time: evaluations of all ranks and seconds
        since the start without compilation, and the best cost that was known then.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float
    started: str | None = None
    conditions: Mapping[str, Any] | None = None
    energy_j: Mapping[str, float] | None = None
    rank_seconds: list[float] | None = None
    bytes_moved: Mapping[str, int] | None = None
    communication_share: float | None = None
    history: list[list[Any]] | None = None

    @property
    def running_s(self) -> float:
        """End-to-end time without compilation, which only the first repetition of a fresh cache pays."""
        return self.total_s - self.compile_s


@dataclass(frozen=True)
class Record:
    """One run: what was asked, on what, how long every repetition took, and what came out.

    Attributes
    ----------
    workload : str
        Name of the driver, `ihc` for instance.
    instance, instance_sha256 : str
        Name, and the SHA-256 (64 hexadecimal digits) of the parsed content.
    parameters : dict
        Everything that decides the work (climbers, start ...): records are compared only when their parameters are
        equal.
    ways : dict
        Everything that was asked and decides only the speed (scan, evaluation, tiling ...). Runs that differ in it
        are runs of their own, and are compared when their hashes are equal. Those that came later than a record are
        filled in (`reports.records.defaults`).
    seed : int
    backend, device : str
        As given to `--backend` and `--device`; of a processor that was used in part the part, "4 of 16 cores".
    device_kind : str
        What the device is, whichever backend runs it: `core`, `cores` or `gpu`. A baseline is a `core`.
    ranks : int
        MPI ranks; 1 without MPI.
    samples : tuple of Sample
        One per repetition.
    best_cost : int or float
    best_index : int
        Which climber, ant or restart found it.
    evaluations : int
        What `unit` names, counted over ONE repetition; `details["evaluations_per_step"]` says how. Another way may need
        fewer for the same work (a pruned scan does), so only runs of equal ways must agree on it.
    trajectory_hash : str
        Hexadecimal digest of what `hash_covers` names.
    hash_covers : str
        What equal hashes prove to be equal: `moves` (the index and the cost of every move of every walk), `climbs`
        (number, length and steps of every climb), `tours` (the length of every ant's tour in every iteration), or
        `answer` (what was found, and not the way to it).
    environment : dict
        See `reports.records.environment.environment`. Another `host` is another run; lines from before it was recorded
        have none.
    scored : bool
        True only when the plain NumPy scorer confirmed `best_cost`; otherwise the run enters no ratio.
    details : dict
        What a report may show but which neither identifies the run nor decides the work. The reports read
        `cities`, `optimum`, `instance_source` and `evaluations_per_step` (texts that complete "Instance: ..."
        and "Counted: ..."), `device_name`, `cores_used` (by each rank, where `--cores` said so), `rank_cores` (the
        numbers of every rank's cores, "0-3", where `--pin-cores` kept it to them), `simulated` and `oracle` (true or
        false; the latter: of plain Python, so slow that it is no baseline), `schema_read` (1 where a line of that
        version was read); of dynamic programming also `cells`, `method`, `streamed_bytes` and `profile` (as
        `drivers.runs.kernel_profile` makes it).
    unit : str
        What `evaluations` counts, in the plural: moves, neighbours, selections, nodes, cells, transitions. Where it is
        left out, and in lines from before it was recorded, it is what the workload always counted.
    origin : str
        Where the record was read, for messages; not written.
    """

    workload: str
    instance: str
    instance_sha256: str
    parameters: Mapping[str, Any]
    ways: Mapping[str, Any]
    seed: int
    backend: str
    device: str
    device_kind: str
    ranks: int
    samples: tuple[Sample, ...]
    best_cost: int | float
    best_index: int
    evaluations: int
    trajectory_hash: str
    hash_covers: str
    environment: Mapping[str, Any]
    scored: bool
    details: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    schema: int = SCHEMA
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Name the unit if nobody did, and the ways that nobody named; check every field.

        Raises
        ------
        RecordError
            Names the key, what was found and what was expected.
        """
        if self.unit == "" and isinstance(self.workload, str):
            object.__setattr__(self, "unit", version_1.UNITS.get(self.workload, version_1.OTHER_UNIT))
        check_record(self)
        object.__setattr__(self, "ways", complete_settings(self.workload, self.ways))

    @property
    def host_cores(self) -> int | None:
        """How many cores of a host the run could use, all ranks there together; None: not recorded."""
        present: int | None = self.environment.get("cores")
        own: int | None = self.details.get("cores_used")
        if own is None:
            return present
        together = own * -(-self.ranks // (self.environment.get("hosts") or 1))
        return min(together, present or together)

    @property
    def cores_per_rank(self) -> int | None:
        """How many cores each rank could use; None for a GPU, and where it was not recorded."""
        if self.device_kind == "cores":
            return self.details.get("cores_used") or self.environment.get("cores")
        return 1 if self.device_kind == "core" else None

    @property
    def communication_share(self) -> float | None:
        """Median over repetitions of the ranks' mean share of time in communication; None for one rank, or unknown."""
        shares = [one.communication_share for one in self.samples if one.communication_share is not None]
        return statistics.median(shares) if shares and self.ranks > 1 else None

    @property
    def label(self) -> str:
        """Backend, device and ranks, and where the record was read: how messages name a record."""
        ranks = f", {self.ranks} ranks" if self.ranks > 1 else ""
        return f"{self.backend} (device {self.device}{ranks})" + (f" at {self.origin}" if self.origin else "")

    @property
    def hashed(self) -> str:
        """The hash, and what it is made of, in words."""
        return f"{self.trajectory_hash} of {HASH_COVERS[self.hash_covers]}"

    @property
    def proven(self) -> str:
        """What equal hashes prove, in words: equal answers may have been found in unequal work."""
        return "equal answers" if self.hash_covers == "answer" else "equal work"

    @property
    def identity(self) -> str:
        """What makes two lines repetitions of one run (see `identity`)."""
        return identity(
            workload=self.workload,
            instance_sha256=self.instance_sha256,
            parameters=self.parameters,
            ways=self.ways,
            seed=self.seed,
            backend=self.backend,
            device=self.device,
            ranks=self.ranks,
            environment=self.environment,
        )

    def to_line(self) -> str:
        """Return the record as one line of JSON, newline included; `schema` comes first."""
        content = asdict(self)
        del content["origin"]
        content["samples"] = [
            {name: value for name, value in sample.items() if value is not None} for sample in content["samples"]
        ]
        return json.dumps({"schema": content.pop("schema"), **content}, allow_nan=False) + "\n"

    @classmethod
    def from_line(cls, line: str, origin: str = "") -> Record:
        """Read back what `to_line` wrote, or a line of version 1; keys that the version does not know are ignored.

        Raises
        ------
        RecordError
            No JSON object, an unknown schema version, a missing key or a wrong value.
        """
        content = _json_object(line, origin)
        required = [name for name in cls.__dataclass_fields__ if name not in _OPTIONAL]
        missing = [name for name in required if name not in content]
        if missing:
            raise RecordError(f"{origin}: expected the key {missing[0]!r}, found only {sorted(content)}")
        try:
            samples = tuple(_sample(sample) for sample in _require_list(content["samples"]))
            return cls(
                **{name: content[name] for name in required if name != "samples"},
                samples=samples,
                details=content.get("details", {}),
                unit=content.get("unit", ""),
                origin=origin,
            )
        except RecordError as error:
            raise RecordError(f"{origin}: {error}") from None

    def with_samples(self, samples: tuple[Sample, ...], scored: bool) -> Record:
        """Return the same run with other repetitions."""
        return replace(self, samples=samples, scored=scored)


def identity(
    *,
    workload: str,
    instance_sha256: str,
    parameters: Mapping[str, Any],
    ways: Mapping[str, Any],
    seed: int,
    backend: str,
    device: str,
    ranks: int,
    environment: Mapping[str, Any],
) -> str:
    """Return a text that two lines share exactly when they are repetitions of one run.

    Ways and environment are part of it: times of another way to work, another machine or another version of the suite
    are another run's.
    """
    every = complete_settings(workload, ways)
    return json.dumps(
        [workload, instance_sha256, parameters, every, seed, backend, device, ranks, environment], sort_keys=True
    )


def _json_object(line: str, origin: str) -> dict[str, Any]:
    """The JSON object of a line, in the keys and values of the version that is written now."""
    try:
        content = json.loads(line)
    except RecursionError:
        raise RecordError(f"{origin}: expected at most {MOST_NESTED} nested levels, found {line[:40]!r}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or "schema" not in content:
        raise RecordError(f"{origin}: expected a run record (a JSON object with a 'schema' key), found {line[:40]!r}")
    if not is_integer(content["schema"]) or content["schema"] not in READ:
        expected = " or ".join(map(str, READ))
        raise RecordError(
            f"{origin}: found schema version {short_text(content['schema'])}, expected version {expected}"
        )
    return version_1.upgraded(content) if content["schema"] == version_1.SCHEMA else content


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"samples: expected a list of repetitions, found {short_text(value)}")
    return value


def _sample(value: Any) -> Sample:
    names = [name for name in Sample.__dataclass_fields__ if name not in OPTIONAL_SAMPLE]
    if not isinstance(value, dict) or not set(names) <= set(value):
        raise RecordError(f"samples: expected the keys {', '.join(names)} in each, found {short_text(value)}")
    found: dict[str, Any] = {name: value.get(name) for name in (*names, *OPTIONAL_SAMPLE)}
    return Sample(**found)
