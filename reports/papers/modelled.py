"""Seconds of a search on a paper's cluster by the cluster model: the firm rate of one core, on the paper's network."""

from __future__ import annotations

from cluster.model.interconnects import interconnect
from cluster.model.run_time import iteration_s
from reports.papers.measures import MEASURES, PaperRun
from reports.papers.paper import Exhibit, ModelledCluster
from reports.rates import complete_turns
from reports.statistics.medians import Estimate

ITERATIONS = "iterations"


def modelled_seconds(run: PaperRun, exhibit: Exhibit, cluster: ModelledCluster) -> Estimate | None:
    """Return the seconds of the paper's amount on a cluster of the run's core, if ranks share the neighbours.

    The interval follows from that of the core's rate alone. None for a run that is not one walk on one core with a
    measured rate.
    """
    record = run.record
    is_one_walk = record.device_kind == "core" and record.ranks == 1 and record.parameters.get("walks", 1) == 1
    seconds = MEASURES["seconds"].of(run, exhibit)
    if not is_one_walk or not complete_turns(record) or seconds is None or not record.parameters.get(ITERATIONS):
        return None
    network = interconnect(cluster.network, cluster.cores, cluster.sites)
    iterations = exhibit.amount[ITERATIONS]
    neighbours = record.evaluations / record.parameters[ITERATIONS]

    def on_cluster(core_s: float) -> float:
        return iterations * iteration_s(neighbours, core_s / iterations / neighbours, network, cluster.ranks)

    return seconds.changed(on_cluster)
