"""Pages of the cluster model: a workload on all networks, and measured runs next to modelled ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.model import run_time
from cluster.model.interconnects import Interconnect
from cluster.model.run_time import ScalingPoint
from core.errors import UserError
from drivers.cluster_programs import published_tables
from reports.comparison.calibrated_workload import WorkloadCalibration
from reports.comparison.calibration import (
    SYNCHRONISATION_S,
    Calibration,
    CalibrationRun,
    calibrate,
    name_without_seed,
    runs_on_device_kind,
)
from reports.pages.cluster_model import (
    ClusterModelPage,
    ModelCheck,
    ModelledCost,
    ModelledInstance,
    turning_ranks,
)
from reports.records.files import Record
from reports.statistics.medians import Estimate, ratio_of_medians
from reports.text.formatting import number, seconds
from reports.text.tables import TextTable

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ModelScenario:
    """Arguments of the model.

    Attributes
    ----------
    ranks : list of int
        Ascending, from 1.
    instances : tuple of str
        Empty for all with records of one core.
    iterations : float
        Iterations of a run.
    watts, prices : tuple of float or None
        Of a node and of the GPU; prices per hour.
    """

    networks: list[Interconnect]
    ranks: list[int]
    instances: tuple[str, ...] = ()
    iterations: float = 10_000.0
    watts: tuple[float, float] | None = None
    prices: tuple[float, float] | None = None


# --- clusters ---


def page(records: Sequence[Record], asked: ModelScenario, made_by: str) -> ClusterModelPage:
    rates = WorkloadCalibration(records, next((one for one in asked.networks if one.measured), None))
    subjects = [model_instance(name, rates, asked) for name in asked.instances or rates.works]
    sizes, published = [], []
    if rates.is_of_the_paper:
        published = list(published_tables.tables(rates.rank, rates.gpu_s))
        sizes = crossing_sizes(rates, asked)
    return ClusterModelPage(
        records[0].workload,
        made_by,
        tuple(calibration_sentences(rates, records)),
        networks_table(asked.networks),
        tuple(subjects),
        tuple(sizes),
        tuple(published),
        tuple(machine_costs(one, asked) for one in subjects if asked.watts or asked.prices),
    )


def model_instance(name: str, rates: WorkloadCalibration, asked: ModelScenario) -> ModelledInstance:
    rank = rates.rank(name)
    curves = [(one.title, scaling_frame(run_time.scaling_curve(*rank, one, asked.ranks))) for one in asked.networks]
    return ModelledInstance(
        name, rank.work.units, rates.first.record.evaluation_unit, rates.core_s(name), rates.gpu_s(name), curves
    )


def scaling_frame(points: Sequence[ScalingPoint]) -> pandas.DataFrame:
    import pandas

    rows = [(one.ranks, one.parts.total_s, one.speedup, one.parts.communication_share) for one in points]
    return pandas.DataFrame(rows, columns=["ranks", "seconds", "speedup", "communication"]).set_index("ranks")


def calibration_sentences(rates: WorkloadCalibration, records: Sequence[Record]) -> list[str]:
    core, gpu = rates.core, rates.gpu
    said = [f"One core: {core.name}; an iteration takes, as measured: {by_size(core)}."]
    if gpu is None:
        said.append("No run on a GPU is among the records.")
    else:
        said.append(f"The GPU: {gpu.name}; an iteration takes, as measured: {by_size(gpu)}.")
    lines = published_tables.exhibit("10").lines if rates.is_of_the_paper else ()
    beyond = [line.key for line in lines if not rates.covers(line.key)]
    if beyond:
        said.append(f"Scaled, because larger than the sizes that one core has recorded: {', '.join(beyond)}.")
    said.append(f"Work of every rank that is not shared: {seconds(core.unshared_s)} an iteration, {core.why}.")
    said.append(
        f"A synchronisation takes {seconds(SYNCHRONISATION_S)} of a rank's processor besides its messages (assumed)."
    )
    if any(not record.verified for record in records):
        said.append("Some of the records were not confirmed by the scorer.")
    return said


def by_size(device: Calibration) -> str:
    return ", ".join(f"{name_without_seed(run)} {seconds(run.seconds)}" for run in device.runs)


def networks_table(networks: Sequence[Interconnect]) -> TextTable:
    rows = []
    for network in networks:
        kinds = {"cores": network.cores, "hosts": network.hosts, "sites": network.between_sites}
        for between, hop in list(kinds.items())[: 3 if network.sites > 1 else 2]:
            far = f" to {seconds(hop.farthest_s)}" if hop.farthest_s and network.sites > 2 else ""
            speed = f"{number(1e-6 / hop.beta_s_per_byte)} MB/s" if hop.beta_s_per_byte else ""
            rows.append([network.title, between, seconds(hop.alpha_s) + far, speed, hop.source])
    return TextTable("Networks", ("network", "between", ">latency", ">bandwidth", "source"), rows)


def crossing_sizes(rates: WorkloadCalibration, asked: ModelScenario) -> list[TextTable]:
    """For each number of ranks, the paper's sizes at which a cluster beats this GPU; none without records of it."""
    known = ((line.key, rates.gpu_s(line.key)) for line in published_tables.exhibit("10").lines)
    times = {name: gpu_s for name, gpu_s in known if gpu_s is not None}
    if not times:
        return []

    def beaten(network: Interconnect, ranks: int) -> dict[str, bool]:
        return {
            name: run_time.iteration(*rates.rank(name), network, ranks).total_s < gpu_s for name, gpu_s in times.items()
        }

    rows = [[f"{count:,}", *(describe_sizes(beaten(one, count)) for one in asked.networks)] for count in asked.ranks]
    some = [row for row in rows if set(row[1:]) != {"none"}]
    headings = (">ranks", *(network.title for network in asked.networks))
    names = list(times)
    caption = f"Sizes, {names[0]} to {names[-1]}, at which ranks beat this GPU, modelled; fewer ranks: none"
    return [TextTable(caption, headings, some or rows[-1:])]


def describe_sizes(beaten: dict[str, bool]) -> str:
    names = list(beaten)
    meant = [name for name in names if beaten[name]]
    if len(meant) in (0, len(names)):
        return "all" if meant else "none"
    first, last = names.index(meant[0]), names.index(meant[-1])
    if last - first + 1 > len(meant):
        return ", ".join(meant)
    if last == len(names) - 1:
        return f"from {meant[0]}"
    return f"up to {meant[-1]}" if first == 0 else f"{meant[0]} to {meant[-1]}"


def machine_costs(instance: ModelledInstance, asked: ModelScenario) -> tuple[str, tuple[ModelledCost, ...]]:
    """Time, energy and cost of a run on the GPU, and on the first sufficient and the fastest number of ranks."""
    rows = []
    if instance.gpu_s is not None:
        rows.append(machine_cost("this GPU", 1, instance.gpu_s, asked, of_gpu=True))
    for network, (name, points) in zip(asked.networks, instance.curves, strict=True):
        fastest, _, beats = turning_ranks(points, instance.gpu_s)
        for ranks in dict.fromkeys(filter(None, (beats, fastest))):
            nodes = network.hosts_of(ranks)
            place = f"{name}, {ranks:,} ranks on {nodes:,} nodes"
            rows.append(machine_cost(place, nodes, points["seconds"][ranks], asked))
    return f"{instance.instance}: {asked.iterations:,.0f} iterations, modelled", tuple(rows)


def machine_cost(
    place: str, nodes: int, iteration_s: float, asked: ModelScenario, *, of_gpu: bool = False
) -> ModelledCost:
    run_s = asked.iterations * iteration_s
    joules = asked.watts[of_gpu] * nodes * run_s if asked.watts else None
    cost = asked.prices[of_gpu] * nodes * run_s / 3600 if asked.prices else None
    return ModelledCost(place, run_s, joules, cost)


# --- modelled against measured ---


def validate_runs(records: Sequence[Record], runs: Sequence[Record], network: Interconnect) -> list[ModelCheck]:
    """Compare every run of several ranks with the model, calibrated by one rank on the same instance and device.

    Raises `UserError` if no run has several ranks, or one rank has not run an instance.
    """
    several = [one for one in runs if one.ranks > 1]
    if not several:
        raise UserError("--validate: found no run on several ranks to compare the model with")
    return [validate_run(one, [*records, *runs], network) for one in several]


def validate_run(record: Record, known: Sequence[Record], network: Interconnect) -> ModelCheck:
    run = CalibrationRun(record)
    own = [one for one in known if one.instance_sha256 == record.instance_sha256 and one.backend == record.backend]
    alone = runs_on_device_kind([one for one in own if one.parameters == record.parameters], record.device_kind)
    if not alone:
        raise UserError(
            f"--validate: {record.instance} on {record.label}: expected a run of one rank on the same instance"
        )
    device = calibrate(known, record.device_kind, network, leave_out=record.identity)
    assert device is not None
    work = alone[0].work

    def modelled_s(alone_s: float) -> float:
        return run_time.iteration(work, device.speed(work, alone_s), network, record.ranks).total_s

    predicted = [modelled_s(seconds) for seconds in alone[0].every_s]
    hosts = int(record.environment.get("emulated_hosts") or record.environment.get("host_count") or 1)
    why = f"{seconds(device.unshared_s)} an iteration of {record.backend}, {device.why}"
    off = ratio_of_medians(predicted, run.every_s)
    place = (name_without_seed(run), record.backend, network.title, record.ranks, hosts)
    error = Estimate(off.value - 1, *(None if end is None else end - 1 for end in (off.low, off.high)))
    return ModelCheck(*place, run.iteration_s, modelled_s(alone[0].seconds), error, why)
