"""Schema version 2 of a run record: what a measured run must say about itself, and the check that it does.

Lines of version 1 are read too: `reports.version_1` says what they mean in version 2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.errors import UserError
from reports import version_1

SCHEMA = 2
READ = (version_1.SCHEMA, SCHEMA)
"""Versions that `Record.from_line` reads; it writes the last."""

HASH_COVERS = {
    "moves": "all moves",
    "climbs": "all climbs",
    "tours": "all tours",
    "answer": "the answer",
}
"""What a run's hash is made of, and how a line or a report words it ("hash 0123 of all moves")."""

DEVICE_KINDS = ("core", "cores", "gpu")
MOST_DIGITS = 100
"""Of an integer in a record: one that no float can hold would end a report and not only its reading."""
MOST_NESTED = 50
"""Levels of lists and objects in a record."""


class RecordError(UserError):
    """A record, or a file of records, that is not what the schema says."""


@dataclass(frozen=True)
class Sample:
    """The times of one repetition, in seconds of wall-clock time.

    Over several ranks, which compile first and then start to run together: `compile_s` is the longest compilation of
    any rank, `transfer_s` and `kernel_s` are those of the rank that ran longest (so that they are parts of its time),
    and `total_s` is the longest compilation and that rank's time without compilation, one after the other.
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
        Everything that decides the work (climbers, start ...): records are compared only when their parameters are
        equal.
    ways : dict
        Everything that was asked and decides only the speed (scan, evaluation, tiling ...). Runs that differ in it
        are runs of their own, and are compared when their hashes are equal.
    seed : int
    backend, device : str
        As given to `--backend` and `--device`.
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
        Moves evaluated in ONE repetition; `details["evaluations_per_step"]` says how they are counted. Another way may
        need fewer for the same work (a pruned scan does), so only runs of equal ways must agree on it.
    trajectory_hash : str
        Hexadecimal digest of what `hash_covers` names.
    hash_covers : str
        What equal hashes prove to be equal: `moves` (the index and the cost of every move of every walk), `climbs`
        (number, length and steps of every climb), `tours` (the length of every ant's tour in every iteration), or
        `answer` (what was found, and not the way to it).
    environment : dict
        See `reports.environment.environment`.
    scored : bool
        True only when the plain NumPy scorer confirmed `best_cost`; otherwise the run enters no ratio.
    details : dict
        What a report may show but which neither identifies the run nor decides the work. The reports read
        `cities`, `optimum`, `instance_source` and `evaluations_per_step` (texts that complete "Instance: ..."
        and "Counted: ..."), `device_name`, `simulated` and `oracle` (true or false; the latter: of plain Python, so
        slow that it is no baseline), `schema_read` (1 where a line of that version was read); of dynamic programming
        also `cells`, `method`, `streamed_bytes` and `profile` (as `drivers.profile` makes it).
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
    return json.dumps(
        [workload, instance_sha256, parameters, ways, seed, backend, device, ranks, environment], sort_keys=True
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
    if not _is_integer(content["schema"]) or content["schema"] not in READ:
        expected = " or ".join(map(str, READ))
        raise RecordError(f"{origin}: found schema version {_short(content['schema'])}, expected version {expected}")
    return version_1.upgraded(content) if content["schema"] == version_1.SCHEMA else content


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(f"samples: expected a list of repetitions, found {_short(value)}")
    return value


def _sample(value: Any) -> Sample:
    names = list(Sample.__dataclass_fields__)
    if not isinstance(value, dict) or not set(names) <= set(value):
        raise RecordError(f"samples: expected the keys {', '.join(names)} in each, found {_short(value)}")
    return Sample(**{name: value[name] for name in names})


def _short(value: Any) -> str:
    """What was found, for a message of one line; a number of very many digits cannot be printed at all."""
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"a number of more than {MOST_DIGITS} digits"
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS


def _is_number(value: Any) -> bool:
    return _is_integer(value) or (isinstance(value, float) and math.isfinite(value))


def _is_time(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_text(value: Any) -> bool:
    """Whether a value is a text that a report can be written with: half a surrogate pair has no encoding."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain_object(value: Any) -> bool:
    """Whether a value is a dictionary that JSON carries there and back unchanged, of numbers that floats can hold."""
    level = [value]
    for _ in range(MOST_NESTED):
        if not level:
            break
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                if not all(map(_is_text, one)):
                    return False
                inner += one.values()
            elif isinstance(one, list):
                inner += one
            elif not (one is None or isinstance(one, bool) or _is_number(one) or _is_text(one)):
                return False
        level = inner
    return isinstance(value, dict) and not level


def _is_name(value: Any) -> bool:
    return _is_text(value) and bool(value.strip())


def _is_hexadecimal(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(f"[0-9a-f]{{{least},{most}}}", value))


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "schema": (f"the number {SCHEMA}", lambda value: _is_integer(value) and value == SCHEMA),
    "workload": ("a name", _is_name),
    "instance": ("a name", _is_name),
    "instance_sha256": ("64 hexadecimal digits", _is_hexadecimal(64, 64)),
    "parameters": ("an object of plain JSON values", _is_plain_object),
    "ways": ("an object of plain JSON values", _is_plain_object),
    "seed": ("an integer", _is_integer),
    "backend": ("a name", _is_name),
    "device": ("a text", _is_text),
    "device_kind": (f"one of {', '.join(DEVICE_KINDS)}", lambda value: _is_text(value) and value in DEVICE_KINDS),
    "ranks": ("an integer of at least 1", lambda value: _is_integer(value) and value >= 1),
    "best_cost": ("a finite number", _is_number),
    "best_index": ("an integer of at least 0", lambda value: _is_integer(value) and value >= 0),
    "evaluations": ("an integer of at least 0", lambda value: _is_integer(value) and value >= 0),
    "trajectory_hash": ("4 to 128 hexadecimal digits", _is_hexadecimal(4, 128)),
    "hash_covers": (f"one of {', '.join(HASH_COVERS)}", lambda value: _is_text(value) and value in HASH_COVERS),
    "environment": ("an object of plain JSON values", _is_plain_object),
    "scored": ("true or false", lambda value: isinstance(value, bool)),
    "details": ("an object of plain JSON values", _is_plain_object),
}

_COUNT = ("an integer of at least 0", lambda value: _is_integer(value) and value >= 0)
_AT_LEAST_1 = ("an integer of at least 1", lambda value: _is_integer(value) and value >= 1)
_NUMBER = ("a number", _is_number)
_INNER_RULES: dict[str, dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "environment": {
        "cores": _AT_LEAST_1,
        "hosts": _AT_LEAST_1,
        "packages": ("an object", lambda value: isinstance(value, dict)),
    },
    "details": {
        **dict.fromkeys(("cities", "cells", "nodes", "optimal_tours", "streamed_bytes", "iterations"), _COUNT),
        **dict.fromkeys(("optimum", "nodes_per_second", "root_bound"), _NUMBER),
        "phase_seconds": (
            "an object of numbers",
            lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
        ),
    },
}
"""Of what reports compute with, where it is there and not null."""


def _check(record: Record) -> None:
    for name, (expected, holds) in _RULES.items():
        value = getattr(record, name)
        if not holds(value):
            raise RecordError(f"{name}: expected {expected}, found {_short(value)}")
    for name, rules in _INNER_RULES.items():
        for key, (expected, holds) in rules.items():
            value = getattr(record, name).get(key)
            if value is not None and not holds(value):
                raise RecordError(f"{name}.{key}: expected {expected}, found {_short(value)}")
    for position, sample in enumerate(record.samples):
        for name in Sample.__dataclass_fields__:
            value = getattr(sample, name)
            if not _is_time(value):
                raise RecordError(f"samples[{position}].{name}: expected seconds of at least 0, found {_short(value)}")
        if sample.compile_s > sample.total_s:
            raise RecordError(
                f"samples[{position}]: expected total_s to include compile_s, found {sample.total_s!r} "
                f"below compile_s {sample.compile_s!r}"
            )
