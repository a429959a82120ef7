"""Published tables over many instances, line by line as the paper prints them, with our runs on the same lines.

A table names the workload, neighbourhood and algorithm that it measures, and its `experiment` where it measures one way
of working against another. All speed-ups of a publication are over one program on one core, which makes no experiment:
`plain` says what its ways are, and ours are over such a run too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports.comparison import Comparison, Likeness, Row, compare_works
from reports.parameters import parameters, shared, worded
from reports.records import Record, RecordError

# Ways of a baseline that a run is compared with first: a speed-up is one of the device, and not of the algorithm.
FIRST_ALIKE = ("evaluation", "level")

Group = tuple[str, str, str]


@dataclass(frozen=True)
class Line:
    """A line of a table: what the paper prints for an instance, one run of ours, or both.

    `figures` are texts, one per published column; `parameters` and `notes` are of our run.
    """

    instance: str
    figures: tuple[str, ...]
    ours: Row | None = None
    parameters: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A published table with our runs, or a table of ours alone: then without number, section and headings.

    `common` are the parameters, seed included, that all our runs in this table share; `note` is the published
    data's remark on its own figures.
    """

    title: str
    headings: tuple[str, ...]
    lines: tuple[Line, ...]
    common: Mapping[str, Any]
    number: int | None = None
    section: str = ""
    note: str = ""


@dataclass(frozen=True)
class TablesReport:
    """Everything that a report of published tables prints.

    `without_ours` numbers the publication's tables that no run of ours belongs to; `never_ours` those to which none
    can, with the reason; `unconfirmed` are runs that the NumPy scorer did not confirm and that no table shows.
    """

    published: Mapping[str, Any]
    tables: tuple[Table, ...]
    without_ours: tuple[int, ...]
    never_ours: tuple[tuple[int, str], ...]
    machines: Mapping[str, Mapping[str, Any]]
    unconfirmed: tuple[Record, ...]


def laid_out(published: Mapping[str, Any], runs: Sequence[Record], unconfirmed: tuple[Record, ...]) -> TablesReport:
    """Lay confirmed runs of a publication's workloads out in its tables; see `reports.paper_tables.tables_report`."""
    comparisons = compare_works(runs, Likeness(FIRST_ALIKE, published.get("plain", {})))
    tables, without_ours = [], []
    for table in published["tables"]:
        if "never_ours" in table:
            continue
        ours = list(_belonging(table, published["tables"], comparisons))
        if ours:
            tables.append(_table(published, table, ours))
        else:
            without_ours.append(table["number"])
    tables += _unpublished(published["tables"], comparisons)
    never = tuple((table["number"], table["never_ours"]) for table in published["tables"] if "never_ours" in table)
    return TablesReport(published, tuple(tables), tuple(without_ours), never, comparisons[0].machines, unconfirmed)


# --- which run stands in which table ---


def _group(record: Record) -> Group:
    """Workload, neighbourhood and algorithm: what decides in which tables a run can stand."""
    found = [record.parameters.get(name) for name in ("neighbourhood", "algorithm")]
    if not all(found):
        raise RecordError(
            f"{record.label}: expected the parameters neighbourhood and algorithm, found {sorted(record.parameters)}"
        )
    neighbourhood, algorithm = (", ".join(one) if isinstance(one, list) else str(one) for one in found)
    return record.workload, neighbourhood, algorithm


def _group_of_table(table: Mapping[str, Any]) -> Group:
    return table["workload"], table["neighbourhood"], table["algorithm"]


def _belonging(
    table: Mapping[str, Any], tables: Sequence[Mapping[str, Any]], comparisons: Sequence[Comparison]
) -> Iterator[Row]:
    """Yield our rows for a table: a plain one takes what makes no experiment, an experiment's also what it varies."""
    group = _group_of_table(table)
    siblings = [one.get("experiment") for one in tables if _group_of_table(one) == group]
    experiments = [one for one in siblings if one]
    wanted = table.get("experiment")
    for comparison in comparisons:
        if _group(comparison.work) != group:
            continue
        makes = [[one for one in experiments if _makes(row.record, one)] for row in comparison.rows]
        varied = wanted is None or any(wanted in made for made in makes)
        for row, made in zip(comparison.rows, makes, strict=True):
            if wanted in made or (not made and varied):
                yield row


def _makes(record: Record, experiment: Mapping[str, Any]) -> bool:
    """Tell whether a run is what a table measures: over at least its ranks, in its ways."""
    return record.ranks >= experiment.get("ranks", 1) and all(
        record.ways.get(name) == value for name, value in experiment.items() if name != "ranks"
    )


# --- a table's lines ---


def _table(published: Mapping[str, Any], table: Mapping[str, Any], ours: Sequence[Row]) -> Table:
    common = shared([row.record for row in ours])
    names = {printed["instance"] for printed in table["rows"]}
    by_instance: dict[str, list[Row]] = {}
    for row in ours:
        by_instance.setdefault(_papers_name(row.record.instance, names), []).append(row)
    blank = ("",) * len(table["columns"])
    lines: list[Line] = []
    for printed in table["rows"]:
        name = printed["instance"]
        mine = [_line(name, row, common, blank, table) for row in by_instance.pop(name, [])]
        lines += _beside(Line(name, _figures(printed)), mine)
    for name in sorted(by_instance, key=_natural):
        lines += _own_lines(by_instance[name], common, blank, table)
    headings = tuple(_heading(published["machines"], column) for column in table["columns"])
    return Table(
        table["title"], headings, tuple(lines), common, table["number"], table["section"], table.get("note", "")
    )


def _unpublished(tables: Sequence[Mapping[str, Any]], comparisons: Sequence[Comparison]) -> Iterator[Table]:
    """Yield tables of our runs whose neighbourhood or algorithm the paper does not measure."""
    printed = {_group_of_table(table) for table in tables}
    groups: dict[Group, list[Row]] = {}
    for comparison in comparisons:
        group = _group(comparison.work)
        if group not in printed:
            groups.setdefault(group, []).extend(comparison.rows)
    for (workload, neighbourhood, algorithm), rows in groups.items():
        common = shared([row.record for row in rows])
        ordered = sorted(rows, key=lambda row: _natural(row.record.instance))
        title = f"{workload}, neighbourhood {neighbourhood}, algorithm {algorithm}"
        yield Table(title, (), tuple(_own_lines(ordered, common, (), {})), common)


def _beside(printed: Line, ours: Sequence[Line]) -> list[Line]:
    """Put the printed figures on the first of our lines, or on a line of their own."""
    if not ours:
        return [printed]
    return [replace(ours[0], figures=printed.figures), *(replace(line, instance="") for line in ours[1:])]


def _own_lines(
    rows: Sequence[Row], common: Mapping[str, Any], blank: tuple[str, ...], table: Mapping[str, Any]
) -> list[Line]:
    """Lines of an instance that the paper does not have."""
    lines: list[Line] = []
    last = ""
    for row in rows:
        name = row.record.instance
        line = _line(name, row, common, blank, table)
        lines.append(replace(line, instance="") if name == last else line)
        last = name
    return lines


def _line(instance: str, row: Row, common: Mapping[str, Any], blank: tuple[str, ...], table: Mapping[str, Any]) -> Line:
    """One run of ours: what sets it apart from the others of its table, and from the paper's work."""
    record = row.record
    apart = {name: value for name, value in parameters(record).items() if name not in common}
    notes = list(row.labels)
    if record.instance != instance:
        notes.insert(0, record.instance)
    return Line(instance, blank, row, worded(apart), (*notes, *_other_work(record, table)))


def _other_work(record: Record, table: Mapping[str, Any]) -> Iterator[str]:
    """Word what a run computed other than the paper's did, so that their times do not compare; nothing for our tables.

    A published time is of `walks` searches one after the other (one, where a table names no number), of `iterations`
    iterations each, with the parameters in `work`.
    """
    if not table:
        return
    asked, wanted = record.parameters, table.get("walks", 1)
    walks = asked.get("walks", 1)
    other = []
    if walks != wanted:
        one, several = ("climb", "climbs") if "walks" in table else ("walk", "walks")
        other.append(f"{walks} {one if walks == 1 else several}, not {wanted}")
    if "iterations" in table:
        # A search of one walk records how many it made: a target or its patience may have ended it before its limit.
        made = record.details.get("iterations", asked.get("iterations")) if walks == 1 else asked.get("iterations")
        if made != table["iterations"]:
            found = f"{made:,} iterations" if isinstance(made, int) else "iterations not recorded"
            other.append(f"{found}, not {table['iterations']:,}")
    for name, value in table.get("work", {}).items():
        if name in asked and asked[name] != value:
            other.append(f"{name} = {asked[name]}, not {value}")
    if other:
        yield f"{'; '.join(other)}: times do not compare with the paper's"
    elif walks > 1:
        yield f"its {walks} climbs ran side by side, the paper's one after the other"


def _papers_name(instance: str, names: Collection[str]) -> str:
    """Return the name that the paper has for an instance, if it has one: `73-73:seed=1` is its 73-73."""
    base = instance.partition(":")[0]
    return base if base in names else instance


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key by which 81-81 comes before 101-117."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


# --- what the paper prints ---


def _heading(machines: Mapping[str, Mapping[str, Any]], column: Mapping[str, str]) -> str:
    machine = machines[column["machine"]]
    if column["version"] == "CPU":
        return f"{machine['cpu']}, one core"
    processor = column.get("processors", f"{machine['gpu']}, {machine['gpu_cores']} cores")
    return f"{processor}: {column['version']}"


def _figures(printed: Mapping[str, Any]) -> tuple[str, ...]:
    """Word a line's figures as the paper does: seconds, or seconds x speed-up, and percentages where it has any."""
    percentages = printed.get("percentages", [[]] * len(printed["figures"]))
    return tuple(
        "×".join(map(str, figure)) + (f" ({' / '.join(map(str, shares))} %)" if shares else "")
        for figure, shares in zip(printed["figures"], percentages, strict=True)
    )
