"""Configurations of a comparison: devices and numbers of ranks, and reasons for missing ones."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cluster.launch.commands import find_mpirun
from core.errors import UserError
from reports.comparison.speedups import NotRun

ONE_CORE = "core"
"""The kind of device that a rank takes unless it is told otherwise, and that the baseline has."""
DEFAULT_RANKS = (2, 4)


@dataclass(frozen=True)
class Configuration:
    """One way to run a workload."""

    backend: str
    device: str
    device_name: str
    ranks: int = 1
    kind: str = ONE_CORE
    cores: int | None = None
    part: str = ""
    compute_units: int = 1
    is_reference: bool = False

    @classmethod
    def of(cls, device: Any, **more: Any) -> Configuration:
        """Return the configuration of a device, a row of `backends.survey`; ``more`` are further attributes."""
        named = device.backend, device.device, device.name
        units, is_reference = device.compute_units, device.is_reference
        return cls(*named, kind=device.kind, compute_units=units, is_reference=is_reference, **more)

    def __str__(self) -> str:
        """Name it as messages do."""
        more = (f", {self.part}" if self.part else "") + (f", {self.ranks} ranks" if self.ranks > 1 else "")
        return f"{self.backend} (device {self.device}: {self.device_name}{more})"

    @property
    def recorded(self) -> str:
        """The device as records name it."""
        return self.part or self.device

    def not_run(self, reason: str) -> NotRun:
        """Why it has no row in the table."""
        return NotRun(self.backend, self.recorded, self.ranks, reason)


def plan_configurations(
    devices: Sequence[Any],
    backends: Sequence[str] | None,
    ranks: Sequence[int],
    rank_backend: str | None = None,
    cores: Sequence[int] | None = None,
) -> tuple[list[Configuration], list[NotRun]]:
    """Choose which configurations to run, the one-core baseline first, and which not and why.

    Parameters
    ----------
    devices : sequence
        Objects with `backend, device, name, usable, reason, kind, is_reference`, as `backends.survey` has them.
    backends : sequence of str, optional
        Only these; None: all but the reference interpreter, which is thousands of times slower.
    ranks : sequence of int
        Numbers of MPI ranks to run besides.
    rank_backend : str, optional
        What a rank runs on; None: one core, where that is among the backends.
    cores : sequence of int, optional
        Numbers of cores with which backends run that can be told so; None: all cores.

    Raises
    ------
    UserError
        A named backend is unknown or not usable here, nothing is left to run, or nothing takes a number of cores, or
        not so many.

    """
    _refuse_unusable(devices, "--backends", backends or ())
    _refuse_unusable(devices, "--rank-backend", [rank_backend] if rank_backend else ())
    chosen: list[tuple[Configuration, str]] = []
    not_run: list[NotRun] = []
    for device in devices:
        if backends is not None and device.backend not in backends:
            continue
        configuration = Configuration.of(device)
        if backends is None and device.is_reference:
            not_run.append(
                configuration.not_run(
                    f"the reference interpreter, too slow for comparisons: --backends {device.backend} includes it"
                )
            )
        elif device.usable:
            chosen.append((configuration, "" if device.is_reference else device.kind))
        else:
            not_run.append(configuration.not_run(_one_line(device.reason)))
    chosen.sort(key=lambda one: one[1] != ONE_CORE)
    if not chosen:
        raise UserError("no backend is usable here: `python -m backends` lists the reasons")
    configurations = [one for one, _ in chosen]
    of_a_rank = _of_ranks(devices, chosen, rank_backend)
    obstacle = mpi_obstacle()
    counts = sorted({count for count in ranks if count > 1})
    for ranked in [replace(of_a_rank, ranks=count) for count in counts] if of_a_rank else []:
        if obstacle:
            not_run.append(ranked.not_run(obstacle))
        else:
            configurations.append(ranked)
    return configurations if cores is None else with_cores(configurations, devices, cores), not_run


def with_cores(
    configurations: Sequence[Configuration], devices: Sequence[Any], cores: Sequence[int]
) -> list[Configuration]:
    """Those that can be told how many cores they use, with each of these numbers, and all others as they are.

    Raises
    ------
    UserError
        None of them can, or a processor has fewer cores.

    """
    present = {(one.backend, one.device): one.compute_units for one in devices if one.takes_cores}
    takers = [one for one in configurations if (one.backend, one.device) in present]
    if not takers:
        able = " or ".join(dict.fromkeys(backend for backend, _ in present)) or "a backend of all cores"
        raise UserError(f"--cores: found nothing to run that takes a number of cores, expected {able} among --backends")
    made: list[Configuration] = []
    for one in configurations:
        if one not in takers:
            made.append(one)
            continue
        most = present[one.backend, one.device]
        if max(cores) > most:
            raise UserError(f"--cores {max(cores)}: found {most} for {one.backend}, expected at most {most}")
        made += [replace(one, cores=count, part=f"{count} of {most} cores") for count in sorted(set(cores))]
    return made


def _of_ranks(
    devices: Sequence[Any], chosen: Sequence[tuple[Configuration, str]], rank_backend: str | None
) -> Configuration | None:
    """What each rank runs on; None where nothing of one core is to run."""
    if rank_backend is not None:
        device = next(one for one in devices if one.backend == rank_backend and one.usable)
        return Configuration.of(device)
    return chosen[0][0] if chosen[0][1] == ONE_CORE else None


def numbers_of_ranks(asked: Sequence[int] | None, cores: int, oversubscribe: bool) -> list[int]:
    """The numbers of ranks to run: those asked for, or without any 2 and 4 as far as there are cores.

    Raises
    ------
    UserError
        More ranks than cores are asked for, and not that they share them.

    """
    if asked is None:
        return [one for one in DEFAULT_RANKS if one <= cores]
    most = max(asked, default=0)
    if most > cores and not oversubscribe:
        raise UserError(
            f"--ranks {most}: found {cores} cores, expected at most {cores}, or --oversubscribe, which lets ranks "
            "share cores"
        )
    return list(asked)


def mpi_obstacle() -> str | None:
    """Say why several ranks cannot run here; None when they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is missing: pip install -e '.[mpi]'"
    if find_mpirun() is None:
        return "found no mpirun next to this Python or on PATH: pip install -e '.[mpi]'"
    return None


def _refuse_unusable(devices: Sequence[Any], option: str, named: Sequence[str]) -> None:
    known = list(dict.fromkeys(device.backend for device in devices))
    for name in named:
        if name not in known:
            raise UserError(f"{option}: expected some of {', '.join(known)}, found {name!r}")
        if not any(device.usable for device in devices if device.backend == name):
            reasons = "; ".join(_one_line(device.reason) for device in devices if device.backend == name)
            raise UserError(f"{option}: {name} is not usable here: {reasons}")


def _one_line(text: str) -> str:
    return " ".join(text.split())
