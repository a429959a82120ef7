"""Page of the cluster model, as text and tables; every figure is marked as modelled.

The model is `cluster.model.run_time`, the figures are made by `drivers.cluster_programs.model`; here are only the
pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from core.errors import UserError
from reports.comparison.modelled_runs import ModelCheck, Modelled, ModelledCost, ModelledInstance
from reports.text.formatting import grouped, number, per_cent, ratio, seconds
from reports.text.tables import TextTable

NAME = "cluster-model"


@dataclass(frozen=True)
class ClusterModelPage:
    """All of the report.

    Attributes
    ----------
    workload, made_by : str
    calibration : tuple of str
        Sentences: what measured the core and the GPU, and what ranks do not share.
    networks : Table
    subjects : tuple of Subject
    sizes, published : tuple of Table
        From which size ranks beat the GPU; a paper's tables as modelled.
    spent : tuple of (str, tuple of Spent)
        By what was run, in words.

    """

    workload: str
    made_by: str
    calibration: tuple[str, ...]
    networks: TextTable
    subjects: tuple[ModelledInstance, ...]
    sizes: tuple[TextTable, ...] = ()
    published: tuple[TextTable, ...] = ()
    spent: tuple[tuple[str, tuple[ModelledCost, ...]], ...] = ()
    pictures: tuple[Path, ...] = ()


LIMITS = (
    "Ranks begin an iteration together and are equally fast: delays by the operating system are not modelled.",
    "A message costs alpha + beta * bytes. Messages that leave a host together share its bandwidth.",
    "Cores of a host slow each other down only if a measurement says so; otherwise they share no bandwidth.",
    "Times between recorded sizes are interpolated linearly in logarithms; beyond them, time grows with the work.",
)


def render(page: ClusterModelPage) -> str:
    """The report's text."""
    return "\n".join(lines(page)) + "\n"


def lines(page: ClusterModelPage) -> Iterator[str]:
    """The report, line by line."""
    yield from (f"# {page.workload} on clusters, as modelled", "")
    if page.made_by:
        yield from (f"Made by `{page.made_by}`.", "")
    yield from ("Every figure below is **modelled** unless it is called published or measured.", "")
    yield from (f"- {sentence}" for sentence in page.calibration)
    yield from ("", f"## {page.networks.caption}", "", str(page.networks), "")
    for subject in page.subjects:
        yield from instance_lines(subject)
    for picture in page.pictures:
        yield from (f"![Speed-up and efficiency against ranks, modelled]({picture.name})", "")
    for table in (*page.sizes, *page.published):
        yield from (f"## {table.caption}", "", str(table), "")
    for title, rows in page.spent:
        yield from (f"## {title}", "", str(cost_table(rows)), "")
    yield from ("## What is not modelled", "")
    yield from (f"- {sentence}" for sentence in LIMITS)


def instance_lines(subject: ModelledInstance) -> Iterator[str]:
    """Speed-up by ranks on every network, and where communication eats the gain."""
    yield f"## {subject.instance}"
    gpu = f", on the GPU {seconds(subject.gpu_s)}" if subject.gpu_s is not None else ""
    yield from (
        "",
        f"{grouped(round(subject.units))} {subject.unit}; an iteration takes {seconds(subject.core_s)} on one",
    )
    yield from (f"core{gpu}.", "", str(speedups(subject)), "", str(turning_points(subject)), "")


def speedups(subject: ModelledInstance) -> TextTable:
    """A row for each number of ranks, a column for each network."""
    headings = (">ranks", *(f">{curve.network}" for curve in subject.curves))
    by_ranks: dict[int, list[str]] = {point.ranks: [] for curve in subject.curves for point in curve.points}
    for curve in subject.curves:
        points = {point.ranks: point for point in curve.points}
        for ranks, cells in by_ranks.items():
            cells.append(speedup_text(points[ranks]) if ranks in points else "")
    rows = [[grouped(ranks), *cells] for ranks, cells in sorted(by_ranks.items())]
    return TextTable("Speed-up over one core (efficiency), modelled", headings, rows)


def speedup_text(point: Modelled) -> str:
    """A speed-up and the efficiency."""
    return f"{ratio(point.speedup)} ({per_cent(point.speedup / point.ranks)})"


def turning_points(subject: ModelledInstance) -> TextTable:
    """Where communication eats the gain."""
    headings = ("network", ">fastest with", ">speed-up there", ">half of the time lost from", ">beats the GPU from")
    rows = []
    for curve in subject.curves:
        last = curve.points[-1]
        until = f"{grouped(curve.fastest.ranks)} ranks" + (" or more" if curve.fastest.ranks == last.ranks else "")
        gpu = ranks_or_none(curve.beats_gpu, last) if subject.gpu_s is not None else "no GPU recorded"
        rows.append([curve.network, until, ratio(curve.fastest.speedup), ranks_or_none(curve.half_lost, last), gpu])
    return TextTable("Turning points, modelled", headings, rows)


def ranks_or_none(point: Modelled | None, last: Modelled) -> str:
    """A number of ranks, or that there is none so far."""
    return f"{grouped(point.ranks)} ranks" if point else f"not up to {grouped(last.ranks)}"


def cost_table(rows: Sequence[ModelledCost]) -> TextTable:
    """Energy and cost."""
    headings = ("on", ">time", ">energy", ">price")
    cells = [
        [
            one.place,
            seconds(one.seconds),
            "" if one.joules is None else f"{number(one.joules / 1000)} kJ",
            "" if one.price is None else f"{one.price:.4g}",
        ]
        for one in rows
    ]
    return TextTable("", headings, cells)


# --- modelled against measured ---


def render_checks(found: Sequence[ModelCheck], within: float, made_by: str = "") -> str:
    """The validation's text."""
    off = [abs(one.error.value) for one in found]
    good = sum(error <= within for error in off)
    worst = max(found, key=lambda one: abs(one.error.value))
    text = ["# The cluster model against measured runs", "", *([f"Made by `{made_by}`.", ""] if made_by else [])]
    text += [
        f"{good} of {len(found)} runs are at most {per_cent(within)} off; the median is {per_cent(median(off))}, the "
        f"worst {signed(worst.error.value)} ({worst.instance}, {worst.ranks} ranks of {worst.backend}).",
        "",
        str(check_table(found)),
        "",
        "Measured is the median time of an iteration over the repetitions, with its 95 % bootstrap interval. Off is "
        "the relative error of the model, positive if it predicts too long a time, with the interval of the ratio of "
        "both medians. Compute rates are "
        "those of the run of one rank on the same instance; no run is predicted from itself.",
        "",
    ]
    text += [f"- Not shared by ranks: {one}." for one in dict.fromkeys(one.unshared for one in found)]
    return "\n".join(text) + "\n"


def check_table(found: Sequence[ModelCheck]) -> TextTable:
    """A row for each run of several ranks."""
    headings = ("instance", "backend", ">ranks", ">hosts", "network", ">measured [95 %]", ">modelled", ">off [95 %]")
    rows = []
    for one in found:
        measured, error = seconds(one.measured.value), signed(one.error.value)
        if one.measured.low is not None and one.measured.high is not None:
            measured += f" [{seconds(one.measured.low)}, {seconds(one.measured.high)}]"
        if one.error.low is not None and one.error.high is not None:
            error += f" [{signed(one.error.low)}, {signed(one.error.high)}]"
        row = [one.instance, one.backend, str(one.ranks), str(one.hosts), one.network, measured]
        rows.append([*row, seconds(one.modelled), error])
    return TextTable("Modelled against measured", headings, rows)


def signed(share: float) -> str:
    """A part of one as a difference in per cent."""
    return f"{100 * share:+.1f} %"


# --- files ---


def remove_earlier_report(out: Path) -> None:
    """Make a folder where there is none.

    Raises
    ------
    UserError
        It cannot be made.

    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: cannot make this folder: {error.strerror}") from None


def write(text: str, out: Path, name: str = NAME) -> Path:
    """Write a report into a folder.

    Raises
    ------
    UserError
        The folder cannot be written.

    """
    remove_earlier_report(out)
    path = out / f"{name}.md"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot write the report: {error.strerror}") from None
    return path
