"""Files of TOML that say what is shown: read, with the file, the place and the key named that is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn

from core.errors import UserError


class DataFile:
    """A file of TOML and its content, for readers that check it as they go.

    Raises
    ------
    UserError
        It cannot be read, or is no TOML.
    """

    def __init__(self, path: Path, parse_float: Callable[[str], float] = float) -> None:
        self.path = path
        try:
            self.content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=parse_float)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UserError(f"{path}: expected TOML, found {error}") from None

    def known(self, content: Any, place: str, needed: Sequence[str], may: Collection[str] = ()) -> dict[str, Any]:
        """Return a table of the file that has all keys that are needed, and of others those alone that it may have.

        Raises
        ------
        UserError
            A key is missing or unknown, or it is no table.
        """
        if not isinstance(content, dict):
            self.wrong(place, repr(content), f"a table with {', '.join(needed) or 'keys'}")
        missing = [key for key in needed if key not in content]
        if missing:
            self.wrong(place, f"no key {missing[0]!r}", f"the keys {', '.join(needed)}")
        self.among(place, "key", list(content), sorted({*needed, *may}))
        return content

    def among(self, place: str, what: str, found: Sequence[str], expected: Sequence[str]) -> None:
        """Demand that all that was found is among what is expected.

        Raises
        ------
        UserError
            Something is not; says what there is.
        """
        for one in found:
            if one not in expected:
                self.wrong(place, f"the {what} {one!r}", f"some of {', '.join(expected) or 'nothing'}")

    def wrong(self, place: str, found: str, expected: str) -> NoReturn:
        """Tell the mistake.

        Raises
        ------
        UserError
            Always.
        """
        raise UserError(f"{self.path}: {place}: found {found}, expected {expected}")
