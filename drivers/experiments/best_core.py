"""The best one-core algorithm of a problem: one more run on one core, until a result as good as that of the proof."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.experiments.plan import plan_work
from drivers.experiments.run import CaseOutcome, PlanRun
from drivers.options.declaration import option_flag
from drivers.options.values import OUTPUT_FILE
from drivers.workload.registry import get_workload
from reports.records.files import Record

MEASURE_S = 0.6
"""Budget of its rate in seconds."""


def run_best_core(run: PlanRun, outcomes: Sequence[CaseOutcome]) -> list[Record]:
    """Run the best one-core algorithm on the problem of a comparison's cases; return its records.

    There are none if no case ran on one core, or if the cases themselves have the best algorithm.
    """
    on_one_core = [one for one in outcomes if one.case.is_of_one_core and one.records]
    case = best_core_case(on_one_core[0].case, on_one_core[0].records[0].best_cost) if on_one_core else None
    if case is None:
        return []
    run.total += 1
    return [record for one in run.run([case]) for record in one.records]


def best_core_case(of: Case, cost: int | float) -> Case | None:
    """Return the run of the best one-core algorithm on a case's problem until this cost.

    None if the workload declares none, if it cannot take the problem, or if it is the case itself.
    """
    if not of.workload.best_core:
        return None
    name, program, *words = of.workload.best_core
    workload = get_workload(program)
    arguments = [*instance_words(of), *(word.format(cost=cost) for word in words)]
    arguments += ["--best-core-of", of.workload.name, name]
    try:
        case = plan_work(workload, arguments, of.seeds[:1], 1, of.records, peers=False, measure=MEASURE_S)[0]
    except UserError:
        return None
    is_itself = case.workload is of.workload and case.asked == of.asked
    is_other = case.task.problem.name != of.task.problem.name
    return None if is_itself or is_other else case.on(of.configuration)


def instance_words(case: Case) -> list[str]:
    """Return the arguments of a case that choose its instance, files of results left out."""
    kept = {
        option_flag(one)
        for one, about in case.workload.options.declared()
        if (about.decides == "nothing" or one.name == "data") and about.type is not OUTPUT_FILE
    }
    words, is_kept = [], True
    for word in case.arguments:
        if word.startswith("--"):
            is_kept = word.partition("=")[0] in kept
        words += [word] * is_kept
    return words
