"""Our search and the reference solvers, as lines for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from drivers.peers.peer import PeerMeasurement
from reports.text.formatting import seconds
from reports.text.tables import TERMINAL, TextTable

DIGITS = 4
WARM, PROCESS = "warm", "process"
NOT_REACHED = "not reached"
LEGEND = {
    WARM: "warm: one call in a running process, without imports and start-up",
    PROCESS: "process: a whole process, with start-up and input",
}


def format_table(own: PeerMeasurement, peers: Sequence[PeerMeasurement]) -> list[str]:
    """Return the lines of a table of at most 80 columns, with our search first.

    Before programs, which are timed as whole processes, there is a row for a whole process of ours.
    """
    answered = [peer for peer in peers if peer.cost is not None]
    shown = [own, *(peer for peer in answered if peer.in_process)]
    programs = [peer for peer in answered if not peer.in_process]
    if programs:
        whole = own._replace(in_process=False, time_to_cost_s=own.process_s)
        shown += [whole, *programs] if own.process_s is not None else programs
    columns: dict[str, Callable[[PeerMeasurement], object]] = {
        "solver": lambda row: f"{row.name} {row.version}".rstrip(),
        ">cost": lambda row: "" if row.cost is None else row.cost,
        ">proved": lambda row: "yes" if row.proved else "no",
        ">time": lambda row: seconds(row.seconds, DIGITS),
        ">start-up": lambda row: seconds(row.startup_s, DIGITS),
        ">to our cost": lambda row: _to_cost(row, own),
        ">timed": _timed,
    }
    lines = TextTable.of("", shown, columns).terminal().splitlines()
    notes = [LEGEND[timed] for timed in dict.fromkeys(_timed(row) for row in shown)]
    notes += [
        f"{peer.name}: {seconds(peer.reported_s, DIGITS)} by its own clock" for peer in answered if peer.reported_s
    ]
    notes += [_spread(peer) for peer in answered if len(set(peer.costs)) > 1]
    notes += [f"{peer.name}: {peer.failure}" for peer in peers if peer.failure]
    return lines + [line for note in notes for line in textwrap.wrap(note, TERMINAL, subsequent_indent="  ")]


def _to_cost(row: PeerMeasurement, own: PeerMeasurement) -> str:
    never = row.time_to_cost_s is None and None not in (row.seconds, own.cost)
    return NOT_REACHED if never else seconds(row.time_to_cost_s, DIGITS)


def _spread(row: PeerMeasurement) -> str:
    """Mark a solver with several results, of which the table has the worst."""
    other = max(row.costs) if row.cost == min(row.costs) else min(row.costs)
    remark = f"the best, {other}, was found in {row.costs.count(other)}"
    return f"{row.name}: its cost is the worst of {len(row.costs)} repetitions; {remark}"


def _timed(row: PeerMeasurement) -> str:
    return WARM if row.in_process else PROCESS
