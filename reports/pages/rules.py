"""`python -m reports rules`: the twelve rules, decided for files of records, with or without the page of a report."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from core.errors import UserError
from reports.comparison.speedups import compare_each_problem
from reports.records.files import Record, RecordError, families
from reports.statistics.seeds import merge_seeds
from reports.toml_file import DataFile
from reports.twelve_rules.inputs import ReportProperties
from reports.twelve_rules.rules import RULES
from reports.twelve_rules.verdicts import RuleVerdict, decide_rules

ENDING = """A rule is kept, broken, not applicable, or undecided where neither the records
nor the page tell. The file of --about has facts that records do not have, as
TOML; docs/reports.md lists its keys.

exit code: 0 no rule is broken, 1 a rule is broken, 2 a user mistake
"""


def rules_help() -> str:
    rules = [
        textwrap.fill(rule.text, 79, initial_indent=f"{number:4}. ", subsequent_indent=" " * 6)
        for number, rule in enumerate(RULES, 1)
    ]
    return "\n".join(["the rules, in our own words:", *rules, "", ENDING])


def report_properties(about: Path | None, page: Path | None) -> ReportProperties:
    """Read a report's properties besides its records. Raises `UserError` for unreadable files and wrong keys."""
    file = DataFile(about) if about else None
    said = file.part(ReportProperties, file.content, "the file") if file else ReportProperties()
    try:
        return structs.replace(said, page=page.read_text(encoding="utf-8")) if page else said
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{page}: cannot read the page: {error}") from None


def decide(records: Sequence[Record], about: ReportProperties) -> list[RuleVerdict]:
    """Decide the rules for records: runs of equal work are compared, and seeds of one family are one run.

    Raises `RecordError` or `UnequalWorkError` without a confirmed run, or for runs that cannot be compared.
    """
    confirmed = [record for record in records if record.verified and record.repetitions]
    if not confirmed:
        raise RecordError("no confirmed runs in the files")
    return decide_rules(compare_each_problem(merge_seeds(family) for family in families(confirmed)), about)
