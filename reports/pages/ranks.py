"""Page of ranks: rates of one rank and of several with a device each, and the time in communication.

The records are those of `python -m drivers.bench --workload ranks`, or of any program that ran the same work, or work
that grows with the ranks, on several numbers of ranks of one host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.errors import UserError
from reports.pages.comparison import ratio_text, with_deviation
from reports.pages.markdown import fill, remove_files, written_into
from reports.plots import ranks as rank_plot
from reports.rates import ALGORITHM_SETTINGS, GROWING, is_measured, rates_of, short_name, work_of_a_rank
from reports.records.environment import host_of
from reports.records.files import Record, group_by, merge, require_equal_work
from reports.text import formatting
from reports.text.tables import TextTable

if TYPE_CHECKING:
    import pandas

NAME = "ranks"
STRONG, WEAK = "The same work", "Work that grows with the ranks"
PICTURE = "Times as fast as one rank"


class RankRates(NamedTuple):
    """Rates of one rank and of several.

    Attributes
    ----------
    kind : str
        `STRONG` or `WEAK`.
    record : Record
        Run of one rank.
    rates : pandas.DataFrame
        A row for each number of ranks, which is the index; columns of `reports.rates.rates_of`, and `gain`, `gain_low`,
        `gain_high`: the ratio to the rate of one rank, and its extremes by both intervals.
    """

    kind: str
    record: Record
    rates: pandas.DataFrame


def rank_rates(records: Iterable[Record]) -> list[RankRates]:
    """Return each work with runs of one rank and of several on the same kind of device of one host, in order.

    Raises `UnequalWorkError` if two runs of the same work have different hashes.
    """
    runs = [run for run in merge(records) if run.verified and is_measured(run)]
    found = []
    for kind, amount in ((STRONG, lambda run: run.parameters), (WEAK, work_of_a_rank)):
        for alike in group_by(runs, lambda run: [_place(run), amount(run)]):  # noqa: B023
            by_ranks = {run.ranks: run for run in alike}
            grows = any(run.parameters.get(name) for run in alike for name in GROWING)
            if 1 not in by_ranks or len(by_ranks) == 1 or (kind == WEAK and not grows):
                continue
            if kind == STRONG:
                require_equal_work(alike)
            found.append(RankRates(kind, by_ranks[1], _with_gains([by_ranks[one] for one in sorted(by_ranks)])))
    return found


def _place(run: Record) -> list[object]:
    settings = [run.execution.get(name) for name in ALGORITHM_SETTINGS]
    host = host_of(run.environment)
    return [run.workload, run.instance_sha256, run.seed, run.backend, run.device_kind, host, settings]


def _with_gains(runs: Sequence[Record]) -> pandas.DataFrame:
    rates = rates_of(runs).set_index("ranks")
    one = rates.loc[1]
    rates["gain"] = rates["rate"] / one["rate"]
    rates["gain_low"], rates["gain_high"] = rates["low"] / one["high"], rates["high"] / one["low"]
    return rates


# --- the page ---


def rank_table(works: Sequence[RankRates]) -> TextTable:
    """Return a row for each work: rates and gains by ranks, and the part of the time in communication."""
    counts = sorted({int(count) for work in works for count in work.rates.index})

    def cell(count: int, form: Callable[[pandas.Series[float]], str]) -> Callable[[RankRates], str]:
        return lambda work: form(work.rates.loc[count]) if count in work.rates.index else ""

    columns: dict[str, Callable[[RankRates], str]] = {
        "workload": lambda work: _name(work, works),
        "unit": lambda work: f"{work.record.work_unit}/s",
        **{
            f">{count}": cell(count, lambda rate: with_deviation(formatting.rate(rate["rate"]), rate))
            for count in counts
        },
        **{f">× with {count}": cell(count, lambda rate: ratio_text(rate["gain"])) for count in counts[1:]},
        ">communication": cell(counts[-1], lambda rate: formatting.per_cent(_known(rate["communication"]))),
    }
    return TextTable.of(f"Rates of {formatting.listed([*map(str, counts)])} ranks", works, columns)


def _name(work: RankRates, works: Sequence[RankRates]) -> str:
    """Return the name of a work, with its backend if there are several, and a mark if it grows with the ranks."""
    backend = f", {work.record.backend}" if len({one.record.backend for one in works}) > 1 else ""
    grows = ", grows" if work.kind == WEAK else ""
    return f"{short_name(work.record)}{backend}{grows}"


def _rate_text(rate: pandas.Series[float]) -> str:
    return with_deviation(formatting.rate(rate["rate"]), rate)


def _known(share: float) -> float | None:
    return share if share >= 0 else None


def render(works: Sequence[RankRates], picture: str = "", made_by: str = "") -> str:
    """Return the page in Markdown; ``picture`` is the address of the picture, or empty."""
    kinds = [(kind, [work for work in works if work.kind == kind]) for kind in (STRONG, WEAK)]
    return fill(
        "ranks.md.j2",
        machine=formatting.machine(works[0].record.environment),
        device=works[0].record.details.get("device_name") or works[0].record.backend,
        parts=[(kind, rank_table(those)) for kind, those in kinds if those],
        caption=PICTURE,
        picture=picture,
        made_by=made_by,
    )


def write(works: Sequence[RankRates], out: Path, made_by: str = "") -> list[Path]:
    """Write the page, and with matplotlib its picture, into a folder; return the files, the page first.

    Raises `UserError` if there is nothing to compare, for several hosts, or if the folder cannot be written.
    """
    if not works:
        raise UserError("no problem has runs of one rank and of several: nothing to compare")
    if len(group_by(works, lambda work: host_of(work.record.environment))) > 1:
        raise UserError("found records of several hosts: expected those of one, as a page has")
    path = out / f"{NAME}.md"
    with written_into(out):
        remove_files(out, f"{NAME}.svg")
        drawn = rank_plot.draw([(_name(one, works), one.rates) for one in works], out, NAME)
        path.write_text(render(works, drawn[0].name if drawn else "", made_by), encoding="utf-8")
    return [path, *drawn]
