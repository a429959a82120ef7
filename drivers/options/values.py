"""Types of options: each checks a Python value, and reads a text of the command line by the same check."""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.arguments import flag, integer, path, refuse, sequence, text
from core.arguments import number as any_number
from core.errors import UserError
from drivers.options.output_files import OutputFile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_SEEDS = 10_000
PLOTS = (".svg", ".png", ".pdf")
PLOT_NAMES = f"FILE{', FILE'.join(PLOTS)}"
MEMORY_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class ValueType:
    """Type of an option's values. Calling it reads a text, as `argparse` expects of a type.

    Attributes
    ----------
    expected : str
        Values that the type takes, for errors.
    check : callable
        (name, value) -> the value in the option's type; raises `UserError` for any other value.
    parse : callable
        (text) -> value, for `check`; raises `ValueError`.
    missing : callable
        () -> name of a missing package that values of this type need, or an empty text.
    """

    expected: str
    check: Callable[[str, Any], Any]
    parse: Callable[[str], Any] = str
    missing: Callable[[], str] = str

    def __call__(self, text: str) -> object:
        try:
            value = self.check("", self.parse(text))
        except (ValueError, UserError):
            raise argparse.ArgumentTypeError(f"expected {self.expected}, found {text!r}") from None
        if missing := self.missing():
            raise argparse.ArgumentTypeError(missing)
        return value


class ArrayValue:
    """Array given from Python or read from a file, which compares by a digest, as values of options do.

    Parameters
    ----------
    values : ndarray
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.digest = hashlib.sha256(f"{values.shape} {values.tolist()}".encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayValue) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return self.digest


def path_or_array(expected: str, array_expected: str, dimensions: Sequence[int]) -> ValueType:
    """Return the type of a path, or an array of numbers with one of these numbers of dimensions."""

    def check(name: str, value: ArrayLike | str | os.PathLike[str]) -> str | ArrayValue:
        if isinstance(value, (str, os.PathLike)):
            return path(name, value)
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            array = np.asarray(None)
        if array.dtype.kind not in "biuf" or array.ndim not in dimensions:
            refuse(name, value, array_expected)
        return ArrayValue(array)

    return ValueType(expected, check)


def check_name(name: str, value: object) -> str:
    """Return the name of an instance or device, which may be an integer."""
    return path(name, value) if isinstance(value, (str, os.PathLike)) else str(integer(name, value))


def check_seeds(name: str, value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, range) else sequence(name, value, "several integers, such as range(10)")
    try:
        seeds = tuple(integer(name, one, 0) for one in listed[: MOST_SEEDS + 1])
    except UserError:
        refuse(name, value, "an integer of at least 0 for each seed")
    if not 1 <= len({*seeds}) == len(seeds) <= MOST_SEEDS:
        refuse(name, value, f"up to {MOST_SEEDS} different seeds, such as range(30)")
    return seeds


def parse_seeds(text: str) -> Sequence[int]:
    """Read seeds: a range as in 0..29, or single ones as in 3,5,8."""
    first, between, last = text.partition("..")
    return range(int(first), int(last) + 1) if between else [int(one) for one in text.split(",")]


def check_words(name: str, value: object) -> tuple[str, ...]:
    return tuple(
        text(name, one) for one in sequence(name, [value] if isinstance(value, str) else value, "several texts")
    )


def check_folder(name: str, value: object) -> str:
    folder = path(name, value)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        refuse(name, value, "a writable folder")
    return folder


def check_plot(name: str, value: object) -> OutputFile:
    if not path(name, value).lower().endswith(PLOTS):
        refuse(name, value, PLOT_NAMES)
    return OutputFile(value)


def missing_plot_package() -> str:
    """Return the name of a missing matplotlib; empty if it is installed."""
    return "" if importlib.util.find_spec("matplotlib") else "needs matplotlib: pip install 'onekernel[report]'"


def parse_memory_size(text: str) -> int:
    """Read a number of bytes: 4096, 64K, 512M, 1.5G (powers of 1024); 0 for any other text."""
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    return int(float(matched[1]) * MEMORY_UNITS[matched[2].upper()]) if matched and len(text) < 24 else 0


TEXT = ValueType("a text", text)
PATH = ValueType("a path", path)
NAME = ValueType("a name", check_name)
FLAG = ValueType("True or False", flag)
INTEGER = ValueType("an integer", integer, int)
MATRIX = path_or_array("a path", "a path, or a matrix of distances", (2,))
REAL = ValueType("a number", any_number, float)
OUTPUT_FILE = ValueType("a path", lambda name, value: OutputFile(path(name, value)))

positive = ValueType("an integer of at least 1", lambda name, value: integer(name, value, 1), int)
natural = ValueType("an integer of at least 0", lambda name, value: integer(name, value, 0), int)
number = ValueType("a number of at least 0", lambda name, value: float(any_number(name, value, 0)), float)
seeds = ValueType(f"up to {MOST_SEEDS} different seeds as in 0..29", check_seeds, parse_seeds)
folder = ValueType("a writable folder", check_folder)
words = ValueType("names with commas between them", check_words, lambda text: text.split(","))
plot_file = ValueType(PLOT_NAMES, check_plot, missing=missing_plot_package)
memory_size = ValueType(
    "bytes, with K, M, G or T as in 512M or 1.5G", lambda name, value: integer(name, value, 1), parse_memory_size
)

PLAIN_TYPES = {str: TEXT, bool: FLAG, int: INTEGER, float: REAL, OutputFile: OUTPUT_FILE}
NAMED_TYPES = {
    **{"text": TEXT, "path": PATH, "name": NAME, "flag": FLAG, "integer": INTEGER, "path_or_matrix": MATRIX},
    **{"output_file": OUTPUT_FILE, "positive": positive, "natural": natural, "number": number, "seeds": seeds},
    **{"folder": folder, "plot_file": plot_file, "words": words, "memory_size": memory_size},
}
