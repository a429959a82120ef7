"""TOML files that configure reports, read into types of msgspec. An error names the file, the place and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from core.errors import UserError

Part = TypeVar("Part")


class DataFile:
    """A file of TOML and its content. Raises `UserError` if it cannot be read."""

    def __init__(self, path: Path, parse_float: Callable[[str], float] = float) -> None:
        self.path = path
        try:
            self.content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=parse_float)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UserError(f"{path}: expected TOML, found {error}") from None

    def part(self, kind: type[Part], content: object, place: str) -> Part:
        """Convert a part of the content to a type. Raises `UserError` for missing, unknown or wrong keys."""
        try:
            return msgspec.convert(content, kind)
        except msgspec.ValidationError as error:
            raise UserError(f"{self.path}: {place}: {error}") from None

    def tables(self, key: str) -> dict[str, dict[str, Any]]:
        """Return the tables under a key, by their names. Raises `UserError` for anything else."""
        return self.part(dict[str, dict[str, Any]], self.content.get(key, {}), key)

    def among(self, place: str, what: str, values: Sequence[str], expected: Sequence[str]) -> None:
        """Check that all found values are expected; raises `UserError` with the first that is not."""
        for value in values:
            if value not in expected:
                self.wrong(place, f"the {what} {value!r}", f"some of {', '.join(expected) or 'nothing'}")

    def wrong(self, place: str, found: str, expected: str) -> NoReturn:
        raise UserError(f"{self.path}: {place}: found {found}, expected {expected}")
