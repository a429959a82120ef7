"""Runs of several seeds as one: their results, with mean and standard deviation as papers print them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from reports.records.files import Record
from reports.text.formatting import listed


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
