"""Tables 10 and 11 of `luong2013` as the cluster model has them: on our core and GPU, and on the paper's machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from cluster.model.interconnects import DOUBLING, find_interconnects
from cluster.model.run_time import IterationTimes, Speed, Work, iteration
from reports.comparison.calibrated_workload import ModelledRank
from reports.comparison.calibration import named_work
from reports.pages.markdown import fill
from reports.papers.files import load
from reports.papers.modelled import PublishedCluster, clusters_of
from reports.papers.paper import Exhibit, Paper
from reports.text.formatting import number, seconds
from reports.text.tables import TextTable

PAPER = "luong2013"
FIBRE_M_S = 2.0e8
"""Speed of light in glass fibre, in metres per second."""
FITNESS_BYTES = 4
"""Bytes of a neighbour's fitness, if one machine collects all of them."""


def paper() -> Paper:
    return load(PAPER)


def exhibit(table: str) -> Exhibit:
    return paper().chosen("table", table)[0]


def clusters() -> list[PublishedCluster]:
    return clusters_of(paper())


def amount() -> int:
    return int(exhibit("10").amount["iterations"])


# --- on our machines ---


def tables(rank_on: Callable[[str], ModelledRank], gpu_s: Callable[[str], float | None]) -> Iterator[TextTable]:
    """Yield both tables with our core in place of the paper's.

    ``rank_on`` maps an instance to one rank on it, ``gpu_s`` to seconds of an iteration on our GPU, or None.
    """
    for table in ("10", "11"):
        columns = [cluster for cluster in clusters() if cluster.table == table]
        headings = ["instance", ">our GPU"]
        for cluster in columns:
            headings += [f">{cluster.heading}: published", ">modelled on our cores"]
        rows = []
        for line in exhibit(table).lines:
            rank = rank_on(line.key)
            alone = iteration(*rank, columns[0].network, 1).total_s
            on_gpu = gpu_s(line.key)
            row = [line.label, "" if on_gpu is None else cell(amount() * on_gpu, alone / on_gpu)]
            for cluster in columns:
                total = iteration(*rank, cluster.network, cluster.ranks).total_s
                published = "×".join(map(str, line.figures[cluster.column]))
                row += [published, cell(amount() * total, alone / total)]
            rows.append(row)
        yield TextTable(f"Table {table}, modelled and published: {amount():,} iterations", tuple(headings), rows)


def cell(run_s: float, speedup: float) -> str:
    return f"{number(run_s)}×{number(speedup)}"


# --- on the paper's machines ---


class ModelledCell(NamedTuple):
    """A published time and the model's.

    Attributes
    ----------
    published_s : float
        Time of a run.
    ideal : Parts
        An iteration without interference between cores of a host.
    crowded : Parts
        An iteration with the interference of the table's column of 8 cores on one host.
    collected : Parts
        The same on gigabit Ethernet, where the first host collects the fitness of every neighbour in every iteration.
    """

    published_s: float
    ideal: IterationTimes
    crowded: IterationTimes
    collected: IterationTimes

    @property
    def left_s(self) -> float:
        """Seconds of the published iteration beyond the work of cores without interference."""
        return self.published_s / amount() - self.ideal.compute_s


def published_rank(instance: str, work: Work) -> ModelledRank:
    """One core of the paper's cluster, from the published time of one core at its clock."""
    said = paper().extra["clusters"]["core"]
    shown = exhibit(said["table"])
    column = [one.heading for one in shown.columns].index(said["heading"])
    one_core = float(shown.line(instance).figures[column][0])
    scaled = one_core * said["clock_ghz"] / said["clock_in_cluster_ghz"] / amount()
    return ModelledRank(work, Speed(scaled / work.units))


def model_cell(cluster: PublishedCluster, instance: str) -> ModelledCell:
    """A published cell and the model of the paper's machines; MPI libraries of its time double messages."""
    work = named_work(instance, Work("neighbourhood", 1.0, amount()), "flip2")
    rank = published_rank(instance, work)
    network = replace(cluster.network, algorithm=DOUBLING)
    ideal = iteration(*rank, network, cluster.ranks)
    one_host = clusters()[0]
    first = float(exhibit("10").line(instance).figures[one_host.column][0])
    alone = iteration(*rank, network, 1).total_s
    slower = max(1.0, first / amount() * one_host.ranks / alone)
    crowded = replace(network, crowds=((one_host.ranks, slower),))
    collecting = work._replace(collected_bytes=int(work.units) * FITNESS_BYTES)
    return ModelledCell(
        float(exhibit(cluster.table).line(instance).figures[cluster.column][0]),
        ideal,
        iteration(*rank, crowded, cluster.ranks),
        iteration(
            collecting, rank.speed, replace(crowded, hosts=find_interconnects("ethernet")[0].hosts), cluster.ranks
        ),
    )


def model_tables() -> Iterator[TextTable]:
    captions = {
        "ideal": "cores as fast together as alone",
        "crowded": "cores of a host as slow together as the column of 8 cores says",
        "collected": "the same on gigabit Ethernet, where the first machine collects all fitnesses",
    }
    modelled_lines = {line: [model_cell(cluster, line.key) for cluster in clusters()] for line in exhibit("10").lines}
    headings = ("instance", *(f">{one.heading}" for one in clusters()))

    def modelled(cell: ModelledCell, way: str) -> str:
        run_s = amount() * getattr(cell, way).total_s
        return f"{number(run_s)} ({number(run_s / cell.published_s)})"

    for way, caption in captions.items():
        rows = [[line.label, *(modelled(one, way) for one in cells)] for line, cells in modelled_lines.items()]
        title = f"Seconds of a run modelled on the paper's machines (over the published): {caption}"
        yield TextTable(title, headings, rows)


def communication_remainder() -> TextTable:
    """Return the time left for communication on the smallest instance, and the distance of light in it."""
    instance = exhibit("10").lines[0].key
    columns: dict[str, Callable[[tuple[PublishedCluster, ModelledCell]], str]] = {
        "column": lambda row: f"table {row[0].table}, {row[0].heading}",
        ">published": lambda row: seconds(row[1].published_s / amount()),
        ">of that work": lambda row: seconds(row[1].ideal.compute_s),
        ">left": lambda row: seconds(row[1].left_s),
        ">communication as modelled": lambda row: seconds(row[1].ideal.communication_s),
        ">distance of light, both ways": lambda row: (
            f"{number(row[1].left_s / 2 * FIBRE_M_S / 1000)} km" if row[0].table == "11" else ""
        ),
    }
    cells = [(cluster, model_cell(cluster, instance)) for cluster in clusters()]
    return TextTable.of(f"An iteration on {instance}", cells, columns)


def findings() -> dict[str, Any]:
    """Figures for the report's sentences."""
    largest = exhibit("10").lines[-1].key
    one_host, *others = [cluster for cluster in clusters() if cluster.table == "10"]
    first = model_cell(one_host, largest)
    modelled = {cluster: model_cell(cluster, largest) for cluster in others}

    def errors(way: str) -> str:
        off = {of.ranks: amount() * getattr(one, way).total_s / one.published_s - 1 for of, one in modelled.items()}
        return ", ".join(f"{ranks} cores {100 * share:+.0f} %" for ranks, share in off.items())

    least, most = unexplained_range("10")
    return {
        "largest": largest,
        "gain": first.ideal.compute_s * one_host.ranks * amount() / first.published_s,
        "reductions": max(one.ideal.communication_share for one in modelled.values()),
        "crowded": errors("crowded"),
        "collected": errors("collected"),
        "least": least,
        "most": most,
        "farthest_km": unexplained_range("11")[1] / 2 * FIBRE_M_S / 1000,
    }


def unexplained_range(table: str) -> tuple[float, float]:
    """Least and largest unexplained time of a table, in an iteration on its smallest instance."""
    smallest = exhibit(table).lines[0].key
    left = [model_cell(cluster, smallest).left_s for cluster in clusters() if cluster.table == table]
    return min(left), max(left)


def render(made_by: str) -> str:
    core, tables = paper().extra["clusters"]["core"], [*model_tables(), communication_remainder()]
    return fill("cluster-published.md.j2", made_by=made_by, core=core, number=number, tables=tables, **findings())
