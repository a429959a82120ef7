"""Meanings of execution settings and hash scopes, in a sentence each, for all reports.

Execution settings affect only the speed. Names and values are as drivers record them; a setting of a user-defined
workload has no sentence here and is shown as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from reports.text.formatting import grouped, size


@cache
def setting_meanings() -> dict[str, dict[str, str]]:
    """Meaning of each value of each execution setting; values are texts of `value_text`."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def explain_setting(name: str, value: object) -> str:
    """Explain a setting, without its name and a full stop; empty if it has no sentence here."""
    meanings = setting_meanings().get(name, {})
    if isinstance(value, int) and not isinstance(value, bool):
        return meanings.get("number", "").format(count=grouped(value), size=size(value))
    return meanings.get(value_text(value), "")


def setting_sentences(settings: Mapping[str, Any]) -> list[str]:
    """Settings by name, each as `name = value: meaning`."""
    sentences = []
    for name, value in sorted(settings.items()):
        meaning = explain_setting(name, value)
        sentences.append(f"{name} = {value_text(value)}" + (f": {meaning}" if meaning else ""))
    return sentences


def value_text(value: object) -> str:
    for plain, word in ((None, "none chosen"), (True, "yes"), (False, "no")):
        if value is plain:
            return word
    return str(value)
