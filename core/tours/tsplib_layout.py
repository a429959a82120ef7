"""The lines of a TSPLIB file: its keys and sections with line numbers, before any number is read.

Source: G. Reinelt, "TSPLIB 95", section 1 (the file format). Instances and tours share it.
"""

import os
import re
from collections.abc import Collection

from core.instances.errors import InstanceError
from core.instances.tokens import LONGEST_NUMBER, lines_of, quoted

KEYS = frozenset([
    "NAME", "TYPE", "COMMENT", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "EDGE_DATA_FORMAT",
    "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE",
])  # fmt: skip
SECTIONS = frozenset(["NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "TOUR_SECTION", "EDGE_WEIGHT_SECTION"])
SKIPPED = re.compile(r"(VEHICLES?|CAPACITY|DEMAND|DEPOTS?|BACKHAUL|LINEHAUL|SERVICE_TIME)(_[A-Z_]+)?")
"""Keys and sections of vehicle routing (VRPLIB, LKH-3) that do not change the shortest tour through all nodes."""

_NUMBER = r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_ONE_NUMBER = re.compile(_NUMBER)
_NUMBERS = re.compile(rf"(?:{_NUMBER}(?:[ \t]++|$))+")
_KEYWORD = re.compile(r"([A-Za-z][A-Za-z0-9_]*)[ \t]*(?:$|(:)[ \t]*(.*))")


class TsplibSection:
    """Data lines of one section.

    ``line`` is that of the section's keyword. ``rows`` are stripped and have numbers only, without empty lines;
    ``lines`` has the line of each row.
    """

    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.rows: list[str] = []
        self.lines: list[int] = []

    def row_of(self, node: int) -> tuple[int, str]:
        """Return line and text of the row that begins with this node."""
        rows = zip(self.lines, self.rows, strict=True)
        return next((line, row) for line, row in rows if int(row.split()[0]) == node)

    @property
    def last_line(self) -> int:
        """Line of the last row, or of the keyword."""
        return self.lines[-1] if self.lines else self.line


class TsplibLayout:
    """Keys and sections of a file, except those with a name in ``drop``.

    ``keys`` has value and line of each key; of repeated comments, the last. Names are in capitals. ``dropped`` are the
    names found of ``drop``; a file of another kind than instances has None. ``ended`` is true after the keyword EOF.
    ``last_line`` is the number of the last line that is not empty, and ``last_row`` its text.
    """

    def __init__(self, path: str, drop: Collection[str] | None) -> None:
        self.path = path
        self.drop = drop
        self.dropped: list[str] = []
        self.keys: dict[str, tuple[str, int]] = {}
        self.sections: dict[str, TsplibSection] = {}
        self.ended = False
        self.last_line = 1
        self.last_row = ""

    def error(self, line: int, found: str, expected: str) -> InstanceError:
        return InstanceError(self.path, line, found, expected)

    def key(self, name: str, choices: str) -> tuple[str, int]:
        """Return value and line of a required key; `choices` are its possible values."""
        if name not in self.keys:
            raise self.error(self.last_line, f"no {name} in the whole file", f"{name} : {choices}")
        return self.keys[name]

    def integer(self, name: str, smallest: int, largest: int) -> int:
        expected = f"an integer from {smallest} to {largest}"
        value, line = self.key(name, expected)
        if not re.fullmatch(r"[0-9]{1,18}", value) or not smallest <= int(value) <= largest:
            raise self.error(line, f"{name} {quoted(value)}", expected)
        return int(value)


def scan(text: str, path: str | os.PathLike, drop: Collection[str] | None = None) -> TsplibLayout:
    """Split the text of a TSPLIB file into keys and sections; see `TsplibLayout` for ``drop``.

    Raises `InstanceError` for unknown or repeated keys and sections, keys without a value, anything but finite decimal
    numbers in a section, text after EOF, or a last line that was cut off (no EOF and no line break).
    """
    layout = TsplibLayout(str(path), drop)
    section: TsplibSection | None = None
    lines = lines_of(text)
    for number, raw in enumerate(lines, 1):
        row = raw.strip(" \t")
        if not row:
            continue
        layout.last_line, layout.last_row = number, row
        if layout.ended:
            raise layout.error(number, f"{quoted(row)} after EOF", "nothing more")
        keyword = _KEYWORD.fullmatch(row)
        name, value = (keyword[1].upper(), (keyword[3] or "").strip()) if keyword else ("", "")
        if name == "EOF" and not value:
            layout.ended = True
        elif name.endswith("_SECTION"):
            section = _open_section(layout, name, value, number)
        elif keyword and (section is None or keyword[2] or name in KEYS):
            _add_key(layout, name, value, number)
            section = None
        elif section is None:
            raise layout.error(number, quoted(row), "KEY : value, a section's name or EOF")
        else:
            _check_numbers(layout, row, number)
            section.rows.append(row)
            section.lines.append(number)
    if not layout.ended and lines[-1].strip(" \t"):
        raise layout.error(layout.last_line, "the end of the file within a line", "a whole line, then EOF")
    return layout


def _is_dropped(layout: TsplibLayout, name: str, number: int) -> bool:
    """Return True for a name to drop. Raises `InstanceError` for one that is neither obeyed nor skipped."""
    if name in KEYS or name in SECTIONS or SKIPPED.fullmatch(name):
        return False
    if name not in (layout.drop or ()):
        shown = name if len(name) < LONGEST_NUMBER else f"{name[:LONGEST_NUMBER]}..."
        found = f"{shown}, which no search here obeys" if name.endswith("_SECTION") else f"unknown keyword '{shown}'"
        instead = "" if layout.drop is None else f", or --drop {shown}"
        raise layout.error(number, found, f"a file without it{instead}")
    layout.dropped.append(name)
    return True


def _open_section(layout: TsplibLayout, name: str, value: str, number: int) -> TsplibSection:
    if value:
        raise layout.error(number, f"{quoted(value)} behind {name}", "a line break")
    section = TsplibSection(name, number)
    if not _is_dropped(layout, name, number):
        if name in layout.sections:
            first = layout.sections[name].line
            raise layout.error(number, f"{name} again, as on line {first}", "it once")
        layout.sections[name] = section
    return section


def _add_key(layout: TsplibLayout, name: str, value: str, number: int) -> None:
    if _is_dropped(layout, name, number):
        return
    if name in layout.keys and name != "COMMENT":
        first = layout.keys[name][1]
        raise layout.error(number, f"{name} again, as on line {first}", "it once")
    if not value and name not in ("COMMENT", "NAME"):
        raise layout.error(number, f"{name} without a value", f"{name} : value")
    layout.keys[name] = (value.upper() if name.endswith(("TYPE", "FORMAT")) else value, number)


def _check_numbers(layout: TsplibLayout, row: str, number: int) -> None:
    """Refuse anything but finite decimal numbers in a data line."""
    tokens = row.split()
    if _NUMBERS.fullmatch(row) and max(map(len, tokens)) <= LONGEST_NUMBER:
        return
    for token in tokens:
        if not _ONE_NUMBER.fullmatch(token):
            raise layout.error(number, quoted(token), "a number")
        if len(token) > LONGEST_NUMBER:
            raise layout.error(
                number, f"a number of {len(token)} characters", f"one of at most {LONGEST_NUMBER} characters"
            )
    raise layout.error(number, quoted(row), "numbers with blanks between them")
