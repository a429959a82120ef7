"""Our search and the solvers beside it, as lines for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from drivers.peers.peer import PeerMeasurement

COLUMNS = 80
WARM, PROCESS = "warm", "process"
NOT_REACHED = "not reached"
HEADINGS = ("solver", "cost", "proved", "time", "start-up", "to our cost", "timed")
LEGEND = {
    WARM: "warm: one call in a running process, without imports and start-up",
    PROCESS: "process: a whole process, with start-up and input",
}


def format_table(own: PeerMeasurement, peers: Sequence[PeerMeasurement]) -> list[str]:
    """Return the lines of a table, with our search first.

    Where programs are in it, which are timed as whole processes, a row for a whole process of ours stands above them.

    Parameters
    ----------
    own : Measured
        As `drivers.peers.peer.this_search` returns it.
    peers : sequence of Measured
        As `drivers.peers.measurement.measure` returns them.

    Returns
    -------
    list of str
        None is longer than 80 columns, unless a name or a cost alone is too long for that.
    """
    answered = [peer for peer in peers if peer.cost is not None]
    shown = [own, *(peer for peer in answered if peer.in_process)]
    programs = [peer for peer in answered if not peer.in_process]
    if programs:
        whole = own._replace(in_process=False, time_to_cost_s=own.process_s)
        shown += [whole, *programs] if own.process_s is not None else programs
    lines = _aligned([HEADINGS, *(_cells(row, own, versions=True) for row in shown)])
    if max(map(len, lines)) > COLUMNS:
        lines = _aligned([HEADINGS, *(_cells(row, own, versions=False) for row in shown)])
    notes = [LEGEND[timed] for timed in dict.fromkeys(_timed(row) for row in shown)]
    notes += [f"{peer.name}: {duration(peer.reported_s)} by its own clock" for peer in answered if peer.reported_s]
    notes += [_spread(peer) for peer in answered if len(set(peer.costs)) > 1]
    notes += [f"{peer.name}: {peer.failure}" for peer in peers if peer.failure]
    return lines + [line for note in notes for line in textwrap.wrap(note, COLUMNS, subsequent_indent="  ")]


def _cells(row: PeerMeasurement, own: PeerMeasurement, versions: bool) -> tuple[str, ...]:
    name = f"{row.name} {row.version}" if versions and row.version else row.name
    return (
        name,
        "" if row.cost is None else str(row.cost),
        "yes" if row.proved else "no",
        duration(row.seconds),
        duration(row.startup_s),
        _to_cost(row, own),
        _timed(row),
    )


def _to_cost(row: PeerMeasurement, own: PeerMeasurement) -> str:
    never = row.time_to_cost_s is None and None not in (row.seconds, own.cost)
    return NOT_REACHED if never else duration(row.time_to_cost_s)


def _spread(row: PeerMeasurement) -> str:
    """That a solver did not always find the same, where the table has the worst."""
    other = max(row.costs) if row.cost == min(row.costs) else min(row.costs)
    found = f"the best, {other}, was found in {row.costs.count(other)}"
    return f"{row.name}: its cost is the worst of {len(row.costs)} repetitions; {found}"


def _timed(row: PeerMeasurement) -> str:
    return WARM if row.in_process else PROCESS


def _aligned(cells: Sequence[tuple[str, ...]]) -> list[str]:
    """Cells in columns, names to the left and all else to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    ]


def duration(seconds: float | None) -> str:
    """Return seconds with four digits in the unit that suits them: 2.041 s, 405.0 ms, 12.30 us; empty for None."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 0.9995:
            return f"{_four_digits(seconds * scale)} {unit}"
    return f"{_four_digits(seconds * 1e6)} us"


def _four_digits(number: float) -> str:
    places = 3 if number < 9.9995 else 2 if number < 99.995 else 1 if number < 999.95 else 0
    return f"{number:.{places}f}"
