"""Check of every value of a run record.

A rule is a pair: the expected value in words, for the message, and a function that returns True if a value has it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from core.errors import UserError

SCHEMA = 3
"""The version that is written and read."""

HASH_SCOPES = {
    "moves": "all moves",
    "climbs": "all climbs",
    "tours": "all tours",
    "result": "the result",
}
"""Scopes of a run's hash, each with its words in a line or a report ("hash 0123 of all moves")."""

DEVICE_KINDS = ("core", "cores", "gpu")
MOST_DIGITS = 100
"""Of an integer in a record: one that no float can hold would end a report and not only its reading."""
MOST_NESTED = 50
"""Levels of lists and objects in a record."""

Rule = tuple[str, Callable[[Any], bool]]


class RecordError(UserError):
    """A record, or a file of records, that is not what the schema says."""


def short_text(value: Any) -> str:
    """What was found, for a message of one line; a number of very many digits cannot be printed at all."""
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"a number of more than {MOST_DIGITS} digits"
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number that is not absurdly long; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS


def _is_number(value: Any) -> bool:
    return is_integer(value) or (isinstance(value, float) and math.isfinite(value))


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


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_date(value: Any) -> bool:
    """Whether a value is a date and time in UTC to the second, as `2026-11-22T10:27:52Z`."""
    if not isinstance(value, str) or not re.fullmatch("[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z", value):
        return False
    try:
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def _is_object_of(holds: Callable[[Any], bool], names: tuple[str, ...] = ()) -> Callable[[Any], bool]:
    """Whether a value is an object whose values all are what is wanted; of no other than these names, if any."""
    return lambda value: (
        isinstance(value, dict)
        and all(_is_name(name) and (not names or name in names) for name in value)
        and all(map(holds, value.values()))
    )


def _is_list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


_COUNT: Rule = ("an integer of at least 0", lambda value: is_integer(value) and value >= 0)
_AT_LEAST_1: Rule = ("an integer of at least 1", lambda value: is_integer(value) and value >= 1)
_NUMBER: Rule = ("a number", _is_number)
_AT_LEAST_0: Rule = ("a number of at least 0", _is_time)
_NAME: Rule = ("a name", _is_name)
_OBJECT: Rule = ("an object of plain JSON values", _is_plain_object)
_YES_OR_NO: Rule = ("true or false", lambda value: isinstance(value, bool))
SECONDS: Rule = ("seconds of at least 0", _is_time)

RECORD: dict[str, Rule] = {
    "schema": (f"the number {SCHEMA}", lambda value: is_integer(value) and value == SCHEMA),
    "workload": _NAME,
    "instance": _NAME,
    "instance_sha256": ("64 hexadecimal digits", _is_hexadecimal(64, 64)),
    "parameters": _OBJECT,
    "execution": _OBJECT,
    "seed": ("an integer", is_integer),
    "backend": _NAME,
    "device": ("a text", _is_text),
    "device_kind": (f"one of {', '.join(DEVICE_KINDS)}", lambda value: _is_text(value) and value in DEVICE_KINDS),
    "ranks": _AT_LEAST_1,
    "best_cost": ("a finite number", _is_number),
    "best_index": _COUNT,
    "evaluations": _COUNT,
    "evaluation_unit": _NAME,
    "hash": ("4 to 128 hexadecimal digits", _is_hexadecimal(4, 128)),
    "hash_scope": (f"one of {', '.join(HASH_SCOPES)}", lambda value: _is_text(value) and value in HASH_SCOPES),
    "environment": _OBJECT,
    "verified": _YES_OR_NO,
    "details": _OBJECT,
}
"""Rules of all keys of a record but `repetitions` and `details.*`."""

NESTED: dict[str, dict[str, Rule]] = {
    "environment": {
        "cores": _AT_LEAST_1,
        "host_count": _AT_LEAST_1,
        "host": _NAME,
        "packages": ("an object", lambda value: isinstance(value, dict)),
    },
    "details": {
        **dict.fromkeys(("cities", "cells", "optimal_tours", "streamed_bytes", "iterations"), _COUNT),
        **dict.fromkeys(("optimum", "root_bound"), _NUMBER),
    },
}
"""Rules of values that reports compute with, applied where they are present and not null."""

BYTES_MOVED = ("host_device", "between_ranks")
OPTIONAL_REPETITION: dict[str, Rule] = {
    "started_at": ("a date and time in UTC such as 2026-11-22T10:27:52Z", _is_date),
    "conditions": _OBJECT,
    "energy_j": ("an object from sources to joules of at least 0", _is_object_of(_is_time)),
    "rank_s": ("a list of seconds of at least 0", _is_list_of(_is_time)),
    "bytes_moved": (
        f"an object from {' or '.join(BYTES_MOVED)} to bytes, integers of at least 0",
        _is_object_of(_COUNT[1], BYTES_MOVED),
    ),
    "communication_share": ("a number from 0 to 1", _is_share),
    "history": ("a list of [iteration, evaluations, seconds, best cost]", lambda value: isinstance(value, list)),
}
"""Rules of the optional keys of a repetition, applied where they are present and not null."""

CONDITIONS: dict[str, Rule] = {
    "load_1min": _AT_LEAST_0,
    "cpu_governor": _NAME,
    "cpu_mhz_mean": _AT_LEAST_0,
    "cpu_mhz_min": _AT_LEAST_0,
    "gpu_mhz": _AT_LEAST_0,
    "gpu_mhz_max": _AT_LEAST_0,
    "gpu_temperature_c": _NUMBER,
    "throttled": _YES_OR_NO,
    "throttled_by": ("a list of reasons", _is_list_of(_is_name)),
    "resume_count": _AT_LEAST_1,
    "lost_ranks": ("a list of ranks", _is_list_of(_COUNT[1])),
}
"""Rules of the conditions of a repetition, applied where they are present and not null."""


def check_record(record: Any) -> None:
    """Check every value of a `reports.records.schema.Record`.

    Raises
    ------
    RecordError
        Names the key, what was found and what was expected.
    """
    for name, (expected, holds) in RECORD.items():
        value = getattr(record, name)
        if not holds(value):
            raise RecordError(f"{name}: expected {expected}, found {short_text(value)}")
    for name, rules in NESTED.items():
        _check_present(getattr(record, name), rules, name)
    for position, repetition in enumerate(record.repetitions):
        _check_repetition(repetition, record.ranks, f"repetitions[{position}]")


def _check_present(values: Any, rules: dict[str, Rule], where: str) -> None:
    """Check those values of an object that have a rule, where they are there and not null."""
    for key, (expected, holds) in rules.items():
        value = values.get(key)
        if value is not None and not holds(value):
            raise RecordError(f"{where}.{key}: expected {expected}, found {short_text(value)}")


def _check_repetition(repetition: Any, ranks: int, where: str) -> None:
    values = vars(repetition)
    for name in values.keys() - OPTIONAL_REPETITION.keys():
        if not _is_time(values[name]):
            raise RecordError(f"{where}.{name}: expected {SECONDS[0]}, found {short_text(values[name])}")
    if repetition.compile_s > repetition.total_s:
        raise RecordError(
            f"{where}: expected total_s to include compile_s, found {repetition.total_s!r} "
            f"below compile_s {repetition.compile_s!r}"
        )
    _check_present(values, OPTIONAL_REPETITION, where)
    _check_present(repetition.conditions or {}, CONDITIONS, f"{where}.conditions")
    if repetition.rank_s is not None and len(repetition.rank_s) != ranks:
        raise RecordError(f"{where}.rank_s: expected the time of each of {ranks} ranks, found {len(repetition.rank_s)}")
    _check_history(repetition.history or [], f"{where}.history")


def _check_history(rows: list[Any], where: str) -> None:
    before: list[Any] = [0, 0, 0, 0]
    for position, row in enumerate(rows):
        if not (
            isinstance(row, list)
            and len(row) == len(before)
            and is_integer(row[0])
            and is_integer(row[1])
            and _is_number(row[2])
            and _is_number(row[3])
            and all(now >= earlier for now, earlier in zip(row[:3], before, strict=False))
        ):
            raise RecordError(
                f"{where}[{position}]: expected [iteration, evaluations, seconds, best cost], the first three from 0 "
                f"and none below the row before, found "
                f"{short_text(str(row)) if isinstance(row, list) else short_text(row)}"
            )
        before = row
