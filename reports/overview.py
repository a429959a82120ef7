"""Every workload on every device: a table, the same for a terminal, and a heat map of the speed-ups over one core.

The picture is that of A. N. Ziogas et al.: NPBench, a benchmarking suite for high-performance NumPy. ICS 2021.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports import twelve_rules
from reports.comparison import Comparison, NotRun, Row
from reports.wording import cell, machine, ratio, seconds

NAME = "overview"
FORMATS = ("svg", "png")
MISSING = "n/a"
WIDTH = 80
"""Of a terminal."""
FIRST = 18
"""Of its first column at most."""

COLOURS = "PuOr"
"""ColorBrewer's map from orange (slower) over white to purple (faster), told apart by the colour-blind too."""
GREY = "#808080"
"""Of what stands outside the cells: it is read on white and on black, and the ground is transparent."""
NO_COLOUR = "#b0b0b0"
"""Of a cell without a speed-up."""
LEAST_DECADES = 1.0
"""How far the scale reaches from 1 on either side at least, so that small differences look small."""

UNITS = ((1e12, "T "), (1e9, "G "), (1e6, "M "), (1e3, "k "), (0.0, ""))


@dataclass(frozen=True)
class Line:
    """A workload: what it did on each device.

    Attributes
    ----------
    workload, title : str
        Its name, and what it is; records alone do not say the latter.
    comparison : Comparison, optional
        Its runs side by side; None where there is nothing to compare.
    not_run : tuple of NotRun
        What ran nowhere or was refused, and why.
    refused : str
        Why there is nothing to compare: nothing ran, the runs did different work, or nobody confirmed them.

    """

    workload: str
    title: str
    comparison: Comparison | None
    not_run: tuple[NotRun, ...] = ()
    refused: str = ""

    def on(self, device: str) -> Row | None:
        """The run on a device, by `Row.name`."""
        rows = self.comparison.rows if self.comparison else ()
        return next((row for row in rows if row.name == device), None)

    @property
    def baseline(self) -> Row | None:
        """The run on one core."""
        return self.comparison.baseline if self.comparison else None

    @property
    def instance(self) -> str:
        """What was solved; empty where nothing was."""
        return self.comparison.work.instance if self.comparison else ""

    @property
    def work(self) -> str:
        """How much work it is, in the workload's unit: on one core, or on the first device."""
        if self.comparison is None:
            return ""
        record = (self.baseline or self.comparison.rows[0]).record
        scale, prefix = next(one for one in UNITS if record.evaluations >= one[0])
        return f"{record.evaluations / (scale or 1):.3g} {prefix}{record.unit}"

    def failures(self) -> Iterator[str]:
        """What did not run, or does not count, and why, a line each."""
        if self.refused:
            yield f"{self.workload}: {self.refused}"
        for one in (*(self.comparison.not_run if self.comparison else ()), *self.not_run):
            yield f"{self.workload} on {one}"


@dataclass(frozen=True)
class Overview:
    """All workloads.

    Attributes
    ----------
    lines : tuple of Line
    not_here : tuple of NotRun
        Devices that no workload ran on, and why.

    """

    lines: tuple[Line, ...]
    not_here: tuple[NotRun, ...] = ()

    @property
    def rows(self) -> list[Row]:
        """All runs."""
        return [row for line in self.lines if line.comparison for row in line.comparison.rows]

    @property
    def devices(self) -> dict[str, str]:
        """The names of the columns, in the order in which they ran but one rank before several, and what each is."""
        ordered = sorted(self.rows, key=lambda row: row.record.ranks)
        return {row.name: row.device_name for row in ordered}

    @property
    def repetitions(self) -> str:
        """How many repetitions a time is the median of, in words."""
        counts = sorted({row.running.repetitions for row in self.rows})
        number = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        return "one repetition" if number == "1" else f"{number} repetitions"

    @property
    def machines(self) -> list[str]:
        """Where the runs were, in words."""
        return list(dict.fromkeys(machine(row.record.environment) for row in self.rows))

    @property
    def notes(self) -> list[str]:
        """What makes figures doubtful, and whose."""
        said: dict[str, list[str]] = {}
        for line in self.lines:
            for row in line.comparison.rows if line.comparison else ():
                for label in row.labels:
                    said.setdefault(f"{row.name}: {label}", []).append(line.workload)
        return [f"{label} ({', '.join(names)})" for label, names in said.items()]


# --- Markdown ---


def render(overview: Overview, picture: str | None = None, made_by: str = "") -> str:
    """Return the report's text.

    Parameters
    ----------
    overview
        With at least one run.
    picture : str, optional
        Address of the heat map, relative to the report.
    made_by : str, optional
        The command line that made the records.

    """
    devices = overview.devices
    headings = ["workload", "instance", "work", *devices]
    table = [headings, ["---", "---", "---:", *["---:"] * len(devices)]]
    for line in overview.lines:
        cells = [_in_markdown(line.on(device)) for device in devices]
        table.append([line.workload, line.instance or MISSING, line.work or MISSING, *cells])
    text = ["# Every workload on everything here", "", *([f"Made by `{made_by}`.", ""] if made_by else [])]
    if picture:
        text += [f"![Speed-up over one core, workload by device]({picture})", ""]
    text += ["| " + " | ".join(map(cell, row)) + " |" for row in table]
    text += [
        "",
        f"Each cell has the median time of {overview.repetitions} from end to end, without compilation, and how many "
        f"times faster that is than one core; {MISSING}: no run. All runs of a workload did the same work: "
        "their hashes are equal, and a plain scorer confirmed what they found.",
        "",
    ]
    text += ["## Workloads", "", *(f"- **{line.workload}**: {_about(line)}." for line in overview.lines), ""]
    text += ["## Devices", "", *(f"- **{name}**: {what}." for name, what in devices.items())]
    text += [f"- Machine: {one}." for one in overview.machines]
    if overview.notes:
        text += ["", "## Notes", "", *(f"- {note}." for note in overview.notes)]
    failures = list(_failures(overview))
    if failures:
        text += ["", "## Not run", "", *(f"- {failure}." for failure in failures)]
    text += ["", _rules(overview, picture).rstrip()]
    return "\n".join(text) + "\n"


def _rules(overview: Overview, picture: str | None) -> str:
    """The twelve rules of Hoefler and Belli, as far as the records and the overview keep them."""
    said = twelve_rules.Shown(
        reasons="the instance that each workload is tried on unless another is asked for",
        figures=["Speed-up over one core, workload by device"] if picture else [],
        extremes="",
    )
    comparisons = [line.comparison for line in overview.lines if line.comparison]
    return twelve_rules.in_markdown(twelve_rules.rules_of(comparisons, said))


def _about(line: Line) -> str:
    if line.comparison is None:
        return line.title or line.refused
    work = line.comparison.work
    title = f"{line.title}; " if line.title else ""
    return f"{title}{line.work}, best {work.best_cost}, hash `{work.trajectory_hash}`"


def _failures(overview: Overview) -> Iterator[str]:
    yield from map(str, overview.not_here)
    for line in overview.lines:
        yield from line.failures()


def _in_markdown(row: Row | None) -> str:
    if row is None:
        return MISSING
    time = seconds(row.running.median.value) + "*" * bool(row.labels)
    return f"{time}, {ratio(row.speedup)}" if row.speedup else time


# --- the terminal ---


def plain_text(overview: Overview, width: int = WIDTH) -> str:
    """The table for a terminal: two lines a workload, times above speed-ups; columns that do not fit stand below."""
    devices = list(overview.devices)
    cells = {(line.workload, name): _two_lines(line.on(name)) for line in overview.lines for name in devices}
    lefts = [text for line in overview.lines for text in (line.workload, f"  {line.instance}")]
    first = min(max(map(len, lefts)), FIRST) + 1
    headings = {name: _halves(name) for name in devices}
    wide = 2 + max(len(text) for pair in (*cells.values(), *headings.values()) for text in pair)
    fitting = max(1, (width - first) // wide)
    blocks = []
    for begin in range(0, max(1, len(devices)), fitting):
        shown = devices[begin : begin + fitting]
        block = [
            (" " * first + "".join(headings[name][part].rjust(wide) for name in shown)).rstrip() for part in (0, 1)
        ]
        for line in overview.lines:
            for left, part in ((line.workload, 0), (f"  {line.instance}", 1))[: 2 if line.comparison else 1]:
                values = "".join(cells[line.workload, name][part].rjust(wide) for name in shown)
                block.append((_shortened(left, first - 1).ljust(first) + values).rstrip())
        blocks.append("\n".join(one for one in block if one))
    said = [f"note: {note}" for note in overview.notes] + [f"not run: {one}" for one in _failures(overview)]
    said = [textwrap.fill(one, width, subsequent_indent="  ") for one in said]
    return "\n".join(["\n\n".join(blocks), *([""] if said else []), *said])


def _halves(name: str) -> tuple[str, str]:
    """A device's name above its ranks."""
    device, _, ranks = name.partition(", ")
    return device, ranks


def _two_lines(row: Row | None) -> tuple[str, str]:
    if row is None:
        return MISSING, ""
    return seconds(row.running.median.value) + "*" * bool(row.labels), ratio(row.speedup)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


# --- the heat map ---


def draw(overview: Overview, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Draw the speed-ups, workload by device, into a folder.

    The colour is the logarithm of the speed-up over one core, as far on one side of 1 as on the other.

    Returns
    -------
    list of Path
        The files written, in the order of the formats; empty where no run has a speed-up or matplotlib is not
        installed.

    """
    if not any(row.speedup for row in overview.rows):
        return []
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    # Equal overviews must give equal files: no date, no random ids, text as text.
    matplotlib.rcParams.update({"svg.hashsalt": "onekernel", "svg.fonttype": "none"})
    from matplotlib import pyplot

    size = 2.6 + 0.95 * max(2, len(overview.devices)), 1.6 + 0.5 * len(overview.lines)
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    _fill(figure, axes, overview)
    written = []
    for form in formats:
        path = folder / f"{NAME}.{form}"
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(path, dpi=150, metadata=metadata, transparent=True)
        written.append(path)
    pyplot.close(figure)
    return written


def _fill(figure: Any, axes: Any, overview: Overview) -> None:
    from matplotlib import cm, colors

    devices = overview.devices
    decades = [abs(math.log10(row.speedup.value)) for row in overview.rows if row.speedup]
    reach = max([LEAST_DECADES, *decades])
    scale = cm.ScalarMappable(colors.Normalize(-reach, reach), COLOURS)
    for down, line in enumerate(overview.lines):
        for right, name in enumerate(devices):
            _draw_cell(axes, scale, line.on(name), right, down)
    axes.set_xlim(-0.5, len(devices) - 0.5)
    axes.set_ylim(len(overview.lines) - 0.5, -0.5)
    axes.set_xticks(range(len(devices)), ["\n".join(filter(None, _halves(name))) for name in devices])
    named = [f"{line.workload}\n{_shortened(line.instance, 24)}".rstrip() for line in overview.lines]
    axes.set_yticks(range(len(overview.lines)), named)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8, labelcolor=GREY)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(scale, ax=axes, orientation="horizontal", aspect=40, pad=0.03)
    whole = range(-math.floor(reach), math.floor(reach) + 1)
    bar.set_ticks(list(whole), labels=[ratio_of_ten(power) for power in whole])
    bar.ax.tick_params(labelsize=8, labelcolor=GREY, color=GREY)
    bar.outline.set_visible(False)
    bar.set_label("speed-up over one core\n(below it: median time)", fontsize=8, color=GREY)


def _draw_cell(axes: Any, scale: Any, row: Row | None, right: int, down: int) -> None:
    from matplotlib.patches import Rectangle

    at = right - 0.48, down - 0.47
    if row is None:
        axes.add_patch(Rectangle(at, 0.96, 0.94, facecolor="none", edgecolor=GREY, linewidth=0.6, linestyle=":"))
        axes.text(right, down, MISSING, ha="center", va="center", fontsize=8, color=GREY)
        return
    ground = scale.to_rgba(math.log10(row.speedup.value)) if row.speedup else NO_COLOUR
    axes.add_patch(Rectangle(at, 0.96, 0.94, facecolor=ground, edgecolor="none"))
    ink = _ink(ground)
    time = seconds(row.running.median.value) + "*" * bool(row.labels)
    if not row.speedup:
        axes.text(right, down, time, ha="center", va="center", fontsize=8, color=ink)
        return
    axes.text(right, down - 0.14, ratio(row.speedup), ha="center", va="center", fontsize=9, weight="bold", color=ink)
    axes.text(right, down + 0.24, time, ha="center", va="center", fontsize=6.5, color=ink)


def ratio_of_ten(power: int) -> str:
    """A power of ten as a speed-up: 0.01x, 1x, 1,000x."""
    return f"{10**power:,}x" if power >= 0 else f"{10.0**power:.{-power}f}x"


def _ink(ground: Any) -> str:
    """Black or white, whichever is read better on a colour (relative luminance of the sRGB standard, IEC 61966-2-1)."""
    from matplotlib import colors

    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colors.to_rgb(ground)]
    luminance = sum(share * x for share, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    # Where the contrasts (L + 0.05) / 0.05 and 1.05 / (L + 0.05) are equal.
    return "black" if luminance > 0.179 else "white"


# --- files ---


def remove(folder: Path) -> None:
    """Remove an earlier overview, but not its records.

    Raises
    ------
    OSError
        The system refuses.

    """
    for form in ("md", *FORMATS):
        (folder / f"{NAME}.{form}").unlink(missing_ok=True)


def write(overview: Overview, folder: Path, made_by: str = "", formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the report, and the heat map where matplotlib is and one core ran; returns the files, the report first.

    Raises
    ------
    UserError
        The folder cannot be written.

    """
    report = folder / f"{NAME}.md"
    try:
        drawn = draw(overview, folder, formats)
        report.write_text(render(overview, drawn[0].name if drawn else None, made_by), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{folder}: cannot write the overview: {error.strerror}") from None
    return [report, *drawn]
