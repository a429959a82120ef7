"""Published tables of a solver beside others (xavier2022, tables 5.1 to 5.4), with our proofs on the same lines.

Every run proved the same optimum, whatever its bound: a bound is a way to do the work, and each has a table of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.comparison import Likeness, Row, compare_works
from reports.parameters import parameters, shared
from reports.records import Record, RecordError

LAYOUT = "peers"
LIKENESS = Likeness(first=("bound", "enumerate", "depth"))

ON_THE_HOST = "host"
BESIDE_HOST = "one-tree"
"""Runs on the host, of the smallest instances, stand in the table of the bound that the larger ones have by default."""

Place = tuple[str, str, int, str]


@dataclass(frozen=True)
class Printed:
    """What the publication prints of an instance: a text per column, empty where it has none."""

    instance: str
    cities: int
    optimum: int
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """An instance with a run per column of ours, None where there is none; `printed` is None for one of our own."""

    instance: str
    optimum: int
    printed: Printed | None
    runs: tuple[Row | None, ...]


@dataclass(frozen=True)
class BoundTable:
    """Our runs with one bound; `columns` has a run of every device, `common` the parameters that all runs share."""

    title: str
    columns: tuple[Row, ...]
    lines: tuple[Line, ...]
    common: Mapping[str, Any]


@dataclass(frozen=True)
class Peer:
    """Another solver that ran beside one of ours, as `drivers.peers.peer.Measured` records it.

    Older records have `length` for its `cost`, and `proves` for `proved`. `ratio` is its time over ours, above 1 where
    ours is faster; None where it has no time.
    """

    name: str
    proves: bool
    length: int | None
    solve_s: float | None
    start_s: float | None
    trouble: str
    ratio: float | None


@dataclass(frozen=True)
class PeerLine:
    """One of our runs and the other solvers in it, one per name of the report; None where that was not looked for."""

    run: Row
    peers: tuple[Peer | None, ...]


@dataclass(frozen=True)
class PeerReport:
    """Everything that the report prints; `headings` are those of the printed figures.

    `peer_names` heads the columns of `peer_lines`; `unconfirmed` are runs that a scorer, a second algorithm or a peer
    spoke against.
    """

    published: Mapping[str, Any]
    headings: tuple[str, ...]
    printed: tuple[Printed, ...]
    tables: tuple[BoundTable, ...]
    peer_names: tuple[str, ...]
    peer_lines: tuple[PeerLine, ...]
    machines: Mapping[str, Mapping[str, Any]]
    unconfirmed: tuple[Record, ...]

    @property
    def runs(self) -> list[Row]:
        """All of ours that the report shows."""
        return [run for table in self.tables for line in table.lines for run in line.runs if run]


def laid_out(published: Mapping[str, Any], runs: Sequence[Record], unconfirmed: tuple[Record, ...]) -> PeerReport:
    """Lay confirmed runs out beside a publication's figures; see `reports.paper_tables.tables_report`."""
    for record in runs:
        if "bound" not in record.ways:
            found = sorted({**record.parameters, **record.ways})
            raise RecordError(f"{record.label}: expected the parameter bound, found {found}")
    comparisons = compare_works(runs, LIKENESS)
    rows = [row for comparison in comparisons for row in comparison.rows]
    headings, printed = _printed(published)
    names = tuple(dict.fromkeys(peer["name"] for row in rows for peer in _recorded_peers(row)))
    return PeerReport(
        published,
        headings,
        printed,
        tuple(_bound_table(alike, printed) for alike in _by_bound(rows)),
        names,
        tuple(_peer_line(row, names) for row in sorted(rows, key=_order(printed)) if _recorded_peers(row)),
        comparisons[0].machines,
        unconfirmed,
    )


# --- what the publication prints ---


def _printed(published: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Printed, ...]]:
    """Merge the tables, one per machine and peer: the solver's own figures stand in all tables of a machine."""
    texts: dict[str, dict[str, str]] = {}
    for table in published["tables"]:
        machine = published["machines"][table["machine"]]["name"]
        own, peer = texts.setdefault(f"thesis, {machine}", {}), texts.setdefault(f"{table['peer']}, {machine}", {})
        for row in table["rows"]:
            peer[row["instance"]] = row["peer"]
            # Of a figure that two tables print, the one with more digits.
            own[row["instance"]] = max(own.get(row["instance"], ""), row.get("solver", ""), key=len)
    headings = tuple(sorted(texts, key=lambda heading: not heading.startswith("thesis")))
    lines = tuple(
        Printed(
            one["instance"], one["cities"], one["optimum"], tuple(texts[each][one["instance"]] for each in headings)
        )
        for one in published["instances"]["rows"]
    )
    return headings, lines


# --- ours on its lines ---


def _by_bound(rows: Sequence[Row]) -> list[list[Row]]:
    """Sort runs into tables: of one bound and its parameters, the first table that of the default bound."""
    tables: dict[str, list[Row]] = {}
    for row in rows:
        asked = parameters(row.record)
        asked["bound"] = BESIDE_HOST if asked["bound"] == ON_THE_HOST else asked["bound"]
        tables.setdefault(json.dumps(asked, sort_keys=True), []).append(row)
    return sorted(tables.values(), key=lambda alike: _bound(alike) != BESIDE_HOST)


def _bound(rows: Sequence[Row]) -> str:
    found = [row.record.ways["bound"] for row in rows if row.record.ways["bound"] != ON_THE_HOST]
    return str(found[0]) if found else BESIDE_HOST


def _bound_table(rows: Sequence[Row], printed: Sequence[Printed]) -> BoundTable:
    columns: dict[Place, Row] = {}
    instances: dict[tuple[str, int, str], dict[Place, Row]] = {}
    for row in sorted(rows, key=_order(printed)):
        record = row.record
        columns.setdefault(_place(row), row)
        runs = instances.setdefault((record.instance, int(record.best_cost), record.instance_sha256), {})
        # An instance that ran on the host and with the bound itself: the latter.
        if _place(row) not in runs or record.ways["bound"] != ON_THE_HOST:
            runs[_place(row)] = row
    known = {(one.instance, one.optimum): one for one in printed}
    lines = {
        (name, optimum): Line(name, optimum, one, (None,) * len(columns)) for (name, optimum), one in known.items()
    }
    own = []
    for (name, optimum, _), runs in instances.items():
        line = Line(name, optimum, known.get((name, optimum)), tuple(runs.get(place) for place in columns))
        if line.printed and lines[name, optimum].runs == (None,) * len(columns):
            lines[name, optimum] = line
        else:
            own.append(line)
    first = parameters(rows[0].record)
    return BoundTable(
        _title(_bound(rows), first),
        tuple(columns.values()),
        (*lines.values(), *own),
        {name: value for name, value in shared([row.record for row in rows]).items() if value is not None},
    )


def _title(bound: str, asked: Mapping[str, Any]) -> str:
    parts = [f"bound {bound}"]
    if asked.get("enumerate"):
        parts.append(str(asked["enumerate"]))
    if asked.get("depth") is not None:
        parts.append(f"depth {asked['depth']}")
    if asked.get("count"):
        parts.append("all shortest tours counted")
    return ", ".join(parts)


def _place(row: Row) -> Place:
    """Where a run ran."""
    return row.record.backend, row.record.device, row.record.ranks, row.machine


def _order(printed: Sequence[Printed]) -> Any:
    """Sort key: the publication's order, then our own instances, gr9 before gr10."""
    position = {one.instance: index for index, one in enumerate(printed)}

    def key(row: Row) -> tuple[int, list[tuple[int, str]]]:
        name = row.record.instance
        parts = [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]
        return position.get(name, len(position)), parts

    return key


# --- the other solvers ---


def _recorded_peers(row: Row) -> Sequence[Mapping[str, Any]]:
    found = row.record.details.get("peers", ())
    if not isinstance(found, list | tuple) or not all(isinstance(peer, dict) and "name" in peer for peer in found):
        raise RecordError(f"{row.record.label}: expected a list of solvers in details.peers, found {found!r}")
    return found


def _peer_line(row: Row, names: Sequence[str]) -> PeerLine:
    recorded = {peer["name"]: peer for peer in _recorded_peers(row)}
    return PeerLine(row, tuple(_peer(recorded[name], row) if name in recorded else None for name in names))


def _peer(peer: Mapping[str, Any], row: Row) -> Peer:
    solve_s, ours = peer.get("solve_s"), row.running.median.value
    return Peer(
        peer["name"],
        bool(peer.get("proved", peer.get("proves"))),
        peer.get("cost", peer.get("length")),
        solve_s,
        peer.get("start_s"),
        str(peer.get("trouble") or ""),
        solve_s / ours if solve_s is not None and ours > 0 else None,
    )
