"""Hoefler and Belli's twelve rules: which of them a report keeps, decided from its records and its page, with reasons.

A report makes its page first, calls `decide_rules` with what it shows (comparisons, single records or both) and with
that page, and puts the text of `rules_markdown` in place of its section::

    page = insert_rules(render(rules=RULES_MARK))
    about = ReportProperties(page=page, reasons="the instances of table 2", figures=["Speed-up over one core"])
    page = insert_rules(page, rules_markdown(decide_rules(comparisons, about)))

A sentence that `ReportProperties` has and the page does not print counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reports.comparison.speedups import ComparedRuns, configuration_name
from reports.records.files import Record
from reports.twelve_rules.inputs import PageUnknownError, ReportProperties, RuleInputs
from reports.twelve_rules.rules import BROKEN, CANNOT_TELL, KEPT, NOT_APPLICABLE, RULES, Rule

RULES_MARK = "<!-- the twelve rules -->"
"""Place of the section of the rules in a page until they are decided."""


class RuleVerdict(NamedTuple):
    """Verdict on a rule: `verdict` is one of `KEPT`, `BROKEN`, `NOT_APPLICABLE` and `CANNOT_TELL`."""

    number: int
    rule: str
    verdict: str
    reason: str


def decide_rules(
    shown: Iterable[ComparedRuns | Record | tuple[str, Record]], about: ReportProperties | None = None
) -> list[RuleVerdict]:
    """Decide all twelve rules; return the verdicts in the order of the paper. Raises `ValueError` if nothing is shown.

    ``shown`` is the content of the report: comparisons with their speed-ups, and single records, optionally with
    labels. ``about`` has the report's page and further properties; without it, nothing is known of the page.
    """
    everything = list(shown)
    if not everything:
        raise ValueError("no comparison and no record to judge")
    single = [(configuration_name(item), item) if isinstance(item, Record) else item for item in everything]
    material = RuleInputs(
        [item for item in single if isinstance(item, ComparedRuns)],
        [item for item in single if not isinstance(item, ComparedRuns)],
        about or ReportProperties(),
    )
    return [RuleVerdict(number, rule.text, *_decide(rule, material)) for number, rule in enumerate(RULES, 1)]


def _decide(rule: Rule, material: RuleInputs) -> tuple[str, str]:
    try:
        return rule.decide(material)
    except PageUnknownError:
        return CANNOT_TELL, "The report's page was not given."


def insert_rules(page: str, section: str = RULES_MARK) -> str:
    """Put the section of the rules into a page, with at most one empty line between paragraphs."""
    return re.sub(r"\n{3,}", "\n\n", page.replace(RULES_MARK, section)).rstrip() + "\n"


def summary(verdicts: Sequence[RuleVerdict]) -> str:
    """Count the verdicts, as a sentence without its full stop."""
    kinds = [verdict.verdict for verdict in verdicts]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in (KEPT, BROKEN, NOT_APPLICABLE, CANNOT_TELL))


def rules_markdown(verdicts: Sequence[RuleVerdict], source: str = "the records and this page") -> str:
    """Return the section of a report, with its heading: each rule with its verdict and reason, in the paper's order."""
    lines = [
        f"{verdict.number}. *{verdict.rule}* **{verdict.verdict.capitalize()}**: {verdict.reason}"
        for verdict in verdicts
    ]
    return (
        "## The twelve rules\n\nHoefler and Belli's rules for reporting performance (SC 2015), decided from "
        f"{source}: {summary(verdicts)}.\n\n" + "\n".join(lines) + "\n"
    )
