"""Configuration of a paper's series on this machine, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from backends import NAMES, Usability, backend_class
from cluster.emulation import obstacle as emulation_obstacle
from core.errors import UserError
from drivers.experiments.configurations import Configuration, mpi_obstacle, plan_configurations
from reports.papers.paper import Series
from reports.records.files import group_by

CORE, CORES, GPU = "core", "cores", "gpu"
"""Kinds of devices."""


@dataclass(frozen=True)
class MachineResources:
    """Resources of this machine for runs.

    Attributes
    ----------
    devices : tuple
        Usable devices of `backends.survey`.
    chosen : bool
        True if the user named their backends.
    cores : int
        Number of ranks with a core each.
    ranks : sequence of int, optional
        The user's numbers of ranks for series over all cores or GPUs; empty for no runs on several ranks.
    oversubscribe : bool
        True if ranks may share cores.
    """

    devices: tuple[Usability, ...]
    chosen: bool
    cores: int
    ranks: Sequence[int] | None = None
    oversubscribe: bool = False


def usable_devices(devices: Sequence[Usability], backends: Sequence[str] | None) -> tuple[Usability, ...]:
    """Return the usable and wanted devices. Raises `UserError` if a named backend is unusable, or none is left."""
    usable = {(one.backend, one.device) for one in plan_configurations(devices, backends, ())[0]}
    return tuple(one for one in devices if (one.backend, one.device) in usable)


def series_configurations(series: Series, machine: MachineResources, processors: str = "") -> list[Configuration]:
    """Return the configurations of a series: the first device of its first kind here, or one of each named backend.

    ``processors`` is the kind and number of a row's processors (`cores:8`), which replace the series' ranks and cores.
    Raises `UserError` with the reason if there is none.
    """
    if processors:
        series = series_on(series, processors)
    try:
        return _configurations(series, machine)
    except UserError as error:
        raise UserError(series.why_not or str(error)) from None


def series_on(series: Series, processors: str) -> Series:
    """Return a series on a kind and number of processors: threads or ranks for cores, ranks for GPUs.

    Raises `UserError` for processors of another kind than the series'.
    """
    kind, _, text = processors.partition(":")
    number = int(text)
    if kind in series.kinds:
        ranks, cores = (1, number) if kind == CORES else (number, 0)
        return structs.replace(series, kinds=(kind,), ranks=ranks, cores=cores)
    if kind == CORES and CORE in series.kinds and number > 1:
        return structs.replace(series, kinds=(CORE,), ranks=number, cores=0)
    raise UserError(f"its runs are on {' or '.join(series.kinds)}, expected {processors}")


def _configurations(series: Series, machine: MachineResources) -> list[Configuration]:
    if series.hosts > 1 and not series.network:
        raise UserError(f"it needs {series.hosts} hosts, and this command runs on one")
    devices = [one for one in machine.devices if one.backend in series.backends or not series.backends]
    kind = next((kind for kind in series.kinds if any(one.kind == kind for one in devices)), None)
    if kind is None:
        named = f" of {' or '.join(series.backends)}" if series.backends else " that was chosen" * machine.chosen
        raise UserError(f"no device{named} is of the kind {' or '.join(series.kinds)} here")
    found: list[Configuration] = []
    refused: list[UserError] = []
    of_kind = group_by([one for one in devices if one.kind == kind], lambda one: one.backend)
    # A GPU with CUDA has OpenCL too: the backend of `--backend auto` is first.
    automatic = [name for name in NAMES if backend_class(name).automatic_for == kind]
    for of_backend in sorted(of_kind, key=lambda group: group[0].backend not in automatic):
        try:
            found += _on_backend(series, machine, of_backend)
        except UserError as error:
            refused.append(error)
        if found and not machine.chosen:
            break
    if not found:
        raise refused[0]
    return found


def _on_backend(series: Series, machine: MachineResources, devices: Sequence[Usability]) -> list[Configuration]:
    """Return the configurations of a series on a backend. Raises `UserError` if it lacks cores or GPUs."""
    device, place = devices[0], Configuration.of(devices[0])
    if series.cores and device.kind == CORES:
        most = device.compute_units
        if series.cores > most or (series.cores < most and not device.takes_cores):
            raise UserError(f"it needs {series.cores} cores, found {most} of {device.backend}")
        place = place.with_cores(series.cores) if device.takes_cores else place
    there = len(devices) if device.kind == GPU else machine.cores
    numbers = _numbers_of_ranks(series, machine, there)
    if numbers == [1]:
        return [place]
    if obstacle := mpi_obstacle() or (emulation_obstacle() if series.network else None):
        raise UserError(obstacle)
    for ranks in numbers:
        if device.kind == GPU and ranks > there:
            raise UserError(f"each of {ranks} ranks needs a GPU, found {there} of {device.backend}")
        needed = ranks * (place.cores or 1)
        # Emulated hosts share the cores of this one.
        if device.kind != GPU and needed > there and not (series.network or machine.oversubscribe):
            shared = "--oversubscribe lets ranks share cores"
            raise UserError(f"{ranks} ranks need {needed} cores, found {there} ({shared})")
    return [replace(place, ranks=ranks, network=series.network, hosts=series.hosts) for ranks in numbers]


def _numbers_of_ranks(series: Series, machine: MachineResources, there: int) -> list[int]:
    """Return a series' numbers of ranks: its own, the user's if it is over all cores or GPUs, or one for each."""
    if series.ranks == 1:
        return [1]
    if machine.ranks is not None and max(machine.ranks, default=1) == 1:
        raise UserError("it needs several ranks, and --ranks leaves them out")
    if series.ranks:
        return [series.ranks]
    return sorted({one for one in machine.ranks or [max(there, 2)] if one > 1})
