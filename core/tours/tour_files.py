"""TSPLIB tour files (.tour): cities from 1, ended by -1. Source: G. Reinelt, "TSPLIB 95", section 1.2."""

import os
import re

import numpy as np

from core.instances.files import read_text
from core.instances.tokens import quoted
from core.permutations import check_tour
from core.tours.instance import FEWEST_CITIES, MOST_CITIES
from core.tours.tsplib_layout import TsplibLayout, TsplibSection, scan


def write(path: str | os.PathLike, tour: np.ndarray, *, name: str, comment: str = "") -> None:
    """Write a tour file; ``tour`` has shape (n,), ``comment`` is one line, such as the length and the tour's origin.

    Raises `ValueError` if the tour is not a permutation of 0 to n - 1, or for a name or comment of several lines.
    """
    order = check_tour(tour, np.size(tour))
    if not name.isprintable() or not comment.isprintable():
        raise ValueError(f"found name {name!r} and comment {comment!r}, expected one line each")
    lines = [f"NAME : {name}", *([f"COMMENT : {comment}"] if comment else []), "TYPE : TOUR"]
    lines += [f"DIMENSION : {len(order)}", "TOUR_SECTION", *map(str, order + 1), "-1", "EOF", ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def read(path: str | os.PathLike, n: int | None = None) -> np.ndarray:
    """Return the tour of a tour file: int64, cities from 0, in the file's order; ``n`` is their number, if known.

    Raises `InstanceError` for another format, or if the tour is not a permutation of its cities.
    """
    layout = scan(read_text(path, "a TSPLIB tour file"), path)
    value, line = layout.key("TYPE", "TOUR")
    if value != "TOUR":
        raise layout.error(line, f"TYPE {quoted(value)}", "TOUR")
    if "TOUR_SECTION" not in layout.sections:
        raise layout.error(layout.last_line, "no TOUR_SECTION in the whole file", "a TOUR_SECTION")
    if "DIMENSION" in layout.keys:
        cities = layout.integer("DIMENSION", FEWEST_CITIES, MOST_CITIES)
        if n not in (None, cities):
            line = layout.keys["DIMENSION"][1]
            raise layout.error(line, f"a tour of {cities} cities", f"{n} cities")
        n = cities
    return _cities(layout, layout.sections["TOUR_SECTION"], n) - 1


def _cities(layout: TsplibLayout, section: TsplibSection, n: int | None) -> np.ndarray:
    """Return the cities of a section, from 1, a checked permutation."""
    tokens = [(token, line) for row, line in zip(section.rows, section.lines, strict=True) for token in row.split()]
    size = next((k for k, (token, _) in enumerate(tokens) if token == "-1"), None)
    if size is None:
        raise layout.error(section.last_line, "the end of TOUR_SECTION", "-1")
    # some programs end the tour by one -1 and the list of tours by another
    for token, line in tokens[size:]:
        if token != "-1":
            raise layout.error(line, f"{quoted(token)} after -1", "one tour alone")
    largest = n or size
    first_line: dict[int, int] = {}
    for token, line in tokens[:size]:
        if not re.fullmatch(r"[0-9]+", token) or not 1 <= int(token) <= largest:
            raise layout.error(line, f"city {token}", f"an integer from 1 to {largest}")
        if int(token) in first_line:
            raise layout.error(line, f"city {token} again, as on line {first_line[int(token)]}", "it once")
        first_line[int(token)] = line
    if size != largest or size < FEWEST_CITIES:
        raise layout.error(section.last_line, f"a tour of {size} cities", f"{max(largest, FEWEST_CITIES)}")
    return np.fromiter(first_line, dtype=np.int64, count=size)
