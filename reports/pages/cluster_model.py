"""Page of the cluster model, as text and tables; every figure is marked as modelled.

The model is `cluster.model.run_time`; `drivers.cluster_programs.model` makes the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from reports.pages.markdown import fill, written_into
from reports.statistics.medians import Estimate
from reports.text.formatting import grouped, interval, number, per_cent, ratio, seconds, seconds_interval, signed
from reports.text.tables import TextTable

if TYPE_CHECKING:
    import pandas

NAME = "cluster-model"
LOST_GAIN = 0.5
"""Part of an iteration in communication from which the gain counts as lost."""


class ModelledInstance(NamedTuple):
    """One instance on all networks.

    Attributes
    ----------
    core_s, gpu_s
        Seconds of an iteration on one core and on the GPU; None without a record.
    curves : list of (str, DataFrame)
        For the name of a network, an iteration on each number of ranks, the ascending index: `seconds`, `speedup` over
        one rank, and `communication`, the part of it spent there.
    """

    instance: str
    units: float
    unit: str
    core_s: float
    gpu_s: float | None
    curves: list[tuple[str, pandas.DataFrame]]

    @property
    def gpu_speedup(self) -> float | None:
        return None if self.gpu_s is None else self.core_s / self.gpu_s


class ModelledCost(NamedTuple):
    """Cost of a run: seconds, joules, and its price; None without watts or prices."""

    place: str
    seconds: float
    joules: float | None
    price: float | None


class ModelCheck(NamedTuple):
    """A measured run with its modelled time.

    Attributes
    ----------
    measured
        Seconds of an iteration.
    error
        Relative deviation of the model above (+) or below (-) the measured median, with an interval from both runs:
        the calibration's and this one.
    unshared
        The serial seconds, and their origin.
    """

    instance: str
    backend: str
    network: str
    ranks: int
    hosts: int
    measured: Estimate
    modelled: float
    error: Estimate
    unshared: str


@dataclass(frozen=True)
class ClusterModelPage:
    """Content of the report.

    Attributes
    ----------
    calibration
        Sentences on the measurements of the core and the GPU, and on serial work.
    sizes, published
        Sizes from which ranks beat the GPU; a paper's tables as modelled.
    spent : tuple of (str, tuple of ModelledCost)
        Costs by the name of the run.
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
    return fill(
        "cluster-model.md.j2",
        page=page,
        subjects=[(subject, speedups(subject), turning_points(subject)) for subject in page.subjects],
        spent=[(title, cost_table(rows)) for title, rows in page.spent],
    )


def speedups(subject: ModelledInstance) -> TextTable:
    """A row for each number of ranks, a column for each network: speed-up, and efficiency."""
    import pandas

    efficiencies = [points["speedup"] / points.index for _, points in subject.curves]
    cells = [
        points["speedup"].map(ratio) + " (" + efficiency.map(per_cent) + ")"
        for (_, points), efficiency in zip(subject.curves, efficiencies, strict=True)
    ]
    table = pandas.concat(cells, axis=1).fillna("").sort_index()
    headings = (">ranks", *(f">{network}" for network, _ in subject.curves))
    rows = [[grouped(ranks), *words] for ranks, *words in table.itertuples()]
    return TextTable("Speed-up over one core (efficiency), modelled", headings, rows)


def turning_ranks(points: pandas.DataFrame, gpu_s: float | None) -> tuple[int, int | None, int | None]:
    """Return the numbers of ranks at which a curve turns.

    Returns
    -------
    int
        Ranks beyond which further ones make it slower, or the last.
    int or None
        The fewest that communicate for half of their time.
    int or None
        The fewest whose iteration takes less than the GPU's.
    """

    def first(those: pandas.Series) -> int | None:
        return next(iter(points.index[those]), None)

    lost, faster = points["communication"] >= LOST_GAIN, points["seconds"] < (gpu_s or 0.0)
    return int(points["seconds"].idxmin()), first(lost), first(faster)


def turning_points(subject: ModelledInstance) -> TextTable:
    rows = []
    for network, points in subject.curves:
        fastest, lost, beats = turning_ranks(points, subject.gpu_s)
        most = int(points.index[-1])
        first = [f"{grouped(ranks)} ranks" if ranks else f"not up to {grouped(most)}" for ranks in (lost, beats)]
        rows.append(
            [
                network,
                f"{grouped(fastest)} ranks" + (" or more" if fastest == most else ""),
                ratio(points["speedup"][fastest]),
                first[0],
                "no GPU recorded" if subject.gpu_s is None else first[1],
            ]
        )
    headings = ("network", ">fastest with", ">speed-up there", ">half of the time lost from", ">beats the GPU from")
    return TextTable("Turning points, modelled", headings, rows)


def cost_table(rows: Sequence[ModelledCost]) -> TextTable:
    columns: dict[str, Callable[[ModelledCost], str]] = {
        "on": lambda one: one.place,
        ">time": lambda one: seconds(one.seconds),
        ">energy": lambda one: "" if one.joules is None else f"{number(one.joules / 1000)} kJ",
        ">price": lambda one: "" if one.price is None else f"{one.price:.4g}",
    }
    return TextTable.of("", rows, columns)


# --- modelled against measured ---


def render_checks(checks: Sequence[ModelCheck], within: float, made_by: str = "") -> str:
    off = [abs(check.error.value) for check in checks]
    return fill(
        "cluster-validated.md.j2",
        made_by=made_by,
        good=sum(error <= within for error in off),
        within=within,
        median=median(off),
        worst=max(checks, key=lambda one: abs(one.error.value)),
        signed=signed,
        table=check_table(checks),
        unshared=list(dict.fromkeys(check.unshared for check in checks)),
        runs=len(checks),
    )


def check_table(checks: Sequence[ModelCheck]) -> TextTable:
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
    return TextTable.of("Modelled against measured", checks, columns)


# --- files ---


def write(text: str, out: Path, name: str = NAME) -> Path:
    """Write a report into a folder. Raises `UserError` if that fails."""
    path = out / f"{name}.md"
    with written_into(out):
        path.write_text(text, encoding="utf-8")
    return path
