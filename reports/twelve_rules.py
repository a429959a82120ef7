"""Hoefler and Belli's twelve rules: which of them a report keeps, decided from its records and its page, with reasons.

T. Hoefler, R. Belli: Scientific benchmarking of parallel computing systems: twelve ways to tell the masses when
reporting performance results. SC 2015. The rules stand here in our own words; `reports.rule_checks` decides them.

A report makes its page first, calls `rules_of` with what it shows (comparisons, single records or both) and with that
page, and puts the text that `in_markdown` makes of the verdicts where its section shall be::

    page = placed(render(rules=PLACE))
    about = Shown(page=page, reasons="the instances of the paper's table 2", figures=["Speed-up over one core"])
    page = placed(page, in_markdown(rules_of(comparisons, about)))

A sentence that `Shown` has and the page does not print counts as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.comparison import Comparison
from reports.records import Record
from reports.rule_checks import BROKEN, CANNOT_TELL, CHECKS, KEPT, NOT_APPLICABLE
from reports.rule_material import ARITHMETIC, HARMONIC, RATES, Material, Shown

__all__ = [
    "ARITHMETIC",
    "BROKEN",
    "CANNOT_TELL",
    "HARMONIC",
    "KEPT",
    "NOT_APPLICABLE",
    "PLACE",
    "RATES",
    "RULES",
    "Shown",
    "Verdict",
    "in_markdown",
    "placed",
    "rules_of",
    "summary",
]

PLACE = "<!-- the twelve rules -->"
"""Marks the place of the section of the rules in a page until they are decided."""

RULES = (
    "With a speed-up say what its base is, one process of the parallel program or the best sequential one, and how "
    "fast the base is in absolute terms.",
    "Say why only a part of the benchmarks, or of the machine, was used.",
    "Average costs, such as seconds, by the arithmetic mean and rates by the harmonic mean.",
    "Do not average ratios; average the costs or rates that they are made of.",
    "Say whether values are deterministic, and give confidence intervals of those that are not.",
    "Do not take values as normally distributed without a check.",
    "Compare values that are not deterministic by sound statistics, such as confidence intervals.",
    "Ask whether the mean or the median is what matters; where extremes matter, give percentiles too.",
    "Document everything that varies, and the whole set-up: hardware, software, conditions.",
    "Of parallel times say how processes were synchronised and how their times became one.",
    "Show upper bounds of performance where there are any.",
    "Plot what is needed to interpret the results, and join points by lines only where values between them mean "
    "something.",
)
"""All twelve, in the paper's order."""


@dataclass(frozen=True)
class Verdict:
    """Verdict on a rule: `verdict` is one of `KEPT`, `BROKEN`, `NOT_APPLICABLE` and `CANNOT_TELL`."""

    number: int
    rule: str
    verdict: str
    reason: str


def rules_of(shown: Iterable[Comparison | Record | tuple[str, Record]], about: Shown | None = None) -> list[Verdict]:
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
    material = Material.of(shown, about or Shown())
    return [
        Verdict(number, rule, *check(material))
        for number, (rule, check) in enumerate(zip(RULES, CHECKS, strict=True), 1)
    ]


def placed(page: str, section: str = PLACE) -> str:
    """Put the section of the rules into a page, and no more than one empty line between two paragraphs."""
    return re.sub(r"\n{3,}", "\n\n", page.replace(PLACE, section)).rstrip() + "\n"


def summary(verdicts: Sequence[Verdict]) -> str:
    """Count the verdicts, as a sentence without its full stop."""
    found = [one.verdict for one in verdicts]
    return ", ".join(f"{found.count(one)} {one}" for one in (KEPT, BROKEN, NOT_APPLICABLE, CANNOT_TELL))


def in_markdown(verdicts: Sequence[Verdict], level: int = 2) -> str:
    """Return the section of a report, with its heading: each rule with its verdict and reason, in the paper's order."""
    lines = [f"{one.number}. *{one.rule}* **{one.verdict.capitalize()}**: {one.reason}" for one in verdicts]
    return (
        f"{'#' * level} The twelve rules\n\nHoefler and Belli's rules for reporting performance (SC 2015), decided "
        f"from the records and this page: {summary(verdicts)}.\n\n" + "\n".join(lines) + "\n"
    )
