"""Runs as the cluster model predicts them: speed-ups by ranks, costs, and predictions with their measured runs."""

from __future__ import annotations

from dataclasses import dataclass

from reports.statistics.medians import Estimate


@dataclass(frozen=True)
class Modelled:
    """An iteration on so many ranks: seconds, speed-up over one rank, and the part spent in communication."""

    ranks: int
    seconds: float
    speedup: float
    communication: float


@dataclass(frozen=True)
class NetworkCurve:
    """One work on a network, by ranks.

    Attributes
    ----------
    network : str
    points : tuple of Modelled
    fastest : Modelled
        From which further ranks make it slower, or the last.
    half_lost, beats_gpu : Modelled or None
        The fewest ranks that communicate half of the time, and that are faster than the GPU; None: none of them.

    """

    network: str
    points: tuple[Modelled, ...]
    fastest: Modelled
    half_lost: Modelled | None
    beats_gpu: Modelled | None


@dataclass(frozen=True)
class ModelledInstance:
    """One instance: seconds of an iteration on one core and on the GPU (None: no record of one), and its curves."""

    instance: str
    units: float
    unit: str
    core_s: float
    gpu_s: float | None
    curves: tuple[NetworkCurve, ...]


@dataclass(frozen=True)
class ModelledCost:
    """What a run takes somewhere: seconds, joules, and its price; None: nobody said watts, or prices."""

    place: str
    seconds: float
    joules: float | None
    price: float | None


@dataclass(frozen=True)
class ModelCheck:
    """A measured run beside what the model says of it.

    Attributes
    ----------
    instance, backend, network : str
    ranks, hosts : int
    measured : Estimate
        Seconds of an iteration.
    modelled : float
    over_measured : Estimate
        Modelled over measured, with an interval that both runs give: the one that calibrated, and this one.
    unshared : str
        The seconds that ranks do not share, and where they are from.

    """

    instance: str
    backend: str
    network: str
    ranks: int
    hosts: int
    measured: Estimate
    modelled: float
    over_measured: Estimate
    unshared: str

    @property
    def error(self) -> Estimate:
        """How far the model is above (+) or below (-) the measured median, as a part of it, with its interval."""
        found = self.over_measured
        ends = (None if end is None else end - 1 for end in (found.low, found.high))
        return Estimate(found.value - 1, *ends)
