"""Devices and ranks for a series of a paper on this machine, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backends import Usability
from cluster.emulation import obstacle as emulation_obstacle
from drivers.experiments.configurations import ONE_CORE, Configuration, mpi_obstacle, plan_configurations
from reports.papers.paper import Series

GPU = "gpu"


@dataclass(frozen=True)
class MachineResources:
    """Resources of this machine for runs.

    Attributes
    ----------
    devices : sequence
        Usable devices of `backends.survey`.
    chosen : bool
        True if the user named their backends.
    cores : int
        Number of ranks with a core each.
    ranks : sequence of int, optional
        The user's numbers of ranks for series over several ranks.
    oversubscribe : bool
        True if ranks may share cores.
    """

    devices: tuple[Usability, ...]
    chosen: bool
    cores: int
    ranks: Sequence[int] | None = None
    oversubscribe: bool = False

    def of_backends(self, series: Series) -> list[Usability]:
        """Devices of a series' backends: the series' or user's choice, else all without duplicates."""
        if series.backends:
            return [one for one in self.devices if one.backend in series.backends]
        names = {one.backend for one in self.devices}
        return [one for one in self.devices if self.chosen or one.same_as not in names]


def usable_devices(devices: Sequence[Usability], backends: Sequence[str] | None) -> tuple[Usability, ...]:
    """Return the usable and wanted devices. Raises `UserError` if a named backend is unusable, or none is left."""
    usable = {(one.backend, one.device) for one in plan_configurations(devices, backends, ())[0]}
    return tuple(one for one in devices if (one.backend, one.device) in usable)


def series_configurations(
    series: Series, machine: MachineResources
) -> tuple[list[Configuration], list[tuple[str, str]]]:
    """Return the configurations of a series, and parts without one, as text, with reasons.

    It runs on devices of its preferred kind, or of all its kinds, over each number of ranks.
    """
    if series.hosts > 1 and not series.network:
        why = series.why_not or f"it needs {series.hosts} hosts, and this command runs on one"
        return [], [(series.heading, why)]
    devices = machine.of_backends(series)
    kinds = [kind for kind in series.kinds if any(one.kind == kind for one in devices)]
    if not kinds:
        named = f" of {' or '.join(series.backends)}" if series.backends else " that was chosen" * machine.chosen
        why = series.why_not or f"no device{named} is of the kind {' or '.join(series.kinds)} here"
        return [], [(series.heading, why)]
    kinds = kinds if series.everywhere else kinds[:1]
    singles = [one for kind in kinds for device in devices if device.kind == kind for one in on_cores(series, device)]
    configurations: list[Configuration] = []
    refused: dict[str, list[str]] = {}
    for count in ranks_of(series, machine):
        obstacle = _obstacle(singles, count, machine, series.network)
        if obstacle:
            refused.setdefault(obstacle, []).append(str(count))
        else:
            ranked = replace(_of_a_rank(singles), ranks=count, network=series.network, hosts=series.hosts)
            configurations += singles if count == 1 else [ranked]
    return configurations, [(f"{series.heading}, {', '.join(counts)} ranks", why) for why, counts in refused.items()]


def on_cores(series: Series, device: Usability) -> list[Configuration]:
    """Return the configurations of a series on a device: a part of its cores for each smaller number, and all."""
    whole = Configuration.of(device)
    counts = [count for count in series.cores if count < whole.compute_units] if device.takes_cores else []
    return [*map(whole.with_cores, counts), whole]


def ranks_of(series: Series, machine: MachineResources) -> list[int]:
    """Return a series' numbers of ranks; the user's replace several ones, except on emulated hosts.

    A series of emulated hosts has ranks for each of them; it is omitted if the user wants no ranks.
    """
    if machine.ranks is None or max(series.ranks) == 1 or (series.network and max(machine.ranks, default=1) > 1):
        return list(series.ranks)
    return [one for one in series.ranks if one == 1] + sorted({one for one in machine.ranks if one > 1})


def _of_a_rank(singles: Sequence[Configuration]) -> Configuration:
    """Return the configuration of each of several ranks: a core, if the series is for one."""
    return next((one for one in singles if one.kind == ONE_CORE), singles[0])


def _obstacle(singles: Sequence[Configuration], count: int, machine: MachineResources, network: str) -> str | None:
    """Return the reason against this number of ranks on emulated hosts of a network, or None."""
    if count == 1:
        return None
    obstacle = mpi_obstacle() or (emulation_obstacle() if network else None)
    if obstacle or network:
        return obstacle
    place = _of_a_rank(singles)
    if place.kind == GPU:
        there = sum(one.backend == place.backend and one.kind == GPU for one in singles)
        return None if count <= there else f"each rank needs a GPU, found {there} of {place.backend}"
    if count > machine.cores and not machine.oversubscribe:
        return f"each rank needs a core, found {machine.cores} (--oversubscribe lets ranks share cores)"
    return None
