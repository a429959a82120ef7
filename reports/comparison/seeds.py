"""Runs of several seeds as one: their results, with mean and standard deviation as papers print them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from reports.records.files import Record
from reports.statistics.medians import Summary, summarise
from reports.text.formatting import cost, gap, interval, listed, number


@dataclass(frozen=True)
class SeedQuality:
    """Costs of runs with several seeds.

    Attributes
    ----------
    runs
        One of each seed, in the order of the seeds.
    costs
        Summary of the best costs of all seeds.
    optimum : int or float or None
        Known optimum of the instance.
    """

    runs: tuple[Record, ...]
    costs: Summary
    optimum: int | float | None

    @classmethod
    def of(cls, family: Sequence[Record]) -> SeedQuality:
        return cls(
            tuple(family), summarise([run.best_cost for run in family]), family[0].details.get("optimum") or None
        )

    def __str__(self) -> str:
        """Return a sentence without its full stop."""
        costs = self.costs
        if costs.minimum == costs.maximum:
            return f"best cost {cost(costs.mean)} with each of {costs.repetitions} seeds{self._to_optimum('it')}"
        deviation = "" if costs.deviation is None else f", sample standard deviation {number(costs.deviation)}"
        reach = f"from {cost(costs.minimum)} to {cost(costs.maximum)}"
        return (
            f"best cost over {costs.repetitions} seeds: mean {cost(costs.mean)}{deviation}, median "
            f"{interval(costs.median, cost)}, {reach}{self._to_optimum('the mean')}"
        )

    def _to_optimum(self, what: str) -> str:
        """Return the mean's distance to the optimum, and the number of seeds that reached it; empty if unknown."""
        if not self.optimum:
            return ""
        apart = gap(self.costs.mean, self.optimum)
        if self.costs.mean == self.optimum:
            return f"; {what} is the optimum"
        reached = sum(run.best_cost == self.optimum for run in self.runs)
        optimum = cost(self.optimum)
        return f"; {what} is {apart} the optimum {optimum}, which {reached} of {len(self.runs)} seeds reached"


def merge_seeds(family: Sequence[Record]) -> Record:
    """Merge the records of runs that differ only in the seed.

    It has the repetitions of all, the best cost of any, the mean of their evaluations, and a hash of their hashes:
    equal for equal runs, seed by seed. ``parameters["seeds"]`` names the seeds, ``details["costs"]`` has the best cost
    of each.
    """
    if len(family) == 1:
        return family[0]
    first = family[0]
    best = min(family, key=lambda run: run.best_cost)
    hashes = hashlib.sha256(" ".join(f"{run.seed} {run.hash}" for run in family).encode())
    return replace(
        best,
        seed=first.seed,
        parameters={**best.parameters, "seeds": seeds_text([run.seed for run in family])},
        repetitions=tuple(repetition for run in family for repetition in run.repetitions),
        evaluations=round(sum(run.evaluations for run in family) / len(family)),
        hash=hashes.hexdigest()[:16],
        details={**best.details, "costs": [run.best_cost for run in family]},
        verified=all(run.verified for run in family),
    )


def seeds_text(seeds: Sequence[int]) -> str:
    """Name seeds: `0 to 29` for consecutive ones, else one by one."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return listed([str(seed) for seed in seeds])
