"""Page of ranks: strong and weak scaling over ranks with a device each, and the time in communication.

The records are those of `onekernel bench --workload ranks`, or of any program that ran the same work, or work
that grows with the ranks, on several numbers of ranks of one host. `ranks.toml` has the plan of this page on GPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.errors import UserError
from reports.pages.comparison import busy_text, days_of, ratio_text, with_deviation
from reports.pages.markdown import fill, remove_files, written_into
from reports.plots import ranks as rank_plot
from reports.rates import ALGORITHM_SETTINGS, BUSY_CORES, is_grown, is_measured, proof_amount, rates_of, short_name
from reports.records.environment import host_of
from reports.records.files import Record, group_by, merge, require_equal_work
from reports.text import formatting
from reports.text.formatting import per_cent
from reports.text.tables import TextTable
from reports.toml_file import DataFile

if TYPE_CHECKING:
    import pandas

NAME = "ranks"
PICTURE = "Times as fast as one rank, and efficiency of work that grows with the ranks"
GOALS = {2: 1.85, 4: 3.4}
"""Gains that are the project's goals on numbers of GPUs."""
PLAN = DataFile(Path(__file__).with_name("ranks.toml")).content
"""Plan of the page on GPUs: cases in running order, numbers of ranks, backends, and the command that runs them."""


class RankRates(NamedTuple):
    """Rates of one rank and of several.

    Attributes
    ----------
    record : Record
        Run of one rank.
    strong, weak : pandas.DataFrame
        Of the same work, and of work that grows with the ranks. A row for each number of ranks, which is the index, and
        for 1; columns of `reports.rates.rates_of`, and `gain`, `gain_low`, `gain_high`: the ratio to the rate of one
        rank, and its extremes by both intervals. Rates of growing work are compared by evaluations a second.
    """

    record: Record
    strong: pandas.DataFrame
    weak: pandas.DataFrame

    @property
    def iteration_s(self) -> float:
        """Seconds of an iteration on one rank if the work is one walk, which ranks share; else 0."""
        is_walk = self.record.work_unit == "iterations" and self.record.parameters.get("walks") == 1
        return float(1 / self.strong.loc[1, "rate"]) if is_walk else 0.0


def rank_rates(records: Iterable[Record]) -> list[RankRates]:
    """Return each work with runs of one rank and of several on the same kind of device of one host, in order.

    Raises `UnequalWorkError` if two runs of the same work have different hashes.
    """
    runs = [run for run in merge(records) if run.verified and is_measured(run)]
    for alike in group_by(runs, lambda run: [run.workload, run.seed, *_problem(run)]):
        require_equal_work(alike)
    found = []
    for here in group_by(runs, _place):
        # Of several versions of the project, the last counts.
        for one in {str(_problem(run)): run for run in here if run.ranks == 1}.values():
            strong = {run.ranks: run for run in here if _problem(run) == _problem(one)}
            weak = {run.ranks: run for run in here if run.ranks > 1 and is_grown(run, one)}
            if len(strong) > 1 or weak:
                grown = {1: one, **weak}
                evaluations = {count: run.evaluations / proof_amount(run) for count, run in grown.items()}
                found.append(RankRates(one, _with_gains(strong), _with_gains(grown, evaluations)))
    return found


def _place(run: Record) -> list[object]:
    settings = [run.execution.get(name) for name in ALGORITHM_SETTINGS]
    return [run.workload, run.seed, run.backend, run.device_kind, host_of(run.environment), settings]


def _problem(run: Record) -> list[object]:
    return [run.instance_sha256, run.parameters]


def _with_gains(runs: Mapping[int, Record], units: Mapping[int, float] | None = None) -> pandas.DataFrame:
    """Return the rates of runs by their ranks, with gains in units of this size (by default 1)."""
    rates = rates_of([runs[count] for count in sorted(runs)]).set_index("ranks")
    size = [units[count] / units[1] if units else 1.0 for count in rates.index]
    one = rates.loc[1]
    rates["gain"] = size * rates["rate"] / one["rate"]
    rates["gain_low"], rates["gain_high"] = size * rates["low"] / one["high"], size * rates["high"] / one["low"]
    return rates


# --- the page ---


def rank_table(works: Sequence[RankRates]) -> TextTable:
    """Return a row for each work: the rate of one rank, gains, weak efficiency, and the time in communication."""
    counts = sorted({int(count) for work in works for count in (*work.strong.index, *work.weak.index)})
    most = counts[-1]

    def gain(rates: str, count: int, form: Callable[[float], str] = ratio_text) -> Callable[[RankRates], str]:
        of = attrgetter(rates)
        return lambda work: with_deviation(_text(of(work), count, "gain", form), _gain(of(work), count))

    one = f">1 {_noun(works)}"
    columns: dict[str, Callable[[RankRates], str]] = {
        "workload": lambda work: _name(work, works),
        "unit": lambda work: f"{work.record.work_unit}/s",
        one: lambda work: with_deviation(formatting.rate(work.strong.loc[1, "rate"]), work.strong.loc[1]),
        **{f">× on {count}": gain("strong", count) for count in counts[1:]},
        f">weak efficiency on {most}": gain("weak", most, lambda ratio: per_cent(ratio / most)),
        f">communication on {most}": lambda work: _text(work.strong, most, "communication", per_cent),
    }
    optional = [heading for heading in columns if heading.startswith((">×", ">weak"))]
    return TextTable.of(f"Scaling over {formatting.listed([*map(str, counts)])} ranks", works, columns, optional)


def _text(rates: pandas.DataFrame, count: int, column: str, form: Callable[[float], str]) -> str:
    """Return a number of some ranks as text; empty without it."""
    return form(float(rates.loc[count, column])) if count in rates.index and rates.loc[count, column] >= 0 else ""


def _gain(rates: pandas.DataFrame, count: int) -> pandas.Series[float]:
    """Return the gain of some ranks with its interval, as a rate is."""
    return rates.reindex([count]).iloc[0][["gain", "gain_low", "gain_high"]].set_axis(["rate", "low", "high"])


def _noun(works: Sequence[RankRates]) -> str:
    return "GPU" if works[0].record.device_kind == "gpu" else "rank"


def _name(work: RankRates, works: Sequence[RankRates]) -> str:
    """Return the name of a work, a table's with or without a trace, and its backend if the first row has another."""
    traced = {None: "", True: ", traced", False: ", value"}[work.record.parameters.get("trace")]
    backend = f", {work.record.backend}" if work.record.backend != works[0].record.backend else ""
    return f"{short_name(work.record)}{traced}{backend}"


def missed_goals(works: Sequence[RankRates]) -> list[str]:
    """Return a line for each number of GPUs: the works that miss its goal by the whole interval of their gain.

    Of them it names those that lose at least half of the missing time in communication.
    """
    lines = []
    for count, goal in GOALS.items():
        missed = [one for one in works if one.record.device_kind == "gpu" and _gain(one.strong, count).max() < goal]
        if missed:
            lines.append(f"Goal of × {goal:.2f} on {count} GPUs, missed by the whole interval: {_names(missed, works)}")
        rates = [(one, one.strong.loc[count]) for one in missed]
        if idle := [one for one, rate in rates if rate["communication"] >= (1 - rate["gain"] / count) / 2]:
            lines[-1] += f". At least half of the missing time is communication outside kernels: {_names(idle, works)}"
    return lines


def _names(some: Sequence[RankRates], works: Sequence[RankRates]) -> str:
    return formatting.listed([_name(one, works).replace(",", "") for one in some])


def shared_walks(works: Sequence[RankRates]) -> list[str]:
    """Return for each backend the duration of an iteration from which on further ranks pay for one walk."""
    lines = []
    for alike in group_by([work for work in works if work.iteration_s], lambda work: work.record.backend):
        walks, noun = sorted(alike, key=lambda work: work.iteration_s), _noun(alike)
        counts = sorted({int(count) for work in walks for count in work.strong.index if count > 1})
        pays = [f"{count} from {shortest} on" for count in counts if (shortest := _shortest_that_pays(walks, count))]
        measured = formatting.span(*(formatting.seconds(one.iteration_s) for one in (walks[0], walks[-1])))
        if len(walks) > 1:
            gains = f"{walks[0].record.backend}, gains by further {noun}s if an iteration takes long enough on one"
            lines.append(f"One walk, {gains}: {formatting.listed(pays or ['none'])}; those measured take {measured}")
    return lines


def _shortest_that_pays(walks: Sequence[RankRates], count: int) -> str:
    """Return the shortest iteration from which on all of these walks gain, with its work; empty if none does."""
    shortest = ""
    for work in reversed([work for work in walks if count in work.strong.index]):
        if not _gain(work.strong, count).min() > 1:
            break
        shortest = f"{formatting.seconds(work.iteration_s)} ({short_name(work.record)})"
    return shortest


def not_run(works: Sequence[RankRates]) -> list[str]:
    """Return a line for each backend of the plan with the works that have no record, and the command that runs them."""
    rows = [row for case in PLAN["case"] for row in case["for"]]
    growing = [row["title"] for row in rows if "weak" in row or "grown" in row]
    lines = []
    for backend in PLAN["backends"] if _noun(works) == "GPU" else []:
        here = {_name(work, [work]): work for work in works if work.record.backend == backend}
        equal = _left({name: work.strong.index for name, work in here.items()}, [row["title"] for row in rows])
        grows = _left({name: work.weak.index for name, work in here.items()}, growing)
        if equal or grows:
            left = f"same work: {equal or 'none'}; work that grows: {grows or 'none'}"
            lines.append(f"Not run with {backend}, {left}: `{PLAN['command'].format(backend=backend)}`")
    return lines


def _left(recorded: Mapping[str, Container[int]], planned: Sequence[str]) -> str:
    """Return the planned works without a record on some number of GPUs, as text; if these are most, the others."""
    counts: dict[str, list[str]] = {}
    for count in PLAN["ranks"]:
        done = [name for name, run in recorded.items() if count in run]
        left, rest = ([one.replace(",", "") for one in planned if (one in done) == known] for known in (False, True))
        some = f"all but {formatting.listed(rest)}" if len(left) > len(rest) > 0 else formatting.listed(left or [""])
        counts.setdefault(some if rest else "all", []).append(str(count))
    return ", ".join(f"{some} on {formatting.listed(on)} GPUs" for some, on in counts.items() if some)


def render(works: Sequence[RankRates], picture: str = "", made_by: str = "") -> str:
    """Return the page in Markdown; ``picture`` is the address of the picture, or empty."""
    busy = max(float(rates["others_cores"].max()) for work in works for rates in (work.strong, work.weak))
    runs = [work.record for work in works]
    return fill(
        "ranks.md.j2",
        busy=busy_text(busy, works[0].record) if busy >= BUSY_CORES else "",
        machine=", ".join(filter(None, (formatting.machine(*(one.environment for one in runs)), days_of(runs)))),
        device=", ".join(filter(None, (works[0].record.details.get("device_name"), works[0].record.backend))),
        table=rank_table(works),
        lines=[*missed_goals(works), *shared_walks(works), *not_run(works)],
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
        # Rows of a second backend are in the table alone.
        shown = [work for work in works if work.record.backend == works[0].record.backend]
        drawn = rank_plot.draw([(_name(one, shown), one.strong, one.weak) for one in shown], out, NAME)
        path.write_text(render(works, drawn[0].name if drawn else "", made_by), encoding="utf-8")
    return [path, *drawn]
