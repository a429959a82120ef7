"""Configurations of experiments: devices and numbers of ranks and cores, and reasons for missing ones.

A comparison has all devices here, and ranks: of one core, or of several (MPI between machines, threads within).
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import backends as available
from backends import Usability
from cluster.launch.commands import find_mpirun
from core.errors import UserError
from reports.rates import NotRun
from reports.records.environment import EMULATED_HOSTS, EMULATED_NETWORK
from reports.records.environment import cores as present_cores

ONE_CORE = "core"
"""Kind of device of the baseline, and of ranks by default."""
DEFAULT_RANKS = (2, 4)


@dataclass(frozen=True)
class Configuration:
    """Backend, device, ranks and cores of a run, its compiler if there is a choice, and emulated hosts of its ranks."""

    backend: str
    device: str
    device_name: str
    ranks: int = 1
    kind: str = ONE_CORE
    cores: int | None = None
    part: str = ""
    compute_units: int = 1
    is_reference: bool = False
    network: str = ""
    hosts: int = 1
    compiler: str = ""

    @classmethod
    def of(cls, device: Usability) -> Configuration:
        """Return the configuration of a device of `backends.survey`."""
        named = device.backend, device.device, device.name
        facts = {name: getattr(device, name) for name in ("kind", "compute_units", "is_reference", "compiler")}
        return cls(*named, **facts)

    def __str__(self) -> str:
        more = (f", {self.part}" if self.part else "") + (f", {self.ranks} ranks" if self.ranks > 1 else "")
        more += f" on {self.hosts} emulated hosts, {self.network}" if self.network else ""
        return f"{self.backend} (device {self.device}: {self.device_name}{more})"

    @property
    def recorded(self) -> str:
        return self.part or self.device

    @property
    def emulated(self) -> dict[str, Any]:
        """Emulated hosts in the form of records' environments; empty for real ones."""
        return {EMULATED_NETWORK: self.network, EMULATED_HOSTS: self.hosts} if self.network else {}

    @property
    def is_core(self) -> bool:
        """True for one core with compiled programs, the baseline of speed-ups."""
        return self.kind == ONE_CORE and not self.is_reference

    def with_cores(self, count: int) -> Configuration:
        return replace(self, cores=count, part=f"{count} of {self.compute_units} cores")

    def not_run(self, reason: str) -> NotRun:
        return NotRun(self.backend, self.recorded, self.ranks, reason)


def plan_configurations(
    devices: Sequence[Usability],
    backends: Sequence[str] | None,
    ranks: Sequence[int],
    rank_backend: str | None = None,
    cores: Sequence[int] | None = None,
) -> tuple[list[Configuration], list[NotRun]]:
    """Choose the configurations to run, the one-core baseline first, and list the others with reasons.

    Parameters
    ----------
    devices : sequence
        Objects with `backend, device, name, usable, reason, kind, is_reference`, such as those of `backends.survey`.
    backends : sequence of str, optional
        Only these; None: all but the reference interpreter, which is thousands of times slower.
    ranks : sequence of int
        Further numbers of MPI ranks.
    rank_backend : str, optional
        Backend of a rank; None for one core, if that is among the backends.
    cores : sequence of int, optional
        Numbers of cores for backends that accept one; None for all cores.

    Raises
    ------
    UserError
        A named backend is unknown or not usable here, nothing is left to run, or no backend accepts these cores.
    """
    _refuse_unusable(devices, "--backends", backends or ())
    _refuse_unusable(devices, "--rank-backend", [rank_backend] if rank_backend else ())
    chosen = [one for one in devices if (not one.is_reference if backends is None else one.backend in backends)]
    not_run = [Configuration.of(one).not_run(_one_line(one.reason)) for one in chosen if not one.usable]
    usable = [Configuration.of(one) for one in chosen if one.usable]
    configurations = sorted(usable, key=lambda one: not one.is_core)
    if not configurations:
        raise UserError("no backend is usable here: `onekernel devices` lists the reasons")
    of_a_rank = configurations[0] if configurations[0].is_core else None
    if rank_backend is not None:
        of_a_rank = Configuration.of(next(one for one in devices if one.backend == rank_backend and one.usable))
    if of_a_rank is not None:
        ranked = [replace(of_a_rank, ranks=count) for count in sorted(set(ranks)) if count > 1]
        obstacle = mpi_obstacle()
        configurations += [] if obstacle else ranked
        not_run += [one.not_run(obstacle) for one in ranked] if obstacle else []
    return configurations if cores is None else with_cores(configurations, devices, cores), not_run


def with_cores(
    configurations: Sequence[Configuration], devices: Sequence[Usability], cores: Sequence[int]
) -> list[Configuration]:
    """Return configurations with each of these numbers of cores if they accept one, and all others unchanged.

    Raises `UserError` if none accepts one, or a processor has fewer cores.
    """
    able = [(device.backend, device.device) for device in devices if device.takes_cores]
    chosen: list[Configuration] = []
    for configuration in configurations:
        most, is_able = configuration.compute_units, (configuration.backend, configuration.device) in able
        if is_able and max(cores) > most:
            raise UserError(f"--cores {max(cores)}: found {most} for {configuration.backend}, expected at most {most}")
        chosen += [configuration.with_cores(count) for count in sorted(set(cores))] if is_able else [configuration]
    if all(configuration.cores is None for configuration in chosen):
        names = " or ".join(dict.fromkeys(backend for backend, _ in able)) or "a backend of all cores"
        expected = f"expected {names} among --backends"
        raise UserError(f"--cores: found nothing to run that takes a number of cores, {expected}")
    return chosen


def mpi_obstacle() -> str | None:
    """Return the reason against several ranks here, or None."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is missing: pip install 'onekernel[mpi]'"
    if find_mpirun() is None:
        return "found no mpirun next to this Python or on PATH: pip install 'onekernel[mpi]'"
    return None


def _refuse_unusable(devices: Sequence[Usability], option: str, named: Sequence[str]) -> None:
    known = list(dict.fromkeys(device.backend for device in devices))
    for name in named:
        if name not in known:
            raise UserError(f"{option}: expected some of {', '.join(known)}, found {name!r}")
        if not any(device.usable for device in devices if device.backend == name):
            reasons = "; ".join(_one_line(device.reason) for device in devices if device.backend == name)
            raise UserError(f"{option}: {name} is not usable here: {reasons}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- from a command line ---


def choose_configurations(options: argparse.Namespace) -> tuple[list[Configuration], list[NotRun]]:
    """Return the configurations of `--backends`, `--ranks` and related options, and those that cannot run with reasons.

    Raises `UserError` if a requested device does not exist, or an option changes nothing.
    """
    devices = available.survey()
    ranks = chosen_ranks(options)
    configurations, not_run = plan_configurations(devices, options.backends, ranks, options.rank_backend, options.cores)
    ranked = [one.ranks for one in configurations] + [one.ranks for one in not_run]
    if options.ranks and max(ranks) > 1 and max(ranked) == 1:
        raise UserError(
            f"--ranks {max(ranks)}: no backend of one core is among --backends, expected --rank-backend too"
        )
    return configurations, not_run


def chosen_ranks(options: argparse.Namespace) -> list[int]:
    """Return the further numbers of ranks: the requested ones, or by default 2 and 4 if there are cores.

    Raises `UserError` for more ranks than cores without oversubscription, or for a backend of ranks without ranks.
    """
    present = present_cores()
    if options.ranks is None:
        return [one for one in DEFAULT_RANKS if one <= present]
    most = max(options.ranks, default=1)
    if options.rank_backend and most == 1:
        raise UserError(f"--rank-backend {options.rank_backend}: changes nothing without ranks, expected --ranks 2")
    if most > present and not options.oversubscribe:
        raise UserError(
            f"--ranks {most}: found {present} cores, expected at most {present}, or --oversubscribe, which lets ranks "
            "share cores"
        )
    return list(options.ranks)
