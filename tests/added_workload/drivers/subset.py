"""Subset sum by enumeration, on any backend and over any number of ranks.

onekernel subset                   a first run of a second
onekernel subset --instance 12     fewer numbers
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivers.options.declaration import RESULTS, Options
from drivers.options.values import positive
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.declaration import SCORER, RepetitionResult, Task, VerifierVerdict, WorkloadDeclaration

if TYPE_CHECKING:
    from core.subset.search import NearestSubset, SubsetProblem, SubsetSearch
    from drivers.workload.declaration import PreparedRun, SearchPlace

    SubsetRun = PreparedRun["SubsetOptions", SubsetProblem, SubsetSearch]


@dataclass(frozen=True)
class SubsetOptions(Options, generator="12 (random numbers)", chosen="20"):
    """Options of subset sum."""

    divisor: int = RESULTS.option(2, "the target is the sum of all numbers divided by D", positive, "D", decides="work")


class SubsetWorkload(WorkloadDeclaration[SubsetOptions, "SubsetProblem", "SubsetSearch", "NearestSubset"]):
    """All subsets."""

    name = "subset"
    title = "subset sum, by enumeration"
    options = SubsetOptions
    unit = "subsets"
    hash_scope = "result"
    doing = "enumerating"
    noun = "gap"
    standard = ("--instance", "27")

    def load(self, options: SubsetOptions, ranks: int) -> Task[SubsetOptions, SubsetProblem]:
        from core.subset.search import SubsetProblem

        return Task(options, SubsetProblem(options.instance or "20", options.divisor, options.seed), "generated")

    def make_search(self, place: SearchPlace, problem: SubsetProblem, options: SubsetOptions) -> SubsetSearch:
        from core.subset.search import SubsetSearch

        return SubsetSearch(*place, problem)

    def core_seconds(self, options: SubsetOptions, problem: SubsetProblem) -> float:
        return 2**problem.n / 1e8

    def result(self, run: SubsetRun, outcome: NearestSubset) -> RepetitionResult:
        return RepetitionResult(outcome, f"gap {outcome.cost} of {int(outcome.solution.sum())} numbers")

    def verify(self, run: SubsetRun, outcome: NearestSubset, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        gap = run.problem.cost(outcome.solution)
        yield VerifierVerdict(SCORER, None if gap == outcome.cost else f"the scorer finds gap {gap}", gap)


SUBSET = SubsetWorkload()
main = driver(SUBSET, __doc__)

if __name__ == "__main__":
    exit_with(main)
