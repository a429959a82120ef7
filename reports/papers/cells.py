"""Cells of a paper's exhibit as a data frame: published figures, our runs, and what is computed from both."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from reports.papers.measures import MEASURES, PaperRun, amount_multiple, peer_seconds
from reports.papers.modelled import modelled_seconds
from reports.papers.paper import Column, Exhibit, ExhibitRow, Paper
from reports.papers.placement import run_choice
from reports.rates import is_measured, rates_of_groups
from reports.records import frame
from reports.records.environment import host_of
from reports.records.files import Record, families, group_by, merge, require_equal_work
from reports.statistics.medians import Estimate
from reports.text.formatting import deviation, grouped, number

if TYPE_CHECKING:
    import pandas

NARROW = 0.02
"""Half width of an interval, relative to its value, that a cell does not print."""
NARROW_RATIO = 0.03
"""The same of a ratio: that of two rates with `NARROW` half widths has one of at most 2.83 %."""
WIDEST = 1.0
"""Half width above which a cell has the ends of the interval instead of a figure."""
LINEAR_SPACE = "linear space"
"""Method of a longest common subsequence that may find another one of the same length: not equal work."""
FIELDS = (
    *("row", "column", "source", "value", "low", "high", "figure", "text", "workload", "instance", "backend"),
    *("device_kind", "device", "ranks", "repetitions", "others_cores", "hash", "host", "commit", "records", "run"),
)
"""Columns of `exhibit_frame`."""


def runs_of(paper: Paper, records: Iterable[Record]) -> list[PaperRun]:
    """Return the confirmed runs of a paper's workloads on the host of the newest one, seeds of a run together.

    The newest run is first. Raises `UnequalWorkError` if repetitions of a run, or runs of the same instance, seed and
    parameters, did unequal work.
    """
    confirmed = [
        record
        for record in merge(records)
        if record.workload in paper.workloads() and record.verified and is_measured(record)
    ]
    for alike in group_by(confirmed, _work_of):
        require_equal_work(alike)
    groups = families(confirmed)
    listed = [record for group in groups for record in group]
    if not listed:
        return []
    names = [str(number) for number, group in enumerate(groups) for _ in group]
    rates = rates_of_groups(frame.frame(listed), names)
    runs = [PaperRun(group, rates.loc[str(number)]) for number, group in enumerate(groups)]
    runs.sort(key=lambda run: run.started_at, reverse=True)
    host = host_of(runs[0].record.environment)
    return [run for run in runs if host_of(run.record.environment) == host]


def exhibit_frame(paper: Paper, exhibit: Exhibit, runs: Sequence[PaperRun]) -> pandas.DataFrame:
    """Return a row for each filled cell of our table, hidden columns too.

    Columns: `row`, `column` (its key), `source` (paper, ours, model, or peer), `value`, `low`, `high` (missing for a
    text), `figure` (its text), `text` (with an interval beyond ±2 %), facts of the run, and `run` (a `PaperRun`, or
    None). Both texts are the ends of an interval beyond ±100 %. A ratio of unequal work has no cell.
    """
    import pandas

    cells = _Cells(paper, exhibit, runs)
    return pandas.DataFrame([*cells.all()], columns=[*FIELDS]).astype({"value": float, "low": float, "high": float})


def published_figure(exhibit: Exhibit, row: ExhibitRow, key: str, part: str) -> Any:
    """Return a published number or text of a row, by the key of its column and the name of a part; None if absent."""
    for column, figure in zip(exhibit.published, row.figures, strict=False):
        if column.key == key:
            place = column.holds.index(part) if part else 0
            return figure[place] if place < len(figure) and figure[place] != "" else None
    return None


def as_number(figure: float | str) -> float | None:
    """Return a published figure as a number; None for a text."""
    try:
        return float(figure)
    except (TypeError, ValueError):
        return None


class _Cells:
    """Makes the cells of an exhibit from the runs of a page."""

    def __init__(self, paper: Paper, exhibit: Exhibit, runs: Sequence[PaperRun]) -> None:
        self.paper, self.exhibit = paper, exhibit
        self.backends = Counter(run.record.backend for run in runs)
        # Of each cell, the newest first.
        self.placed = {
            (row.name, column.key): [run for run in runs if choice is not None and choice.has(run.record)]
            for row, column in product(exhibit.rows, exhibit.columns)
            for choice in [run_choice(paper, exhibit, row, column)]
        }

    def all(self) -> Iterator[tuple[Any, ...]]:
        for row in self.exhibit.rows:
            for column in self.exhibit.columns:
                if not column.rows or row.name in column.rows:
                    yield from self.cell(row, column)

    def cell(self, row: ExhibitRow, column: Column) -> Iterator[tuple[Any, ...]]:
        """Yield the cell of a row and a column, if it has one."""
        run, found = self.measured(row, column) if column.series else (None, self.of_paper(row, column))
        if found is None:
            return
        source = "paper" if not column.series else "peer" if column.peer else "model" if column.model else "ours"
        if isinstance(found, str):
            yield (row.name, column.key, source, None, None, None, found, found, *_facts(run))
            return
        figure = self.figure(row, column, found.value)
        text = f"{figure} {deviation(found, NARROW_RATIO if column.over else NARROW)}".strip()
        if found.low is not None and found.high is not None and (found.half_width or 0.0) > WIDEST:
            figure = text = " to ".join(self.figure(row, column, end) for end in (found.low, found.high))
        facts = _facts(run, is_peer=bool(column.peer))
        yield (row.name, column.key, source, found.value, found.low, found.high, figure, text, *facts)

    def figure(self, row: ExhibitRow, column: Column, value: float) -> str:
        if column.published and not column.over:
            return grouped(published_figure(self.exhibit, row, column.published, column.part))
        form = MEASURES[column.measure].form if column.series and not column.over else number
        return form(value)

    def of_paper(self, row: ExhibitRow, column: Column) -> Estimate | str | None:
        """Return a published figure, or the number of another column divided by it."""
        printed = published_figure(self.exhibit, row, column.published, column.part)
        own = None if (value := as_number(printed)) is None else Estimate(value)
        if column.over:
            return _quotient(self.number(row, self.exhibit.column(column.over)), own)
        return own or printed

    def measured(self, row: ExhibitRow, column: Column) -> tuple[PaperRun | None, Estimate | str | None]:
        """Return the run of a cell and its number."""
        if not (runs := self.candidates(row, column)):
            return None, None
        if column.peer:
            seconds = peer_seconds(runs[0].record, column.peer) or 0.0
            found: Estimate | None = Estimate(seconds * (1e3 if column.measure == "milliseconds" else 1.0))
        elif column.model:
            found = modelled_seconds(runs[0], self.exhibit, column.model)
        else:
            base = self.exhibit.column(column.over) if column.over else None
            if base is not None and base.series and not base.peer and not base.model:
                return self.over_run(row, runs, base)
            found = MEASURES[column.measure].of(runs[0], self.exhibit)
        if column.over:
            found = _quotient(self.number(row, self.exhibit.column(column.over)), found)
        return runs[0], found

    def number(self, row: ExhibitRow, column: Column) -> Estimate | None:
        found = self.measured(row, column)[1] if column.series else self.of_paper(row, column)
        return found if isinstance(found, Estimate) else None

    def over_run(self, row: ExhibitRow, runs: Sequence[PaperRun], base: Column) -> tuple[PaperRun, Estimate | None]:
        """Return the first run with a base of equal work, and its rate divided by the base's."""
        bases = self.candidates(row, base)
        for run in runs:
            for other in bases:
                if _proved_work(run) == _proved_work(other):
                    if run is other:
                        return run, Estimate(1.0)
                    above, below = run.rates().scaled(1 / run.amount), other.rates().scaled(1 / other.amount)
                    return run, _quotient(above, below)
        return runs[0], None

    def candidates(self, row: ExhibitRow, column: Column) -> list[PaperRun]:
        """Return the runs of a cell in the order of preference, of another solver those that have its time.

        First are those of the series' first kind of device, on the backend with the most runs of the page, with the
        work that most columns of the row have, with a proof nearest to the paper's amount, and the newest ones.
        """
        kinds = self.paper.series[column.series].kinds
        works = Counter(chain(*({*map(_proved_work, self.placed[row.name, one.key])} for one in self.exhibit.columns)))

        def rank(run: PaperRun) -> tuple[float, ...]:
            kind, backend = kinds.index(run.record.device_kind), self.backends[run.record.backend]
            return kind, -backend, -works[_proved_work(run)], self.distance(run)

        runs = self.placed[row.name, column.key]
        return sorted((run for run in runs if not column.peer or peer_seconds(run.record, column.peer)), key=rank)

    def distance(self, run: PaperRun) -> float:
        """Return the distance of a proof's amount from the paper's: the size of the ratio's logarithm."""
        multiple = amount_multiple(run, self.exhibit)
        return math.inf if multiple is None else abs(math.log(multiple))


def _proved_work(run: PaperRun) -> str:
    """Return what is equal in runs of equal work, as a text that a counter takes."""
    return repr([*map(_work_of, run.records)])


def _work_of(record: Record) -> list[Any]:
    """Return what is equal in records of equal work."""
    is_linear = record.details.get("method") == LINEAR_SPACE
    return [record.workload, record.instance_sha256, record.seed, sorted(record.parameters.items()), is_linear]


def _quotient(above: Estimate | None, below: Estimate | None) -> Estimate | None:
    """Return a ratio; its interval has the roots of the sums of squares of both sides' relative widths."""
    if above is None or below is None or not below.value:
        return None
    if above.low is None and below.low is None:
        return Estimate(above.value / below.value)
    (low, high), (least, most) = ((one.low or one.value, one.high or one.value) for one in (above, below))
    ratio = above.value / below.value
    fall = math.hypot(1 - low / above.value, 1 - below.value / most)
    rise = math.hypot(high / above.value - 1, below.value / least - 1)
    return Estimate(ratio, max(0.0, ratio * (1 - fall)), ratio * (1 + rise))


def _facts(run: PaperRun | None, *, is_peer: bool = False) -> tuple[Any, ...]:
    """Return the facts of a cell's run, see `FIELDS`; another solver has no repetitions of the run."""
    if run is None:
        return (None,) * 13
    record, where = run.record, run.record.environment
    facts = record.workload, record.instance, record.backend, record.device_kind, device_text(record), record.ranks
    load, hashes = run.rate["others_cores"], " ".join(one.hash for one in run.records)
    rows = " ".join(one.origin.rpartition(":")[2] for one in run.records)
    repetitions = None if is_peer else int(run.rate["repetitions"])
    return (*facts, repetitions, load, hashes, where.get("host"), where.get("commit"), rows, run)


# --- devices ---


def device_text(record: Record) -> str:
    """Return the device of a run: one core, 16 cores, 16 ranks, H200, 4 H200."""
    ranks, cores = record.ranks, record.cores_per_rank
    if record.device_kind == "gpu":
        name = gpu_name(str(record.details.get("device_name") or record.backend))
        return f"{ranks} {name}" if ranks > 1 else name
    own = "" if record.device_kind == "core" else f"{cores} cores" if cores else "all cores"
    if ranks > 1:
        return f"{ranks} ranks" + (f" of {own}" if own else "")
    return own or "one core"


def gpu_name(name: str) -> str:
    """Return a GPU's name without its maker and memory: H100 for NVIDIA H100 80GB HBM3."""
    return re.sub(r"^(NVIDIA|AMD|Intel(\(R\))?) (Tesla )?| \d+ ?G[Bi]+\b.*| (PCIe|SXM\d?)\b.*", "", name).strip()
