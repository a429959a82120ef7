"""Page of the cluster model, as text and tables; every figure is marked as modelled.

The model is `cluster.model.run_time`, the figures are made by `drivers.cluster_programs.model`; here are only the
pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from reports.comparison.modelled_runs import ModelCheck, Modelled, ModelledCost, ModelledInstance, NetworkCurve
from reports.pages.markdown import fill, written_into
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
    networks : TextTable
    subjects : tuple of ModelledInstance
    sizes, published : tuple of TextTable
        From which size ranks beat the GPU; a paper's tables as modelled.
    spent : tuple of (str, tuple of ModelledCost)
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


def render(page: ClusterModelPage) -> str:
    """The report's text.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    return fill(
        "cluster-model.md.j2",
        page=page,
        subjects=[(one, speedups(one), turning_points(one)) for one in page.subjects],
        spent=[(title, cost_table(rows)) for title, rows in page.spent],
    )


def speedups(subject: ModelledInstance) -> TextTable:
    """A row for each number of ranks, a column for each network: speed-up, and efficiency."""

    def on(curve: NetworkCurve) -> Callable[[int], str]:
        words = {one.ranks: f"{ratio(one.speedup)} ({per_cent(one.speedup / one.ranks)})" for one in curve.points}
        return lambda ranks: words.get(ranks, "")

    ranks = sorted({point.ranks for curve in subject.curves for point in curve.points})
    columns = {">ranks": grouped, **{f">{curve.network}": on(curve) for curve in subject.curves}}
    return TextTable.of("Speed-up over one core (efficiency), modelled", ranks, columns)


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
    """The validation's text.

    Raises
    ------
    UserError
        jinja2 is not installed.
    """
    off = [abs(one.error.value) for one in found]
    return fill(
        "cluster-validated.md.j2",
        made_by=made_by,
        good=sum(error <= within for error in off),
        within=within,
        median=median(off),
        worst=max(found, key=lambda one: abs(one.error.value)),
        signed=signed,
        table=check_table(found),
        unshared=list(dict.fromkeys(one.unshared for one in found)),
        runs=len(found),
    )


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
