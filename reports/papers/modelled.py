"""Cells of a paper's clusters by the cluster model: the speed of one core from our records, on the paper's network.

A modelled cell is no run. It names its one-core record, network and ranks, and the limits of its interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from cluster.model.interconnects import Interconnect, interconnect
from cluster.model.run_time import iteration_s
from reports.comparison.calibration import Calibration, CalibrationRun
from reports.comparison.speedups import ComparedRun, is_baseline
from reports.papers.exhibits import MODELLED, Datum, FilledExhibit, PaperEvidence
from reports.papers.paper import Exhibit, ExhibitRow, Paper, Series
from reports.papers.placement import find_series
from reports.records.files import Record, group_by
from reports.statistics.medians import Estimate
from reports.statistics.startup import MOST_STARTUP, startup_share
from reports.text.formatting import grouped, interval, number, per_cent, seconds, seconds_interval

UNCERTAINTY = (
    "an interval of a modelled figure is that of one core's median alone. In its validation the model was off by -15 "
    "to +11 % on two cores and two hosts, and by up to 94 % on sixteen threads that share a memory "
    "(docs/cluster-model.md). It lets cores of a host be as fast together as alone, so a real cluster takes longer; "
    "figures of its networks are partly assumed (cluster/model/interconnects.toml)"
)
"""Part of the error of a modelled figure outside its interval."""


class PublishedCluster(NamedTuple):
    """A published column and its machines."""

    table: str
    heading: str
    network: Interconnect
    hosts: int

    @property
    def ranks(self) -> int:
        return self.hosts * self.network.cores_per_host

    @property
    def place(self) -> str:
        return f"{self.ranks} ranks on {self.hosts} host{'s' * (self.hosts != 1)} of {_network_text(self.network)}"


def clusters_of(paper: Paper) -> list[PublishedCluster]:
    """Return the columns of clusters that the paper's file describes."""
    return [
        PublishedCluster(
            cluster["table"],
            cluster["heading"],
            interconnect(cluster["network"], cluster["cores"], cluster["sites"]),
            cluster["hosts"],
        )
        for cluster in paper.extra.get("clusters", ())
    ]


def _network_text(network: Interconnect) -> str:
    """Name a network with the latency and bandwidth of the links that the column uses."""
    hosts = f"hosts {seconds(network.hosts.alpha_s)} and {number(1e-6 / network.hosts.beta_s_per_byte)} MB/s"
    apart = network.between_sites
    sites = f", {network.sites} sites {seconds(apart.alpha_s)} apart" if network.sites > 1 else ""
    farthest = f" or more, up to {seconds(apart.farthest_s)}" if network.sites > 2 and apart.farthest_s else ""
    return f"{network.title} ({hosts}{sites}{farthest})"


# --- one core ---


class ModelBasis(NamedTuple):
    """Runs of a series on one core of one machine, calibrated."""

    series: Series
    rows: Sequence[ComparedRun]
    calibration: Calibration

    @property
    def machine(self) -> str:
        return self.rows[0].machine

    def run(self, line: ExhibitRow) -> CalibrationRun | None:
        return next((run for run in self.calibration.runs if run.name == line.key), None)


def model_bases(exhibit: Exhibit, evidence: PaperEvidence) -> Iterator[ModelBasis]:
    """Yield the runs on one core of each series that has them, of the machine that ran the most instances."""
    for series in exhibit.series:
        rows = [one for one in evidence.rows if _is_one_walk(one) and find_series(exhibit, one.record) is series]
        if rows:
            most = max(
                group_by(rows, lambda row: row.machine), key=lambda those: len({one.record.instance for one in those})
            )
            yield ModelBasis(series, most, Calibration(_longest([one.record for one in most])))


def _is_one_walk(row: ComparedRun) -> bool:
    """True for a run on one core with one walk, whose neighbourhood a cluster's ranks would share."""
    return is_baseline(row) and row.record.parameters.get("walks", 1) == 1


def _longest(records: Sequence[Record]) -> list[Record]:
    """Return the record of each instance with the most iterations, where start-up weighs least."""
    shortest_first = sorted(records, key=lambda one: int(one.parameters.get("iterations") or 0))
    return [*{one.instance_sha256: one for one in shortest_first}.values()]


# --- cells ---


def with_modelled(shown: FilledExhibit, paper: Paper, evidence: PaperEvidence) -> FilledExhibit:
    """Return an exhibit with modelled cells beside its published clusters; unchanged without any."""
    clusters = [one for one in clusters_of(paper) if (shown.exhibit.kind, shown.exhibit.number) == ("table", one.table)]
    bases = [*model_bases(shown.exhibit, evidence)] if clusters else []
    cells = [
        modelled_cell(basis, cluster, line, int(shown.exhibit.amount["iterations"]))
        for line in shown.exhibit.lines
        for cluster in clusters
        for basis in bases
    ]
    absent = tuple(f"{MODELLED}: {one.heading}" for one in clusters) if not bases else ()
    return replace(shown, modelled=tuple(cells), not_modelled=absent)


def modelled_cell(basis: ModelBasis, cluster: PublishedCluster, line: ExhibitRow, iterations: int) -> Datum:
    """Return the time of a published run on the paper's hosts with our core, and its speed-up over that core."""
    calibration, run = basis.calibration, basis.run(line)

    def run_s(core_s: float, ranks: int) -> float:
        speed = calibration.speed(line.key, core_s)
        return iterations * iteration_s(calibration.neighbours(line.key), speed, cluster.network, ranks)

    measured = run.iteration_s if run else Estimate(calibration.iteration_s(line.key))
    ends = [end for end in (measured.low, measured.high) if end is not None]
    took = Estimate(run_s(measured.value, cluster.ranks), *(run_s(end, cluster.ranks) for end in ends))
    ratios = sorted(run_s(end, 1) / run_s(end, cluster.ranks) for end in ends)
    speedup = Estimate(run_s(measured.value, 1) / took.value, *ratios)
    words = f"{basis.series.heading}: {seconds_interval(took)}", f"×{interval(speedup, number)}"
    return Datum(
        line.key,
        f"{MODELLED}: {cluster.heading}",
        basis.series.heading,
        words,
        {"seconds": took.value, "speedup": speedup.value},
        tuple(_notes(basis, cluster, line, iterations)),
    )


def _notes(basis: ModelBasis, cluster: PublishedCluster, line: ExhibitRow, iterations: int) -> Iterator[str]:
    core = basis.calibration
    yield (
        f"{MODELLED}, not run: {grouped(iterations)} iterations on {cluster.place}, from the time of one core of "
        f"{core.name} (machine {basis.machine})"
    )
    yield UNCERTAINTY
    run, recorded = basis.run(line), [one.name for one in core.runs]
    if run is None:
        yield f"{MODELLED} from one core's times on {', '.join(recorded)}, scaled by neighbours and rows of the matrix"
    elif startup_share(run.record, [row.record for row in basis.rows]) > MOST_STARTUP:
        yield f"{MODELLED} from a run of one core of which more than {per_cent(MOST_STARTUP)} may be start-up"
