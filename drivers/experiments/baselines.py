"""Order of measured cases: baselines before and after the others, and everything once more after a drift."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration
from drivers.experiments.run import CaseOutcome, PlanRun, show
from reports.rates import MOST_DRIFT, drift
from reports.records.files import group_by


def baseline_again(cases: Sequence[Case]) -> list[Case]:
    """Return measured cases in running order: one core, all others, and one core again."""
    return in_turns(cases, [case for case in cases if case.is_of_one_core])


def in_turns(cases: Sequence[Case], bases: Sequence[Case]) -> list[Case]:
    """Return cases in running order: the bases, all others, and the measured bases again."""
    places = {_place(case) for case in bases}
    others = [case for case in cases if _place(case) not in places]
    again = [replace(case, turns=2) for case in bases if others and case.measure is not None]
    return [*bases, *others, *again]


def run_with_baselines(
    run: PlanRun, cases: Sequence[Case], group: Callable[[CaseOutcome], object] = lambda one: id(one.case.task)
) -> list[CaseOutcome]:
    """Run cases, on a host that must be idle again after a drift; return the last outcome of each configuration.

    Cases of one `group` are measured once more if the rate of one of their bases drifted.
    """
    outcomes = run.run(cases)
    # On a busy host the rates of one core differ anyway.
    groups = group_by(outcomes, group) if run.wait else []
    if again := [case for one in groups for case in repeated_after_drift(one)]:
        show(f"the rate of one core drifted by more than {MOST_DRIFT:.0%}: all are measured once more")
        run.total += len(again)
        outcomes += run.run(again)
    return [*{_place(one.case): one for one in outcomes}.values()]


def repeated_after_drift(outcomes: Sequence[CaseOutcome]) -> list[Case]:
    """Return the cases to repeat: all others if the rate of a base drifted, and the bases after them."""
    done = [one for one in outcomes if one.kind == "done"]
    bases = [one for one in done if one.case.turns == 2]
    if not any(drift(record) > MOST_DRIFT for one in bases for record in one.records):
        return []
    places = {_place(one.case) for one in bases}
    others = [replace(one.case, turns=2) for one in done if _place(one.case) not in places]
    return [*others, *(replace(one.case, turns=3) for one in bases)]


def _place(case: Case) -> tuple[int, Configuration]:
    return id(case.task), case.configuration
