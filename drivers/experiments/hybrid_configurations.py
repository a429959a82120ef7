"""Mixtures of ranks and threads: the same number of cores as one rank with all of them, as a rank for each, or between.

The paper's clusters ran such a program: MPI between the machines, OpenMP within each.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.experiments.configurations import ONE_CORE, Configuration, mpi_obstacle
from reports.comparison.speedups import NotRun


class HybridConfiguration(NamedTuple):
    """So many ranks, each with so many cores."""

    ranks: int
    cores: int

    def __str__(self) -> str:
        """As the command line has it."""
        return f"{self.ranks}x{self.cores}"

    @property
    def total(self) -> int:
        """The cores of all ranks together."""
        return self.ranks * self.cores


def read_hybrid_configuration(text: str) -> HybridConfiguration | int:
    """Read a mixture, 4x2, or a number of cores, 8, which stands for all its mixtures."""
    found = re.fullmatch(r"([1-9]\d{0,5})(?:x([1-9]\d{0,5}))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected ranks x cores as in 4x2, or a number of cores, found {text!r}")
    number, cores = found.groups()
    return int(number) if cores is None else HybridConfiguration(int(number), int(cores))


def hybrid_configurations(total: int) -> list[HybridConfiguration]:
    """All ways to share so many cores out evenly, from one rank with all to a rank for each."""
    return [HybridConfiguration(ranks, total // ranks) for ranks in range(1, total + 1) if total % ranks == 0]


def chosen_hybrid_configurations(
    asked: Sequence[HybridConfiguration | int], present: int, oversubscribe: bool
) -> list[HybridConfiguration]:
    """The mixtures that a command line asks for: those named, all of a number of cores, or all of the cores here.

    Parameters
    ----------
    asked
        What stands behind `--hybrid`.
    present
        Cores of this machine.
    oversubscribe
        Whether mixtures may share cores.

    Raises
    ------
    UserError
        They are not all of the same number of cores, or are of more than there are; of one core there is none.

    """
    numbers = [one if isinstance(one, int) else one.total for one in asked] or [present]
    if len(set(numbers)) > 1:
        found = " ".join(map(str, asked))
        raise UserError(
            f"--hybrid {found}: found {', '.join(map(str, numbers))} cores, expected the same number in all, as in "
            f"{' '.join(map(str, hybrid_configurations(max(numbers))))}"
        )
    total = numbers[0]
    if total < 2:
        raise UserError(f"--hybrid: found {total} core, expected at least 2")
    if total > present and not oversubscribe:
        raise UserError(
            f"--hybrid {' '.join(map(str, asked))}: found {present} cores, expected at most {present}, or "
            "--oversubscribe, which lets ranks share cores"
        )
    named = [one for one in asked if isinstance(one, HybridConfiguration)]
    return sorted(set(named)) if len(named) == len(asked) > 0 else hybrid_configurations(total)


def plan_hybrid_configurations(
    devices: Sequence[Any], mixtures: Sequence[HybridConfiguration], backend: str | None = None
) -> tuple[list[Configuration], list[NotRun]]:
    """What runs where: one core, the baseline of all; then every mixture, and which of them cannot run and why.

    Ranks of one core each are flat MPI: they run on the device of one core, without a pool of threads.

    Parameters
    ----------
    devices : sequence
        As `drivers.experiments.configurations.plan_configurations` takes them.
    mixtures : sequence of Mixture
    backend : str, optional
        What ranks of several cores run on; None: the first that takes a number of cores.

    Raises
    ------
    UserError
        There is no device of one core, or none that takes a number of cores.

    """
    usable = [one for one in devices if one.usable and not one.is_reference]
    core = next((one for one in usable if one.kind == ONE_CORE), None)
    takers = [one for one in usable if one.takes_cores]
    several = next((one for one in takers if backend in (None, one.backend)), None)
    if core is None:
        raise UserError(
            "--hybrid: found no backend of one core here, the baseline of speed-ups: see `python -m backends`"
        )
    if several is None:
        able = ", ".join(dict.fromkeys(one.backend for one in takers)) or "none of this machine"
        found = f"--rank-backend {backend}" if backend else "nothing"
        raise UserError(f"--hybrid: found {found}, expected a backend that takes a number of cores: {able}")
    baseline, most, obstacle = Configuration.of(core), several.compute_units, mpi_obstacle()
    configurations, not_run = [baseline], []
    for one in mixtures:
        mixed = replace(baseline, ranks=one.ranks)
        if one.cores > 1:
            mixed = Configuration.of(several, ranks=one.ranks, cores=one.cores, part=f"{one.cores} of {most} cores")
        if one.cores > most:
            not_run.append(mixed.not_run(f"found {most} cores for a rank here, expected {one.cores}"))
        elif obstacle and one.ranks > 1:
            not_run.append(mixed.not_run(obstacle))
        else:
            configurations.append(mixed)
    return configurations, not_run
