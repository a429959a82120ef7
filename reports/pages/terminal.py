"""The comparison as a table for a terminal of 80 columns; the report has further figures."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from reports.comparison.cautions import marks
from reports.comparison.execution_settings import value_text
from reports.comparison.headline import headline
from reports.comparison.sections import ComparedSection
from reports.comparison.speedups import ComparedRun
from reports.pages.comparison import cost_sentence
from reports.statistics.medians import Summary
from reports.text.formatting import number, rate, ratio, seconds, time_unit
from reports.text.tables import TERMINAL, TextTable

MOST_OF_A_REASON = 150
_LEGEND = "from, to: [95 % interval of the median], or shortest..longest time of few repetitions"


def show(sections: Sequence[ComparedSection]) -> None:
    for place, section in enumerate(sections):
        print(*lines(section, titled=len(sections) > 1, explained=place == 0), sep="\n")


def lines(section: ComparedSection, *, titled: bool = False, explained: bool = True) -> Iterator[str]:
    """Yield a row for each run, the notes, the common work, and configurations that did not run, in at most 80 columns.

    Times are without compilation; speed-ups are over a run on one core. ``titled`` puts the instance's name above;
    ``explained`` adds the form of intervals and missing configurations, once for several instances.
    """
    comparison = section.comparison
    if titled:
        yield from ["", comparison.work.instance]
    yield from _wrapped(headline(comparison, section.nearby))
    for verdict in section.solvers.verdicts() if section.solvers else []:
        yield from _wrapped(verdict.text)
    yield ""
    yield from _table(section).terminal().splitlines()
    if explained:
        yield from _wrapped(_LEGEND)
    for caution in section.cautions:
        yield from _wrapped(f"{caution.mark}: {caution}")
    for mixed in section.mixed:
        for sentence in mixed.verdicts():
            yield from _wrapped(sentence)
    for curve in (*section.strong, *section.weak):
        yield from _wrapped(curve.fit())
    yield from _shared(section)
    for missing in comparison.not_run if explained else ():
        yield from _wrapped(f"not run: {textwrap.shorten(str(missing), MOST_OF_A_REASON, placeholder=' ...')}")


def _shared(section: ComparedSection) -> Iterator[str]:
    comparison = section.comparison
    work = comparison.work
    yield from _wrapped(f"{work.proven}: hash {work.hashed}")
    sentence = cost_sentence(section)
    yield from _wrapped(sentence[0].lower() + sentence[1:])
    if comparison.usual_settings:
        unusual = any(comparison.unusual_settings(row.record) for row in comparison.rows)
        unless = " (unless its name has others)" if unusual else ""
        usual = ", ".join(f"{name} = {value_text(value)}" for name, value in sorted(comparison.usual_settings.items()))
        yield from _wrapped(f"execution settings of every row{unless}: {usual}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, TERMINAL, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _table(section: ComparedSection) -> TextTable:
    comparison = section.comparison
    columns: dict[str, Callable[[ComparedRun], str]] = {
        "run": comparison.label,
        ">time": lambda row: seconds(row.median_s),
        ">from, to": lambda row: _range(row.running),
        ">speed-up": lambda row: ratio(row.speedup),
        f">{comparison.work.evaluation_unit}/s": lambda row: rate(row.rate),
        "notes": lambda row: marks(section.cautions, comparison.label(row)),
    }
    return TextTable.of("", comparison.rows, columns)


def _range(times: Summary) -> str:
    """Return the interval of a median, or the extremes, in the unit that `seconds` chooses for the median."""
    _, scale = time_unit(times.median.value)
    if times.median.low is not None and times.median.high is not None:
        return f"[{number(times.median.low * scale)}, {number(times.median.high * scale)}]"
    if times.repetitions == 1:
        return ""
    return f"{number(times.minimum * scale)}..{number(times.maximum * scale)}"
