"""Overview of many workloads: the runs of each on every device, with notes on doubtful figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from reports.comparison.cautions import (
    BASELINE_PREFIX,
    DOUBTFUL,
    FEW_REPETITIONS,
    OTHER_PROGRAMS,
    Caution,
    cautions,
    is_short,
)
from reports.comparison.machines import describe_machines
from reports.comparison.speedups import ComparedRun, ComparedRuns, NotRun
from reports.text.formatting import ratio, seconds, span

MISSING = "n/a"
SHORT_BASELINE = "less than a second on one core, so launches and copies weigh as much as the work"
EVERY_RUN = "every run"
UNITS = ((1e12, "T "), (1e9, "G "), (1e6, "M "), (1e3, "k "), (0.0, ""))


@dataclass(frozen=True)
class OverviewRow:
    """A workload and its runs on each device.

    Attributes
    ----------
    comparison
        Its runs side by side; None without comparable runs.
    not_run
        Configurations that did not run or were refused, with the reasons.
    refused
        Reason for a missing comparison: no runs, unequal work, or no confirmed result.
    why
        Reason for this work, a sentence without its full stop; empty if the overview has one for all.
    """

    workload: str
    title: str
    comparison: ComparedRuns | None
    not_run: tuple[NotRun, ...] = ()
    refused: str = ""
    why: str = ""

    @property
    def rows(self) -> tuple[ComparedRun, ...]:
        return self.comparison.rows if self.comparison else ()

    def on(self, device: str) -> ComparedRun | None:
        return next((row for row in self.rows if row.name == device), None)

    @property
    def baseline(self) -> ComparedRun | None:
        return self.comparison.baseline if self.comparison else None

    @property
    def instance(self) -> str:
        return self.comparison.work.instance if self.comparison else ""

    @property
    def work(self) -> str:
        """Amount of work in the workload's unit: on one core, or on the first device."""
        if self.comparison is None:
            return ""
        record = (self.baseline or self.comparison.rows[0]).record
        scale, prefix = next(unit for unit in UNITS if record.evaluations >= unit[0])
        return f"{record.evaluations / (scale or 1):.3g} {prefix}{record.evaluation_unit}"

    def failures(self) -> Iterator[str]:
        """Yield configurations without a valid run and the reasons, one a line."""
        if self.refused:
            yield f"{self.workload}: {self.refused}"
        for failure in (*(self.comparison.not_run if self.comparison else ()), *self.not_run):
            yield f"{self.workload} on {failure}"


@dataclass(frozen=True)
class Overview:
    """All workloads; `not_here` has the devices of no workload, with reasons, `why` a reason for these works."""

    lines: tuple[OverviewRow, ...]
    not_here: tuple[NotRun, ...] = ()
    why: str = ""

    @property
    def rows(self) -> list[ComparedRun]:
        return [row for line in self.lines for row in line.rows]

    @property
    def devices(self) -> dict[str, str]:
        """Names of the columns, in running order but one rank before several, with descriptions."""
        ordered = sorted(self.rows, key=lambda row: row.record.ranks)
        return {row.name: row.device_name for row in ordered}

    @property
    def repetitions(self) -> str:
        counts = sorted({row.running.repetitions for row in self.rows})
        number = span(str(counts[0]), str(counts[-1]))
        return "one repetition" if number == "1" else f"{number} repetitions"

    @property
    def machines(self) -> list[str]:
        return describe_machines(row.record for row in self.rows)

    @cached_property
    def cautions(self) -> dict[str, list[Caution]]:
        nearby = [row.record for row in self.rows]
        return {line.workload: cautions(line.comparison, nearby) for line in self.lines if line.comparison}

    @property
    def disturbed(self) -> str:
        """Highest load of other programs before a run, if too high; else empty."""
        disturbances = [
            note for notes in self.cautions.values() for note in notes if note.text.startswith(OTHER_PROGRAMS)
        ]
        loads = [figure for disturbance in disturbances for figure in disturbance.figures.values()]
        return f"disturbed: load {max(loads, key=lambda figure: float(figure.split()[0]))}" if loads else ""

    def failures(self) -> Iterator[str]:
        yield from map(str, self.not_here)
        for line in self.lines:
            yield from line.failures()

    def doubts(self, line: OverviewRow, row: ComparedRun) -> dict[str, str]:
        assert line.comparison is not None
        label = line.comparison.label(row)
        doubts = {note.text: note.figures[label] for note in self.cautions[line.workload] if label in note.figures}
        if row.base is not None and is_short(row):
            doubts[SHORT_BASELINE] = seconds(row.baseline_s or 0.0)
        return doubts

    def words(self, line: OverviewRow, row: ComparedRun | None) -> tuple[str, str]:
        """A run's time and ratio as text, each with a mark if a note warns of it."""
        if row is None:
            return MISSING, ""
        doubts = self.doubts(line, row).keys() - {FEW_REPETITIONS}
        of_time = not all(map(_is_of_ratio, doubts))
        time, over = seconds(row.median_s), ratio(row.speedup)
        return time + DOUBTFUL * of_time, over + DOUBTFUL * bool(doubts and over)

    @property
    def notes(self) -> list[str]:
        """Cautions with the affected runs, or with the workloads that have affected ratios."""
        notes: dict[str, list[tuple[str, str]]] = {}
        for line in self.lines:
            for row in line.rows:
                for text, figure in self.doubts(line, row).items():
                    who = line.workload if _is_of_ratio(text) else f"{row.name} on {line.workload}"
                    notes.setdefault(text, []).append((who, figure))
        for text, affected in notes.items():
            figures = {figure for _, figure in affected}
            if len(affected) == len(self.rows) > 1 and len(figures) == 1:
                notes[text] = [(EVERY_RUN, figure) for figure in figures]
        return [
            f"{text}: {'; '.join(dict.fromkeys(f'{who} {figure}'.rstrip() for who, figure in affected))}"
            for text, affected in notes.items()
        ]


def _is_of_ratio(text: str) -> bool:
    return text == SHORT_BASELINE or text.startswith(BASELINE_PREFIX)
