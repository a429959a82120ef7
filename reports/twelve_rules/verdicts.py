"""Hoefler and Belli's twelve rules: which of them a report keeps, decided from its records and its page, with reasons.

T. Hoefler, R. Belli: Scientific benchmarking of parallel computing systems: twelve ways to tell the masses when
reporting performance results. SC 2015. The rules stand here in our own words; `reports.twelve_rules.checks` decides
them.

A report makes its page first, calls `decide_rules` with what it shows (comparisons, single records or both) and with
that page, and puts the text that `rules_markdown` makes of the verdicts where its section shall be::

    page = placed(render(rules=PLACE))
    about = Shown(page=page, reasons="the instances of the paper's table 2", figures=["Speed-up over one core"])
    page = placed(page, in_markdown(rules_of(comparisons, about)))

A sentence that `ReportProperties` has and the page does not print counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.comparison.speedups import ComparedRuns
from reports.records.files import Record
from reports.twelve_rules.checks import BROKEN, CANNOT_TELL, CHECKS, KEPT, NOT_APPLICABLE
from reports.twelve_rules.inputs import ARITHMETIC, HARMONIC, RATES, ReportProperties, RuleInputs

__all__ = [
    "ARITHMETIC",
    "BROKEN",
    "CANNOT_TELL",
    "HARMONIC",
    "KEPT",
    "NOT_APPLICABLE",
    "RULES_MARK",
    "RATES",
    "RULES",
    "ReportProperties",
    "RuleVerdict",
    "rules_markdown",
    "insert_rules",
    "decide_rules",
    "summary",
]

RULES_MARK = "<!-- the twelve rules -->"
"""Marks the place of the section of the rules in a page until they are decided."""

RULES = (
    "State the base of a speed-up, one process of the parallel program or the best sequential one, and its absolute "
    "speed.",
    "Give the reason if only a part of the benchmarks, or of the machine, was used.",
    "Average costs, such as seconds, by the arithmetic mean and rates by the harmonic mean.",
    "Do not average ratios; average the costs or rates that they are made of.",
    "Say whether values are deterministic, and give confidence intervals of those that are not.",
    "Do not assume a normal distribution without a check.",
    "Compare values that are not deterministic by sound statistics, such as confidence intervals.",
    "Choose between mean and median by what matters; give percentiles if extremes matter.",
    "Document everything that varies, and the whole set-up: hardware, software, conditions.",
    "For parallel times, state how processes were synchronised and how their times were combined.",
    "Show upper bounds of performance where there are any.",
    "Plot what is needed to interpret the results. Join points by lines only if values between them have a meaning.",
)
"""All twelve, in the paper's order."""


@dataclass(frozen=True)
class RuleVerdict:
    """Verdict on a rule: `verdict` is one of `KEPT`, `BROKEN`, `NOT_APPLICABLE` and `CANNOT_TELL`."""

    number: int
    rule: str
    verdict: str
    reason: str


def decide_rules(
    shown: Iterable[ComparedRuns | Record | tuple[str, Record]], about: ReportProperties | None = None
) -> list[RuleVerdict]:
    """Decide all twelve rules.

    Parameters
    ----------
    shown : iterable of Comparison, Record or (str, Record)
        What the report shows: comparisons with their speed-ups, records that stand by themselves, with their labels if
        they have any, or all of them.
    about : Shown, optional
        The report's page and what it says besides; without it, nothing is known of the page.

    Returns
    -------
    list of Verdict
        Twelve, in the order of the paper.

    Raises
    ------
    ValueError
        Nothing is shown.
    """
    material = RuleInputs.of(shown, about or ReportProperties())
    return [
        RuleVerdict(number, rule, *check(material))
        for number, (rule, check) in enumerate(zip(RULES, CHECKS, strict=True), 1)
    ]


def insert_rules(page: str, section: str = RULES_MARK) -> str:
    """Put the section of the rules into a page, and no more than one empty line between two paragraphs."""
    return re.sub(r"\n{3,}", "\n\n", page.replace(RULES_MARK, section)).rstrip() + "\n"


def summary(verdicts: Sequence[RuleVerdict]) -> str:
    """Count the verdicts, as a sentence without its full stop."""
    found = [one.verdict for one in verdicts]
    return ", ".join(f"{found.count(one)} {one}" for one in (KEPT, BROKEN, NOT_APPLICABLE, CANNOT_TELL))


def rules_markdown(verdicts: Sequence[RuleVerdict], level: int = 2) -> str:
    """Return the section of a report, with its heading: each rule with its verdict and reason, in the paper's order."""
    lines = [f"{one.number}. *{one.rule}* **{one.verdict.capitalize()}**: {one.reason}" for one in verdicts]
    return (
        f"{'#' * level} The twelve rules\n\nHoefler and Belli's rules for reporting performance (SC 2015), decided "
        f"from the records and this page: {summary(verdicts)}.\n\n" + "\n".join(lines) + "\n"
    )
