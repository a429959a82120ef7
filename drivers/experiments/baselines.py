"""Order of measured cases: one core before and after the others, and everything once more after a drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from drivers.experiments.case import Case
from drivers.experiments.run import CaseOutcome, PlanRun, show
from reports.rates import MOST_DRIFT, drift


def baseline_again(cases: Sequence[Case]) -> list[Case]:
    """Return measured cases in running order: one core, all others, and one core again."""
    on_one_core = [case for case in cases if case.is_of_one_core]
    others = [case for case in cases if not case.is_of_one_core]
    again = [replace(case, turns=2) for case in on_one_core if others and case.measure is not None]
    return [*on_one_core, *others, *again]


def run_with_baselines(run: PlanRun, cases: Sequence[Case]) -> list[CaseOutcome]:
    """Run cases, on a host that must be idle again after a drift; return the last outcome of each configuration."""
    outcomes = run.run(cases)
    # On a busy host the rates of one core differ anyway.
    if again := repeated_after_drift(outcomes) if run.wait else []:
        show(f"the rate of one core drifted by more than {MOST_DRIFT:.0%}: all are measured once more")
        run.total += len(again)
        outcomes += run.run(again)
    return [*{(id(one.case.task), one.case.configuration): one for one in outcomes}.values()]


def repeated_after_drift(outcomes: Sequence[CaseOutcome]) -> list[Case]:
    """Return the cases to repeat: all of an instance if the rate of one core drifted, and one core after them."""
    again: list[Case] = []
    for task in {id(one.case.task): one.case.task for one in outcomes}.values():
        done = [one for one in outcomes if one.case.task is task and one.kind == "done"]
        baselines = [one for one in done if one.case.turns == 2]
        if any(drift(record) > MOST_DRIFT for one in baselines for record in one.records):
            again += [replace(one.case, turns=2) for one in done if not one.case.is_of_one_core]
            again += [replace(one.case, turns=3) for one in baselines]
    return again
