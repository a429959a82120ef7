"""Verdicts on a paper's claims, and sentences about our figures, from the cells of an exhibit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from reports.papers.paper import Check, Exhibit

if TYPE_CHECKING:
    import pandas

HOLDS, FAILS, UNTESTED, NOT_RUN = "holds", "does not hold", "cannot be tested here", "not run"
NO_CELLS = "a run that it needs is missing"
UNDECIDED = "is undecided within the intervals of the runs"
LEAST = {"above": 1.01, "below": 1 / 1.01}
"""Ratios that the intervals must leave possible, or a claim that one value is above or below another does not hold."""
ENDS = (("value", "value"), ("low", "high"), ("high", "low"))
"""Values of the cells of a column, and of those that they are compared with: the result of a check is that of all."""
END_OF_WORD = r"(?=[,;:.]?(?:\s|$))"
"""End of a figure in a sentence, before a punctuation mark too."""
END_OF_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
AGGREGATES = ("min", "max", "first", "last", "min_row", "max_row")
"""References to a column: the smallest, largest, first and last cell, and the rows of the former two."""


class Verdict(NamedTuple):
    """A verdict with what the cells say, a sentence after it, and a reason if the claim cannot be tested."""

    verdict: str
    answer: str = ""
    sentence: str = ""
    reason: str = ""


def verdict(
    exhibit: Exhibit, cells: pandas.DataFrame, missing: Mapping[tuple[str, str, str], str] | None = None
) -> Verdict:
    """Return the verdict on an exhibit's claim.

    ``cells`` are those of `reports.papers.cells.exhibit_frame`, ``missing`` has reasons for missing runs by exhibit,
    row and column.
    """
    if (cells["source"] == "paper").all() and exhibit.checks:
        return Verdict(NOT_RUN)
    results = [(check, _result(check, cells)) for check in exhibit.checks]
    columns = {one.key: ColumnReference(cells[cells["column"] == one.key]) for one in exhibit.columns}
    answer = fill(exhibit.answer, columns)
    if any(result is False for _, result in results):
        return Verdict(FAILS, answer, fill(exhibit.fails, columns))
    absent = [check for check, result in results if result is None]
    if any(result == UNDECIDED for _, result in results):
        return Verdict(UNDECIDED, answer)
    if absent or not results:
        why = [reason for check in absent for reason in _reasons(exhibit, check, missing or {})]
        return Verdict(UNTESTED, answer, "", next(filter(None, [exhibit.untested, *why, NO_CELLS * bool(absent)]), ""))
    return Verdict(HOLDS, answer, fill(exhibit.holds, columns))


def _reasons(exhibit: Exhibit, check: Check, missing: Mapping[tuple[str, str, str], str]) -> Iterator[str]:
    """Yield the reasons for missing runs of a check's column, then of those that it is compared with or over."""
    keys = [key for key in (check.column, check.than) if key]
    keys += [base for key in keys if (base := exhibit.column(key).over)]
    for wanted in keys:
        for (name, row, key), reason in missing.items():
            if (name, key) == (exhibit.name, wanted) and (not check.rows or row in check.rows):
                yield reason


# --- checks ---


def _result(check: Check, cells: pandas.DataFrame) -> bool | str | None:
    """Return the result of a check; None without the cells for it, `UNDECIDED` if intervals contain both results."""
    own, base = (_ends(cells, key, check.rows) for key in (check.column, check.than or check.column))
    results = {_holds(check, own[end], base[other]) for end, other in ENDS}
    if None in results:
        return None
    if len(results) > 1 and check.rule in LEAST:
        clearer = replace(check, value=check.value * LEAST[check.rule])
        results = {_holds(clearer, own[end], base[other]) for end, other in ENDS}
    return results.pop() if len(results) == 1 else UNDECIDED


def _holds(check: Check, own: Mapping[str, float], base: Mapping[str, float]) -> bool | None:
    """Return the result of a check for one choice of the cells' values; None without the cells for it."""
    if check.rule in ("grows", "falls"):
        last, first = [*own.values()][-1:], [*base.values()][:1]
        if len(own) < 2:
            return None
        return last > first if check.rule == "grows" else last < first
    pairs = [(value, base[row] if check.than else 1.0) for row, value in own.items() if row in base]
    if not pairs:
        return None
    if check.rule == "reaches":
        return max(value for value, _ in pairs) >= check.value * max(other for _, other in pairs)
    right = [RULES[check.rule](value, other, check.value) for value, other in pairs]
    return sum(right) >= check.share * len(right)


RULES: dict[str, Callable[[float, float, float], bool]] = {
    "above": lambda value, other, factor: value > factor * other,
    "below": lambda value, other, factor: value < factor * other,
    "near": lambda value, other, factor: min(value, other) > 0 and max(value / other, other / value) <= factor,
}


def _ends(cells: pandas.DataFrame, key: str, rows: tuple[str, ...] = ()) -> dict[str, dict[str, float]]:
    """Return the numbers of a column by row, in the order of the exhibit's rows, and the ends of their intervals."""
    chosen = cells[(cells["column"] == key) & cells["value"].notna()]
    chosen = chosen[chosen["row"].isin(rows)] if rows else chosen
    chosen = chosen.set_index("row")[["value", "low", "high"]].astype(float)
    return {end: chosen[end].fillna(chosen["value"]).to_dict() for end in chosen}


# --- sentences with references ---


class MissingCellError(LookupError):
    """A reference to a cell without a figure."""


class ColumnReference:
    """A column in a sentence: `{KEY.min}`, `{KEY[ROW]}`. Raises `MissingCellError` without such a cell."""

    def __init__(self, cells: pandas.DataFrame) -> None:
        self.cells = cells

    def __getitem__(self, row: object) -> str:
        return self._text(self.cells[self.cells["row"] == str(row)], 0)

    def __getattr__(self, name: str) -> str:
        if name not in AGGREGATES:
            raise AttributeError(name)
        numbers = self.cells[self.cells["value"].notna()]
        if name in ("first", "last"):
            return self._text(numbers, 0 if name == "first" else -1)
        ordered = numbers.sort_values("value", kind="stable")
        return self._text(ordered, 0 if name.startswith("min") else -1, "row" if name.endswith("_row") else "figure")

    @staticmethod
    def _text(cells: pandas.DataFrame, place: int, what: str = "figure") -> str:
        if cells.empty:
            raise MissingCellError
        return str(cells[what].iloc[place])


def fill(template: str, columns: Mapping[str, ColumnReference]) -> str:
    """Return the sentences of a text with the figures of their references, without those that lack a cell.

    A range of equal ends is one figure.
    """
    filled = []
    for sentence in END_OF_SENTENCE.split(template):
        with suppress(MissingCellError):
            filled.append(re.sub(rf"(?<!\S)(\S+) to \1{END_OF_WORD}", r"\1", sentence.format_map(columns)))
    return " ".join(filled)


def references(template: str) -> Iterator[tuple[str, str, str]]:
    """Yield the references of a sentence: column, row, aggregate; one of the latter two is empty.

    Raises `ValueError` for a template that is no format string.
    """
    for _, field, _, _ in Formatter().parse(template):
        if field is not None:
            key, _, rest = field.partition("[") if "[" in field else (field, "", "")
            column, _, aggregate = key.rpartition(".") if not rest else (key, "", "")
            yield column, rest.removesuffix("]"), aggregate
