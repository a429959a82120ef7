"""Options and values that have a new name, and the errors that give the new name."""

from __future__ import annotations

import re
from collections.abc import Container

RENAMED_OPTIONS = {
    "--fresh": "--rerun",
    "--limit": "--time-budget",
    "--no-state": "--no-checkpoint",
    "--own-cores": "--pin-cores",
    "--remember": "--tabu-memory",
    "--state": "--checkpoint",
    "--state-every": "--checkpoint-every",
    "--survive": "--fault-tolerant",
    "--tables": "--data-memory",
    "--yardsticks": "--reference-programs",
}
"""Options of all programs by their old names. A program that has an option of an old name takes it."""
RENAMED_VALUES = {
    "command": {"tables": "papers"},
    "evaluation": {
        "correlations": "autocorrelations",
        "counts": "literal-counts",
        "ends": "heads-tails",
        "fields": "local-fields",
        "kept": "incremental",
        "plain": "delta",
        "plane": "coordinates",
        "sums": "prefix-sums",
        "ties": "part-weights",
        "words": "bit-parallel",
    },
    "mapping": {"suite": "native"},
}
"""Values by their old names, for each option, without dashes; `command` is the first word of `python -m reports`."""

INVALID_CHOICE = re.compile(r"argument (?:.*/)?(?P<option>[\w-]+): invalid choice: '(?P<value>[^']*)'")
"""Error of `argparse` for a value that an option does not take."""
UNKNOWN_WORDS = "unrecognized arguments: "
"""Begin of the error of `argparse` for words that no option takes."""


def renamed_option(flag: str, known: Container[str]) -> str | None:
    """Return the new name of an option if it is among the known ones."""
    new = RENAMED_OPTIONS.get(flag)
    return new if new is not None and flag not in known and new in known else None


def renamed_keyword(name: str, known: Container[str]) -> str | None:
    """Return the new name of a keyword argument if it is among the known ones."""
    new = RENAMED_OPTIONS.get(f"--{name.replace('_', '-')}", "").removeprefix("--").replace("-", "_")
    return new if new and new in known else None


def renamed_value(option: str, value: object, known: Container[str]) -> str | None:
    """Return the new name of a value if it is among the known ones; ``option`` has no dashes."""
    new = RENAMED_VALUES.get(option, {}).get(value) if isinstance(value, str) else None
    return new if new is not None and value not in known and new in known else None


def explain_renaming(message: str, known: Container[str]) -> str:
    """Return an error of `argparse`; for an old name, the error that gives the new one."""
    if message.startswith(UNKNOWN_WORDS):
        for word in message.removeprefix(UNKNOWN_WORDS).split():
            flag = word.partition("=")[0]
            new = renamed_option(flag, known)
            if new is not None:
                return f"{flag}: renamed, expected {new}"
    refused = INVALID_CHOICE.match(message)
    if refused is not None:
        option, value = refused["option"], refused["value"]
        new = RENAMED_VALUES.get(option.removeprefix("--"), {}).get(value)
        if new is not None:
            return f"{f'{option} ' if option.startswith('-') else ''}{value}: renamed, expected {new}"
    return message
