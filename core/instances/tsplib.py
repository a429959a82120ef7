"""TSPLIB instance files: read by tsplib95, and validated, because tsplib95 accepts broken ones.

A file may lack its EOF, as pr1002 and usa13509 of TSPLIB do, only if all announced sections are complete and the last
line ends in a line break.
"""

import itertools
import os
import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import NoReturn

import numpy as np

from core.instances import optima
from core.instances.errors import InstanceError
from core.instances.files import instance_name
from core.instances.readers import InstanceFormat, InstanceReader
from core.instances.tokens import quoted
from core.tours import distances as metric
from core.tours.instance import FEWEST_CITIES, MOST_CITIES, TspInstance
from core.tours.tsplib_layout import SKIPPED, TsplibLayout, TsplibSection, scan

_INTEGER = re.compile(r"[+-]?[0-9]+")


def parse(
    text: str,
    *,
    path: str | os.PathLike = "text",
    name: str | None = None,
    source: str = "text given by the caller",
    drop: Sequence[str] = (),
    symmetric: bool = True,
) -> TspInstance:
    """Return the instance of a TSPLIB text; ``name`` replaces the text's NAME.

    Parts that do not concern a tour through all nodes are skipped (`TspInstance.skipped`). Raises `InstanceError` for a
    part that no search here obeys, unless ``drop`` names it; the instance's name then says so. Files of all types but
    TSP may have asymmetric distances if ``symmetric`` is False.
    """
    drop = [part.upper() for part in drop]
    layout = scan(text, path, drop)
    refuse_drop(path, set(drop) - set(layout.dropped))
    kind = _check_type(layout, symmetric)
    symmetric |= kind == "TSP"
    n = layout.integer("DIMENSION", FEWEST_CITIES, MOST_CITIES)
    edge_weight_type = _edge_weight_type(layout)
    explicit = edge_weight_type == "EXPLICIT"
    axes = 2 if explicit else metric.FORMULAS[edge_weight_type][0]
    _check_sections(layout, n, axes, explicit)
    display_data, node_coords, weights = _read_by_tsplib95(layout, n, explicit)
    display = _points(layout, "DISPLAY_DATA_SECTION", display_data, n)
    coordinates = _points(layout, "NODE_COORD_SECTION", node_coords, n)
    name = name or layout.keys.get("NAME", ("", 0))[0] or "unnamed"
    if layout.dropped:
        name += f" without {' and '.join(dict.fromkeys(layout.dropped))}"
    common = partial(TspInstance, name, symmetric=symmetric, source=source)
    if explicit:
        distances = _explicit_distances(layout, n, weights, symmetric)
        instance = common(distances=distances, display=coordinates if display is None else display)
    else:
        assert coordinates is not None
        _check_extent(layout, coordinates, edge_weight_type)
        instance = common(coordinates=coordinates, edge_weight_type=edge_weight_type, display=display)
    instance.optimum = optima.optimum(instance.sha256)
    skipped = [part for part in (*layout.keys, *layout.sections) if SKIPPED.fullmatch(part) or part == "TOUR_SECTION"]
    if skipped:
        listed = " and ".join(filter(None, (", ".join(skipped[:-1]), skipped[-1])))
        do, are = ("does", "is") if len(skipped) == 1 else ("do", "are")
        instance.skipped = f"{listed} {do} not concern a tour through all {n} nodes and {are} skipped"
    return instance


def parse_file(text: str, path: str | os.PathLike, drop: Sequence[str] = (), symmetric: bool = True) -> TspInstance:
    """Return the instance of a file's text, with the file's name; see `parse`."""
    name = instance_name(path, r"\.(a?tsp|vrp|txt)")
    return parse(text, path=path, name=name, source=f"file {os.fspath(path)}", drop=drop, symmetric=symmetric)


SUFFIXES = (".tsp", ".vrp", ".atsp")
FORMAT = InstanceFormat("a TSPLIB file", (*SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES)), parse_file)
load = InstanceReader[TspInstance](FORMAT, expected=FORMAT.contents).read
"""Return the instance of a .tsp, .vrp or .atsp file, which may be packed with gzip."""


def refuse_drop(place: object, parts: Collection[str]) -> None:
    """Raise `InstanceError` for names of parts to drop that a file or specification does not have."""
    if parts:
        raise InstanceError(place, None, f"no {min(parts)} to drop", "a key or section that is refused without --drop")


def _check_type(layout: TsplibLayout, symmetric: bool) -> str:
    """Return the TYPE of a tour through all nodes. Of vehicle routing the nodes count, the depot included."""
    choices = "TSP, ATSP, CVRP or another of vehicle routing"
    value, line = layout.key("TYPE", choices)
    # si175 and its kin say "TSP (M.~Hofmeister)"
    kind = re.split(r"[\s(]", value, maxsplit=1)[0]
    if symmetric and re.fullmatch(r"A(TSP|\w*VRP)\w*", kind):
        expected = "TSP or CVRP: distances equal both ways (onekernel heldkarp takes others)"
        raise layout.error(line, f"TYPE {kind} (asymmetric)", expected)
    if not re.fullmatch(r"A?TSP(TW)?|\w*VRP\w*", kind):
        raise layout.error(line, f"TYPE {quoted(value)}", choices)
    form, line = layout.keys.get("EDGE_WEIGHT_FORMAT", ("", 0))
    if kind.startswith("A") and form in metric.LAYOUTS and form != "FULL_MATRIX":
        raise layout.error(line, f"EDGE_WEIGHT_FORMAT {form} with {kind}", "FULL_MATRIX")
    # without EOF, and without the -1 that ends a list, lines may be missing that are not counted
    if not (kind in ("TSP", "ATSP") or layout.ended or layout.last_row == "-1"):
        raise layout.error(layout.last_line, f"the end of a {kind} without EOF", "EOF")
    return kind


def _edge_weight_type(layout: TsplibLayout) -> str:
    choices = ", ".join(["EXPLICIT", *metric.FORMULAS])
    value, line = layout.key("EDGE_WEIGHT_TYPE", choices)
    if value != "EXPLICIT" and value not in metric.FORMULAS:
        raise layout.error(line, f"EDGE_WEIGHT_TYPE {quoted(value)}", f"one of {choices}")
    if value != "EXPLICIT":
        form, line = layout.keys.get("EDGE_WEIGHT_FORMAT", ("FUNCTION", line))
        if form != "FUNCTION":
            raise layout.error(line, f"EDGE_WEIGHT_FORMAT {quoted(form)} with {value}", "FUNCTION, or none")
        return value
    form, line = layout.key("EDGE_WEIGHT_FORMAT", ", ".join(metric.LAYOUTS))
    if form not in metric.LAYOUTS:
        raise layout.error(line, f"EDGE_WEIGHT_FORMAT {quoted(form)}", f"one of {', '.join(metric.LAYOUTS)}")
    return value


def _check_sections(layout: TsplibLayout, n: int, axes: int, explicit: bool) -> None:
    """Require the sections that the header announces, and the right number of lines in each."""
    drawn = layout.keys.get("DISPLAY_DATA_TYPE", ("", 0))[0] == "TWOD_DISPLAY"
    needed = ["EDGE_WEIGHT_SECTION" if explicit else "NODE_COORD_SECTION"]
    needed += ["DISPLAY_DATA_SECTION"] * drawn
    for name in needed:
        if name not in layout.sections:
            raise layout.error(layout.last_line, f"no {name} in the whole file", f"a {name}")
    if not explicit and "EDGE_WEIGHT_SECTION" in layout.sections:
        line = layout.sections["EDGE_WEIGHT_SECTION"].line
        kind = layout.keys["EDGE_WEIGHT_TYPE"][0]
        raise layout.error(line, f"an EDGE_WEIGHT_SECTION with {kind}", "coordinates alone")
    for name, section in layout.sections.items():
        if name in ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION"):
            _check_nodes(layout, section, n, axes if name == "NODE_COORD_SECTION" else 2)
        elif name == "EDGE_WEIGHT_SECTION":
            _check_weight_count(layout, section, n)


def _check_nodes(layout: TsplibLayout, section: TsplibSection, n: int, values: int) -> None:
    """Require one line per node, with its number and ``values`` values."""
    first_line: dict[int, int] = {}
    for row, line in zip(section.rows, section.lines, strict=True):
        tokens = row.split()
        if len(first_line) == n:
            raise layout.error(line, f"a line beyond the {n} of {section.name}", "the next keyword")
        if len(tokens) != 1 + values:
            raise layout.error(line, f"{len(tokens)} numbers", f"a node and {values} numbers")
        if not _INTEGER.fullmatch(tokens[0]) or not 1 <= int(tokens[0]) <= n:
            raise layout.error(line, f"node {tokens[0]}", f"an integer from 1 to {n}")
        node = int(tokens[0])
        if node in first_line:
            raise layout.error(line, f"node {node} again, as on line {first_line[node]}", f"each of 1 to {n} once")
        first_line[node] = line
    if len(first_line) < n:
        found = f"the end of {section.name} after {len(first_line)} lines"
        raise layout.error(section.last_line, found, f"{n} lines, as DIMENSION says")


def _check_weight_count(layout: TsplibLayout, section: TsplibSection, n: int) -> None:
    form = layout.keys["EDGE_WEIGHT_FORMAT"][0]
    expected = metric.weight_count(form, n)
    needed = f"{expected} weights ({form} of {n} cities)"
    total = 0
    for row, line in zip(section.rows, section.lines, strict=True):
        total += len(row.split())
        if total > expected:
            raise layout.error(line, f"weight {total}", needed)
    if total < expected:
        raise layout.error(section.last_line, f"the end of EDGE_WEIGHT_SECTION after {total} weights", needed)


def _read_by_tsplib95(layout: TsplibLayout, n: int, explicit: bool) -> tuple[dict, dict, list[list]]:
    """Return display data, coordinates by node, and weights, as tsplib95 reads the checked sections.

    Free text is left out, since tsplib95 does not read all of it.
    """
    # here, because networkx comes along and takes long to import
    import tsplib95

    kind = layout.keys["EDGE_WEIGHT_TYPE"][0]
    lines = [f"DIMENSION : {n}", f"EDGE_WEIGHT_TYPE : {kind}"]
    if explicit:
        lines.append(f"EDGE_WEIGHT_FORMAT : {layout.keys['EDGE_WEIGHT_FORMAT'][0]}")
    names = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION")
    sections = [layout.sections[name] for name in names if name in layout.sections]
    for section in sections:
        lines += [section.name, *section.rows]
    try:
        problem = tsplib95.parse("\n".join([*lines, "EOF\n"]))
        return problem.display_data, problem.node_coords, problem.edge_weights
    except Exception as error:
        # any error is one of the user's file
        raise layout.error(sections[0].line, f"data that tsplib95 cannot read ({error})", "TSPLIB 95 data") from error


def _points(layout: TsplibLayout, name: str, points: dict, n: int) -> np.ndarray | None:
    """Return coordinates by node number as an array of shape (n, axes), or None."""
    if name not in layout.sections:
        return None
    coordinates = np.array([points[node] for node in range(1, n + 1)], dtype=np.float64)
    finite = np.isfinite(coordinates).all(axis=1)
    if not finite.all():
        node = int(finite.argmin()) + 1
        line, row = layout.sections[name].row_of(node)
        raise layout.error(line, quoted(row), "finite coordinates")
    return coordinates


def _check_extent(layout: TsplibLayout, coordinates: np.ndarray, edge_weight_type: str) -> None:
    """Refuse cities too far apart, at the line of one of them."""
    objection = metric.describe_invalid_coordinates(coordinates, edge_weight_type)
    if objection:
        node = metric.outlying_city(coordinates, edge_weight_type) + 1
        raise layout.error(layout.sections["NODE_COORD_SECTION"].row_of(node)[0], *objection)


def _explicit_distances(layout: TsplibLayout, n: int, weights: list[list], symmetric: bool) -> np.ndarray:
    """Return the (n, n) int64 matrix of an EDGE_WEIGHT_SECTION, with zeros on the diagonal."""
    section = layout.sections["EDGE_WEIGHT_SECTION"]
    values = np.array(list(itertools.chain.from_iterable(weights)), dtype=np.float64)
    rows, columns = metric.LAYOUTS[layout.keys["EDGE_WEIGHT_FORMAT"][0]](n)
    values[rows == columns] = 0

    def refuse(k: int, found: str, expected: str) -> NoReturn:
        counts = np.cumsum([len(row.split()) for row in section.rows])
        raise layout.error(section.lines[int(np.searchsorted(counts, k, "right"))], found, expected)

    # one comparison refuses what is negative, too large or infinite
    wrong = ~((values >= 0) & (values <= metric.LARGEST_DISTANCE)) | (values != np.floor(values))
    if wrong.any():
        k = int(wrong.argmax())
        refuse(k, f"weight {values[k]:.12g}", f"an integer from 0 to {metric.LARGEST_DISTANCE}")
    distances = np.zeros((n, n), dtype=np.int64)
    distances[rows, columns] = values
    if layout.keys["EDGE_WEIGHT_FORMAT"][0] != "FULL_MATRIX":
        distances[columns, rows] = values
    unequal = distances != distances.T
    if symmetric and unequal.any():
        # the later of the two weights, in the lower triangle, is where the reader looks
        k = int(np.tril(unequal).argmax())
        i, j = divmod(k, n)
        found = f"weight {distances[i, j]} from city {i + 1} to {j + 1} and {distances[j, i]} back"
        refuse(k, found, "a symmetric matrix")
    return distances
