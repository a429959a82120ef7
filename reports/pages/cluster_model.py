"""Page of the cluster model, as text and tables; every figure is marked as modelled.

The model is `cluster.model.run_time`, the figures are made by `drivers.cluster_programs.model`; here are only the
pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from reports.comparison.modelled_runs import ModelCheck, Modelled, ModelledCost, ModelledInstance, NetworkCurve
from reports.pages.markdown import written_into
from reports.text.formatting import grouped, interval, number, per_cent, ratio, seconds, seconds_interval, signed
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

    def first(point: Modelled | None, curve: NetworkCurve) -> str:
        return f"{grouped(point.ranks)} ranks" if point else f"not up to {grouped(curve.points[-1].ranks)}"

    columns: dict[str, Callable[[NetworkCurve], str]] = {
        "network": lambda curve: curve.network,
        ">fastest with": lambda curve: (
            first(curve.fastest, curve) + " or more" * (curve.fastest.ranks == curve.points[-1].ranks)
        ),
        ">speed-up there": lambda curve: ratio(curve.fastest.speedup),
        ">half of the time lost from": lambda curve: first(curve.half_lost, curve),
        ">beats the GPU from": lambda curve: (
            "no GPU recorded" if subject.gpu_s is None else first(curve.beats_gpu, curve)
        ),
    }
    return TextTable.of("Turning points, modelled", subject.curves, columns)


def cost_table(rows: Sequence[ModelledCost]) -> TextTable:
    """Energy and cost."""
    columns: dict[str, Callable[[ModelledCost], str]] = {
        "on": lambda one: one.place,
        ">time": lambda one: seconds(one.seconds),
        ">energy": lambda one: "" if one.joules is None else f"{number(one.joules / 1000)} kJ",
        ">price": lambda one: "" if one.price is None else f"{one.price:.4g}",
    }
    return TextTable.of("", rows, columns)


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
    columns: dict[str, Callable[[ModelCheck], Any]] = {
        "instance": lambda one: one.instance,
        "backend": lambda one: one.backend,
        ">ranks": lambda one: one.ranks,
        ">hosts": lambda one: one.hosts,
        "network": lambda one: one.network,
        ">measured [95 %]": lambda one: seconds_interval(one.measured),
        ">modelled": lambda one: seconds(one.modelled),
        ">off [95 %]": lambda one: interval(one.error, signed),
    }
    return TextTable.of("Modelled against measured", found, columns)


# --- files ---


def write(text: str, out: Path, name: str = NAME) -> Path:
    """Write a report into a folder.

    Raises
    ------
    UserError
        The folder cannot be written.

    """
    path = out / f"{name}.md"
    with written_into(out):
        path.write_text(text, encoding="utf-8")
    return path
