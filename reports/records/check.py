"""Types of the values of a run record, and messages for a value of another type.

`msgspec` checks a type; its description is the expected value in a message.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from types import NoneType
from typing import Annotated, Any, Literal, TypedDict, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from core.errors import UserError, escape_unprintable

SCHEMA = 4
"""Version for reading and writing."""

HASH_SCOPES = {"moves": "all moves", "climbs": "all climbs", "tours": "all tours", "result": "the result"}
"""Scopes of a run's hash, each with its text in a line or a report ("hash 0123 of all moves")."""

MOST_DIGITS = 100
"""Most digits of an integer: one that no float can hold would end a report, not only its reading."""
MOST_NESTED = 50
"""Levels of lists and objects in a record."""
LARGEST = sys.float_info.max

NonNegative = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0, le=LARGEST)]
Finite = int | Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Text = Annotated[str, Meta(pattern=r"^[^\ud800-\udfff]*\Z", description="a text")]
Name = Annotated[str, Meta(pattern=r"^[^\ud800-\udfff]*[^\s\ud800-\udfff][^\ud800-\udfff]*\Z", description="a name")]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z", description="64 hexadecimal digits")]
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{4,128}\Z", description="4 to 128 hexadecimal digits")]
Integer = Annotated[int, Meta(description="an integer")]
Count = Annotated[int, Meta(ge=0, description="an integer of at least 0")]
AtLeastOne = Annotated[int, Meta(ge=1, description="an integer of at least 1")]
Number = Annotated[Finite, Meta(description="a finite number")]
AtLeastZero = Annotated[NonNegative, Meta(description="a number of at least 0")]
Seconds = Annotated[NonNegative, Meta(description="seconds of at least 0")]
Share = Annotated[
    Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)], Meta(description="a number from 0 to 1")
]
YesOrNo = Annotated[bool, Meta(description="true or false")]
Plain = Annotated[dict[str, Any], Meta(description="an object of plain JSON values")]
DeviceKind = Annotated[Literal["core", "cores", "gpu"], Meta(description="one of core, cores, gpu")]
HashScope = Annotated[
    Literal["moves", "climbs", "tours", "result"], Meta(description=f"one of {', '.join(HASH_SCOPES)}")
]
Joules = Annotated[dict[Name, AtLeastZero], Meta(description="an object from sources to joules of at least 0")]
BytesMoved = Annotated[
    dict[Literal["host_device", "between_ranks"], Count],
    Meta(description="an object from host_device or between_ranks to bytes, integers of at least 0"),
]
HISTORY_ROW = "[iteration, evaluations, seconds, best cost], the first three from 0 and none below the row before"
HistoryRow = Annotated[list[Finite], Meta(min_length=4, max_length=4, description=HISTORY_ROW)]
RepetitionKind = Annotated[
    Literal["fixed", "proof", "trial", "rate"], Meta(description="one of fixed, proof, trial, rate")
]
SecondsBySource = Annotated[dict[Name, AtLeastZero], Meta(description="an object from sources to seconds")]
RankSeconds = Annotated[list[Seconds], Meta(description="a list of seconds of at least 0")]
MOMENT = "a date and time in UTC such as 2026-11-22T10:27:52Z"
Moment = Annotated[str, Meta(pattern=r"^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z\Z", description=MOMENT)]
History = Annotated[list[HistoryRow], Meta(description="a list of [iteration, evaluations, seconds, best cost]")]


class EnvironmentValues(TypedDict, total=False):
    """Environment values for computations in reports."""

    cores: AtLeastOne | None
    sockets: AtLeastOne | None
    physical_cores: AtLeastOne | None
    hardware_threads: AtLeastOne | None
    cpu_mhz_nominal: AtLeastOne | None
    cpu_mhz_max: AtLeastOne | None
    gpus: Annotated[list[Name], Meta(description="a list of names")] | None
    host_count: AtLeastOne | None
    host: Name | None
    emulated_network: Name | None
    emulated_hosts: AtLeastOne | None


class DetailValues(TypedDict, total=False):
    """Details for computations in reports."""

    cities: Count | None
    steps_per_climb: AtLeastZero | None
    streamed_bytes: Count | None
    iterations: Count | None
    optimum: Number | None
    maximises: YesOrNo


class ConditionValues(TypedDict, total=False):
    """Conditions of a repetition."""

    load_1min: AtLeastZero | None
    cpu_governor: Name | None
    cpu_mhz_mean: AtLeastZero | None
    cpu_mhz_min: AtLeastZero | None
    cpu_mhz_before: AtLeastZero | None
    others_cores: AtLeastZero | None
    gpu_mhz: AtLeastZero | None
    gpu_mhz_before: AtLeastZero | None
    gpu_mhz_max: AtLeastZero | None
    gpu_temperature_c: Number | None
    throttled: YesOrNo | None
    throttled_by: Annotated[list[Name], Meta(description="a list of reasons")] | None
    resume_count: AtLeastOne | None
    lost_ranks: Annotated[list[Count], Meta(description="a list of ranks")] | None


class RecordError(UserError):
    """A record, or a file of records, that contradicts the schema."""


T = TypeVar("T")


def convert(values: object, kind: type[T], where: str = "") -> T:
    """Convert values to a type. Raises `RecordError` with the key, the value and the expected value."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise RecordError(_explain(str(error), values, kind, where)) from None
    except UnicodeEncodeError as error:
        raise RecordError(f"{where}: expected keys in UTF-8, found {short_text(error.object)}".lstrip(": ")) from None


def printable(value: object) -> object:
    """Return a value with escapes in its texts, since names of files may have bytes that JSON cannot hold."""
    if isinstance(value, dict):
        return {name: printable(one) for name, one in value.items()}
    return escape_unprintable(value) if isinstance(value, str) and not _is_plain(value) else value


def check_plain(values: Mapping[str, Any], kind: type, where: str = "") -> None:
    """Refuse values that JSON changes, and numbers that no float can hold. Raises `RecordError`."""
    for name, value in values.items():
        if not _is_plain(value):
            expected = _description(get_type_hints(kind, include_extras=True)[name])
            raise RecordError(f"{where}{name}: expected {expected}, found {short_text(value)}")


def short_text(value: object) -> str:
    """Return a value as one line of text; numbers with too many digits are not printed."""
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"a number of more than {MOST_DIGITS} digits"
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _is_plain(value: object, levels: int = MOST_NESTED) -> bool:
    if isinstance(value, dict):
        return levels > 0 and all(
            isinstance(name, str) and _is_plain(name) and _is_plain(one, levels - 1) for name, one in value.items()
        )
    if isinstance(value, list):
        return levels > 0 and all(_is_plain(one, levels - 1) for one in value)
    if isinstance(value, str):
        return value.isascii() or not re.search("[\ud800-\udfff]", value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) < 10**MOST_DIGITS)


def _explain(message: str, value: Any, kind: object, where: str) -> str:
    """Rewrite an error of msgspec, `Expected ... - at `$.repetitions[0].kernel_s``, by the description of the type."""
    place, expected = "", _description(kind)
    part, at = value, where.rstrip(".")
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", message.partition("`$")[2]):
        place += f".{name}" if name else f"[{index}]"
        kind, value = _member(kind, name, index), value[name or int(index)]
        if description := _description(kind):
            expected, part, at = description, value, (where + place.lstrip("."))
    if missing := re.search("missing required field `(.*?)`", message):
        part = sorted(value) if isinstance(value, dict) else value
        return f"{(where + place.lstrip('.') + ': ').lstrip(': ')}expected the key {missing[1]!r}, found only {part}"
    return f"{at}: expected {expected}, found {short_text(part)}"


def _description(kind: object) -> str:
    """Return the description of a type, or an empty text."""
    for alternative in get_args(kind) if get_origin(kind) is not Annotated and NoneType in get_args(kind) else (kind,):
        for meta in getattr(alternative, "__metadata__", ()):
            if meta.description:
                return str(meta.description)
    return ""


def _member(kind: object, name: str, index: str) -> object:
    kind = next(arg for arg in (get_args(kind) if NoneType in get_args(kind) else (kind,)) if arg is not NoneType)
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if name:
        return get_type_hints(kind, include_extras=True)[name]
    return get_args(kind)[int(index) if len(get_args(kind)) > 2 else 0]
