"""Which devices and numbers of ranks a comparison runs on, and which it cannot and why."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.comparison import NotRun

ONE_CORE = "core"
"""The kind of device that a rank takes unless it is told otherwise, and that the baseline has."""


@dataclass(frozen=True)
class Configuration:
    """One way to run a workload."""

    backend: str
    device: str
    device_name: str
    ranks: int = 1
    kind: str = ONE_CORE

    def __str__(self) -> str:
        """Name it as messages do."""
        ranks = f", {self.ranks} ranks" if self.ranks > 1 else ""
        return f"{self.backend} (device {self.device}: {self.device_name}{ranks})"

    def not_run(self, reason: str) -> NotRun:
        """Why it has no row in the table."""
        return NotRun(self.backend, self.device, self.ranks, reason)


def plan(
    devices: Sequence[Any], backends: Sequence[str] | None, ranks: Sequence[int], rank_backend: str | None = None
) -> tuple[list[Configuration], list[NotRun]]:
    """Choose which configurations to run, the one-core baseline first, and which not and why.

    Parameters
    ----------
    devices : sequence
        Objects with `backend, device, name, usable, reason, kind, oracle`, as `backends.survey` has them.
    backends : sequence of str, optional
        Only these; None: all but the oracle, which is thousands of times slower.
    ranks : sequence of int
        Numbers of MPI ranks to run besides.
    rank_backend : str, optional
        What a rank runs on; None: one core, where that is among the backends.

    Raises
    ------
    UserError
        A named backend is unknown or not usable here, or nothing is left to run.

    """
    _refuse_unusable(devices, "--backends", backends or ())
    _refuse_unusable(devices, "--rank-backend", [rank_backend] if rank_backend else ())
    chosen: list[tuple[Configuration, str]] = []
    not_run: list[NotRun] = []
    for device in devices:
        if backends is not None and device.backend not in backends:
            continue
        configuration = Configuration(device.backend, device.device, device.name, kind=device.kind)
        if backends is None and device.oracle:
            not_run.append(configuration.not_run(f"the oracle, far too slow to race: --backends {device.backend}"))
        elif device.usable:
            chosen.append((configuration, "" if device.oracle else device.kind))
        else:
            not_run.append(configuration.not_run(_one_line(device.reason)))
    chosen.sort(key=lambda one: one[1] != ONE_CORE)
    if not chosen:
        raise UserError("no backend is usable here: `python -m backends` says why")
    configurations = [one for one, _ in chosen]
    of_a_rank = _of_ranks(devices, chosen, rank_backend)
    obstacle = mpi_obstacle()
    counts = sorted({count for count in ranks if count > 1})
    for ranked in [replace(of_a_rank, ranks=count) for count in counts] if of_a_rank else []:
        if obstacle:
            not_run.append(ranked.not_run(obstacle))
        else:
            configurations.append(ranked)
    return configurations, not_run


def _of_ranks(
    devices: Sequence[Any], chosen: Sequence[tuple[Configuration, str]], rank_backend: str | None
) -> Configuration | None:
    """What each rank runs on; None where nothing of one core is to run."""
    if rank_backend is not None:
        device = next(one for one in devices if one.backend == rank_backend and one.usable)
        return Configuration(device.backend, device.device, device.name, kind=device.kind)
    return chosen[0][0] if chosen[0][1] == ONE_CORE else None


def refuse_oversubscription(ranks: Sequence[int], cores: int) -> None:
    """Refuse more ranks than cores.

    Raises
    ------
    UserError
        Names the number and what is here.

    """
    most = max(ranks, default=0)
    if most > cores:
        raise UserError(
            f"--ranks {most}: found {cores} cores, expected at most {cores}, or --oversubscribe, which measures how "
            "ranks share a core"
        )


def mpirun() -> str | None:
    """Find the MPI launcher: the one installed beside this Python, else the one on the path, else None."""
    beside = Path(sys.executable).with_name("mpirun")
    return str(beside) if beside.exists() else shutil.which("mpirun")


def mpi_obstacle() -> str | None:
    """Say why several ranks cannot run here; None when they can."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is missing: pip install -e '.[mpi]'"
    if mpirun() is None:
        return "no mpirun beside this Python or on the path: pip install -e '.[mpi]'"
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
