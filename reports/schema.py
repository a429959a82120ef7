"""Schema version 1 of a run record: what a measured run must say about itself, and the check that it does."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.errors import UserError

SCHEMA = 1


class RecordError(UserError):
    """A record, or a file of records, that is not what schema version 1 says."""


@dataclass(frozen=True)
class Sample:
    """The times of one repetition, in seconds of wall-clock time.

    Over several ranks each is the slowest rank's. `total_s` is end to end and includes the other three.
    """

    compile_s: float
    transfer_s: float
    kernel_s: float
    total_s: float

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
        Everything that decides the work (climbers, start ...) and nothing that only decides its speed (team
        size, batch): records are compared only when their parameters are equal.
    seed : int
    backend, device : str
        As given to `--backend` and `--device`.
    ranks : int
        MPI ranks; 1 without MPI.
    samples : tuple of Sample
        One per repetition.
    best_cost : int or float
    best_index : int
        Which climber, ant or restart found it.
    evaluations : int
        Moves evaluated in ONE repetition; `details["evaluations_per_step"]` says how they are counted.
    trajectory_hash : str
        Hexadecimal digest of the search's whole course; equal hashes prove equal work.
    environment : dict
        See `reports.environment.environment`.
    scored : bool
        True only when the plain NumPy scorer confirmed `best_cost`; otherwise the run enters no ratio.
    details : dict
        What a report may show but which neither identifies the run nor decides the work. The reports read
        `cities`, `optimum`, `instance_source` and `evaluations_per_step` (texts that complete "Instance: ..."
        and "Counted: ..."), `device_name`, `device_type` ("gpu" or "cpu") and `simulated` (true or false); of
        dynamic programming also `cells`, `method`, `streamed_bytes` and `profile` (as `drivers.profile` makes it).
    origin : str
        Where the record was read, for messages; not written.
    """

    workload: str
    instance: str
    instance_sha256: str
    parameters: Mapping[str, Any]
    seed: int
    backend: str
    device: str
    ranks: int
    samples: tuple[Sample, ...]
    best_cost: int | float
    best_index: int
    evaluations: int
    trajectory_hash: str
    environment: Mapping[str, Any]
    scored: bool
    details: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Check every field.

        Raises
        ------
        RecordError
            Names the key, what was found and what was expected.
        """
        _check(self)

    @property
    def label(self) -> str:
        """Backend, device and ranks, and where the record was read: how messages name a record."""
        ranks = f", {self.ranks} ranks" if self.ranks > 1 else ""
        return f"{self.backend} (device {self.device}{ranks})" + (f" at {self.origin}" if self.origin else "")

    @property
    def identity(self) -> str:
        """What makes two lines repetitions of one run (see `identity`)."""
        return identity(
            workload=self.workload,
            instance_sha256=self.instance_sha256,
            parameters=self.parameters,
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
        return json.dumps({"schema": content.pop("schema"), **content}, allow_nan=False) + "\n"

    @classmethod
    def from_line(cls, line: str, origin: str = "") -> Record:
        """Read back what `to_line` wrote; keys that this version does not know are ignored.

        Raises
        ------
        RecordError
            No JSON object, another schema version, a missing key or a wrong value.
        """
        content = _json_object(line, origin)
        required = [name for name in cls.__dataclass_fields__ if name not in ("details", "schema", "origin")]
        missing = [name for name in required if name not in content]
        if missing:
            raise RecordError(f"{origin}: expected the key {missing[0]!r}, found only {sorted(content)}")
        try:
            samples = tuple(_sample(sample) for sample in _require_list(content["samples"]))
            return cls(
                **{name: content[name] for name in required if name != "samples"},
                samples=samples,
                details=content.get("details", {}),
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
    seed: int,
    backend: str,
    device: str,
    ranks: int,
    environment: Mapping[str, Any],
) -> str:
    """Return a text that two lines share exactly when they are repetitions of one run.

    The environment is part of it: times of another machine or another version of the suite are another run's.
    """
    return json.dumps(
        [workload, instance_sha256, parameters, seed, backend, device, ranks, environment], sort_keys=True
    )


def _json_object(line: str, origin: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        content = None
    if not isinstance(content, dict) or "schema" not in content:
        raise RecordError(f"{origin}: expected a run record (a JSON object with a 'schema' key), found {line[:40]!r}")
    if content["schema"] != SCHEMA:
        raise RecordError(f"{origin}: found schema version {content['schema']!r}, expected version {SCHEMA}")
    return content


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"samples: expected a list of repetitions, found {value!r}")
    return value


def _sample(value: Any) -> Sample:
    names = list(Sample.__dataclass_fields__)
    if not isinstance(value, dict) or not set(names) <= set(value):
        raise RecordError(f"samples: expected the keys {', '.join(names)} in each, found {value!r}")
    return Sample(**{name: value[name] for name in names})


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_plain_object(value: Any) -> bool:
    """Whether a value is a dictionary that JSON carries there and back unchanged."""
    try:
        return isinstance(value, dict) and json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError):
        return False


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "schema": (f"the number {SCHEMA}", lambda value: _is_integer(value) and value == SCHEMA),
    "workload": ("a name", _is_name),
    "instance": ("a name", _is_name),
    "instance_sha256": (
        "64 hexadecimal digits",
        lambda v: isinstance(v, str) and bool(re.fullmatch("[0-9a-f]{64}", v)),
    ),
    "parameters": ("an object of plain JSON values", _is_plain_object),
    "seed": ("an integer", _is_integer),
    "backend": ("a name", _is_name),
    "device": ("a text", lambda value: isinstance(value, str)),
    "ranks": ("an integer of at least 1", lambda value: _is_integer(value) and value >= 1),
    "best_cost": ("a finite number", _is_number),
    "best_index": ("an integer of at least 0", lambda value: _is_integer(value) and value >= 0),
    "evaluations": ("an integer of at least 0", lambda value: _is_integer(value) and value >= 0),
    "trajectory_hash": (
        "4 to 128 hexadecimal digits",
        lambda v: isinstance(v, str) and bool(re.fullmatch("[0-9a-f]{4,128}", v)),
    ),
    "environment": ("an object of plain JSON values", _is_plain_object),
    "scored": ("true or false", lambda value: isinstance(value, bool)),
    "details": ("an object of plain JSON values", _is_plain_object),
}


def _check(record: Record) -> None:
    for name, (expected, holds) in _RULES.items():
        value = getattr(record, name)
        if not holds(value):
            raise RecordError(f"{name}: expected {expected}, found {value!r}")
    for position, sample in enumerate(record.samples):
        for name in Sample.__dataclass_fields__:
            value = getattr(sample, name)
            if not _is_time(value):
                raise RecordError(f"samples[{position}].{name}: expected seconds of at least 0, found {value!r}")
        if sample.compile_s > sample.total_s:
            raise RecordError(
                f"samples[{position}]: expected total_s to include compile_s, found {sample.total_s!r} "
                f"below compile_s {sample.compile_s!r}"
            )
