"""Which of Hoefler and Belli's twelve rules a report keeps, decided from its records, with the reason for each.

T. Hoefler, R. Belli: Scientific benchmarking of parallel computing systems: twelve ways to tell the masses when
reporting performance results. SC 2015. The rules stand here in our own words.

A report calls `rules_of` with what it shows, which may be comparisons, single records or both, and puts the text that
`in_markdown` makes of the verdicts where its section shall be, in a template as ``{{ rules }}``::

    about = Shown(reasons="the instances of the paper's table 2", figures=["Speed-up over one core"])
    rules = in_markdown(rules_of(comparisons, about))

What records cannot tell, because it is the report's doing (why these instances, which figures stand there, what bounds
the results), says `Shown`; what is left out there is taken as missing, and the verdict says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reports import version_1
from reports.comparison import Comparison, Row, is_baseline, place_of
from reports.records import Record
from reports.statistics import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL
from reports.wording import listed

KEPT, BROKEN, NOT_APPLICABLE = "kept", "broken", "not applicable"
MOST_NAMED = 4
"""Rows that a reason names one by one."""

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
class Shown:
    """What a report says and draws beside its records.

    Attributes
    ----------
    reasons : str or mapping
        Why these instances: one reason for all, or a reason by the name of the instance; empty where none is given.
    parts : str
        Why only a part of the machine was used, if it was.
    bounds : collection of str
        Labels of the rows beside which an upper bound of their performance stands, an ideal speed-up for instance. The
        label of a row is `Comparison.label`; of a record given by itself it is `reports.comparison.place_of`.
    figures : sequence of str
        What the pictures show.
    extremes : str
        What says beside medians how values spread, the shortest and the longest time for instance; empty: nothing.
    tests : str
        Which tests compare runs, beside the intervals of speed-ups.
    mean_ratios : str
        Which ratios the report averages, if any.
    assumed_normal : str
        Which figures take values as normally distributed, if any.
    joined : str
        Which points a picture joins although nothing lies between them, if any.
    """

    reasons: str | Mapping[str, str] = ""
    parts: str = ""
    bounds: Collection[str] = ()
    figures: Sequence[str] = ()
    extremes: str = "the shortest and the longest time"
    tests: str = ""
    mean_ratios: str = ""
    assumed_normal: str = ""
    joined: str = ""

    def reason(self, instance: str) -> str:
        """Why this instance, or nothing."""
        return self.reasons if isinstance(self.reasons, str) else self.reasons.get(instance, "")


@dataclass(frozen=True)
class Verdict:
    """What became of a rule: `verdict` is one of `KEPT`, `BROKEN` and `NOT_APPLICABLE`."""

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
        What the report says besides; without it, nothing.

    Returns
    -------
    list of Verdict
        Twelve, in the order of the paper.

    Raises
    ------
    ValueError
        Nothing is shown.
    """
    everything = list(shown)
    if not everything:
        raise ValueError("no comparison and no record to judge")
    material = _Material(
        tuple(one for one in everything if isinstance(one, Comparison)),
        tuple(
            one if isinstance(one, tuple) else (place_of(one), one)
            for one in everything
            if not isinstance(one, Comparison)
        ),
        about or Shown(),
    )
    return [
        Verdict(number, rule, *judge(material))
        for number, (rule, judge) in enumerate(zip(RULES, _JUDGES, strict=True), 1)
    ]


def summary(verdicts: Sequence[Verdict]) -> str:
    """Count the verdicts, as a sentence without its full stop."""
    found = [one.verdict for one in verdicts]
    return f"{found.count(KEPT)} kept, {found.count(BROKEN)} broken, {found.count(NOT_APPLICABLE)} not applicable"


def in_markdown(verdicts: Sequence[Verdict], level: int = 2) -> str:
    """The section of a report, with its heading: the rules in the paper's order, each with its verdict and reason."""
    lines = [f"{one.number}. *{one.rule}* **{one.verdict.capitalize()}**: {one.reason}" for one in verdicts]
    return (
        f"{'#' * level} The twelve rules\n\nHoefler and Belli's rules for reporting performance (SC 2015), decided "
        f"from the records: {summary(verdicts)}.\n\n" + "\n".join(lines) + "\n"
    )


# --- what is judged ---


@dataclass(frozen=True)
class _Run:
    """A row of a comparison, or a record by itself."""

    label: str
    record: Record
    row: Row | None

    @property
    def repetitions(self) -> int:
        return len(self.record.samples)


@dataclass(frozen=True)
class _Material:
    comparisons: tuple[Comparison, ...]
    records: tuple[tuple[str, Record], ...]
    about: Shown
    several: bool = field(init=False)

    def __post_init__(self) -> None:
        everything = [comparison.work for comparison in self.comparisons] + [record for _, record in self.records]
        object.__setattr__(self, "several", len({(one.workload, one.instance) for one in everything}) > 1)

    @cached_property
    def runs(self) -> list[_Run]:
        """All rows and records."""
        rows = [
            _Run(self._label(comparison.label(row), row.record), row.record, row)
            for comparison in self.comparisons
            for row in comparison.rows
        ]
        return rows + [_Run(self._label(label, one), one, None) for label, one in self.records]

    def _label(self, label: str, record: Record) -> str:
        return f"{label} on {record.instance}" if self.several else label

    @property
    def compared(self) -> list[_Run]:
        """Rows with a speed-up over another row."""
        return [run for run in self.runs if run.row and run.row.speedup and not _is_its_own_base(run.row)]

    def bounded(self, run: _Run) -> bool:
        """Whether a bound stands beside a run, whose label may be given with its instance or without."""
        return (
            run.label in self.about.bounds or run.label.removesuffix(f" on {run.record.instance}") in self.about.bounds
        )


def _is_its_own_base(row: Row) -> bool:
    return row.speedup is not None and row.speedup.value == 1 and row.speedup.low is None and is_baseline(row)


def named(labels: Iterable[str]) -> str:
    """Name rows, the first few one by one."""
    distinct = list(dict.fromkeys(labels))
    if len(distinct) > MOST_NAMED + 1:
        distinct = [*distinct[:MOST_NAMED], f"{len(distinct) - MOST_NAMED} more"]
    # Labels such as `cpu, 2 ranks` have commas of their own.
    return "; ".join(distinct) if any("," in label for label in distinct) else listed(distinct)


Judgement = tuple[str, str]


# --- the rules, one by one ---


def _base(it: _Material) -> Judgement:
    several = [comparison for comparison in it.comparisons if len(comparison.rows) > 1]
    without = [comparison.work.instance for comparison in several if comparison.baseline is None]
    if not several:
        return NOT_APPLICABLE, "No speed-up is shown."
    if without:
        return BROKEN, f"No run on one core is among the records of {named(without)}, so there is no base and no ratio."
    return KEPT, (
        "Speed-ups are over the same search on one core and one rank, which is the parallel program and not the best "
        "sequential one, and its time stands beside each."
    )


def _part(it: _Material) -> Judgement:
    instances = dict.fromkeys(run.record.instance for run in it.runs)
    unreasoned = [one for one in instances if not it.about.reason(one)]
    if unreasoned:
        return BROKEN, f"It does not say why {named(unreasoned)} {'was' if len(unreasoned) == 1 else 'were'} chosen."
    idle = list(_idle(run.record for run in it.runs))
    if idle and not it.about.parts:
        return BROKEN, f"It does not say why no run used all cores of {named(idle)}."
    return KEPT, "It says why these instances were chosen" + (
        " and why only a part of the machine was used." if idle else "; runs used all cores, or a GPU."
    )


def _idle(records: Iterable[Record]) -> Iterator[str]:
    """Machines of which no run used a GPU or all cores."""
    most: dict[str, tuple[str, int, bool]] = {}
    for record in records:
        cores, host = record.environment.get("cores"), str(record.environment.get("host") or "the machine")
        if not cores:
            continue
        hosts = int(record.environment.get("hosts") or 1)
        used = {"core": record.ranks, "cores": (record.host_cores or 0) * hosts}
        full = used.get(record.device_kind, int(cores) * hosts) >= int(cores) * hosts
        key = json.dumps(record.environment, sort_keys=True)
        most[key] = (host, int(cores), full or most.get(key, (host, 0, False))[2])
    for host, cores, full in most.values():
        if not full:
            yield f"{host} ({cores} cores)"


def _means(it: _Material) -> Judgement:
    if all(run.repetitions < 2 for run in it.runs):
        return NOT_APPLICABLE, "Every run has one repetition, so nothing is averaged."
    return (
        KEPT,
        "Means are arithmetic, of seconds and costs; a rate is the work over the median time, no mean of rates.",
    )


def _ratios(it: _Material) -> Judgement:
    if it.about.mean_ratios:
        return BROKEN, f"It averages {it.about.mean_ratios}."
    if not it.compared:
        return NOT_APPLICABLE, "No ratio is shown."
    return KEPT, "A speed-up is one ratio of two medians, and none are averaged."


def _intervals(it: _Material) -> Judgement:
    few = [run for run in it.runs if run.repetitions < LEAST_FOR_COVERAGE]
    said = "Hashes say that work is deterministic; times are not"
    if few:
        counts = sorted({run.repetitions for run in few})
        return BROKEN, (
            f"{said}, and {named(run.label for run in few)} {'has' if len(few) == 1 else 'have'} "
            f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} repetition{'s' if counts[-1] > 1 else ''}"
            f": fewer than the {LEAST_FOR_COVERAGE} that a 95 % interval of a median takes."
        )
    return KEPT, f"{said}, and each median of {LEAST_FOR_COVERAGE} or more repetitions has a 95 % interval."


def _normal(it: _Material) -> Judgement:
    if it.about.assumed_normal:
        return BROKEN, f"It takes values as normally distributed for {it.about.assumed_normal}."
    if all(run.repetitions < LEAST_FOR_INTERVAL for run in it.runs):
        return NOT_APPLICABLE, f"No run has the {LEAST_FOR_INTERVAL} repetitions from which intervals are made."
    return (
        KEPT,
        "Intervals are percentile bootstraps of medians, tests are of ranks; standard deviations only describe.",
    )


def _sound(it: _Material) -> Judgement:
    tests = f"Runs are compared by {it.about.tests}" if it.about.tests else ""
    if not it.compared:
        return (KEPT, f"{tests}.") if tests else (NOT_APPLICABLE, "No times are compared with each other.")
    without = [run.label for run in it.compared if run.row and run.row.speedup and run.row.speedup.low is None]
    if without:
        return BROKEN, (
            f"Since one side has fewer than {LEAST_FOR_INTERVAL} repetitions, there is no interval of the speed-up of "
            f"{named(without)}."
        )
    said = "Each speed-up has a 95 % interval that resamples the repetitions of both sides."
    return KEPT, f"{said} {tests}.".replace(" .", "")


def _centre(it: _Material) -> Judgement:
    if all(run.repetitions < 2 for run in it.runs):
        return NOT_APPLICABLE, "Every run has one repetition, which is shown as it is."
    if it.about.extremes:
        return (
            KEPT,
            f"Medians, on which single disturbed repetitions have little influence; beside them: {it.about.extremes}.",
        )
    return BROKEN, "It shows medians alone; the records have the time of every repetition."


ENVIRONMENT = ("suite", "python", "os", "host", "cpu", "cores", "packages")
"""What the environment of a record must name to be complete."""


def _setup(it: _Material) -> Judgement:
    missing: dict[str, list[str]] = {}
    for run in it.runs:
        for what in _undocumented(run.record):
            missing.setdefault(what, []).append(run.label)
    if not missing:
        return KEPT, (
            "Records name parameters, ways, seeds, instance, commit, packages, system, processor, device, dates, load "
            "and clocks of every run."
        )
    said = [
        what + ("" if len(set(labels)) == len({run.label for run in it.runs}) else f" ({named(labels)})")
        for what, labels in missing.items()
    ]
    return BROKEN, f"Not recorded: {'; '.join(said)}."


def _undocumented(record: Record) -> Iterator[str]:
    """What a record does not say of its set-up."""
    for name in ENVIRONMENT:
        if not record.environment.get(name):
            yield {"suite": "the suite's commit", "os": "the system"}.get(name, name)
    if str(record.environment.get("suite")).endswith("+changes"):
        yield "what changed in the sources since the commit"
    if not record.details.get("device_name"):
        yield "the device's name"
    if any(sample.started is None for sample in record.samples):
        yield "when repetitions began"
    clock = "gpu_mhz" if record.device_kind == "gpu" else "cpu_mhz_mean"
    for name, words in (("load_1min", "the load before"), (clock, "the clock")):
        if any((sample.conditions or {}).get(name) is None for sample in record.samples):
            yield words


def _parallel(it: _Material) -> Judgement:
    parallel = [run for run in it.runs if run.record.ranks > 1]
    if not parallel:
        return NOT_APPLICABLE, "No run has several ranks; a device's lanes are timed from end to end by its one host."
    short = [
        run.label
        for run in parallel
        if run.record.details.get("schema_read") == version_1.SCHEMA
        and any(sample.compile_s > 0 for sample in run.record.samples)
    ]
    if short:
        return BROKEN, f"Recorded by version 1, whose time over ranks may be too short: {named(short)}."
    silent = [
        run.label
        for run in parallel
        if any(one.rank_seconds is None or one.communication_share is None for one in run.record.samples)
    ]
    if silent:
        return BROKEN, f"The time of every rank, or its part in communication, is not recorded of {named(silent)}."
    return KEPT, (
        "Ranks meet at a barrier before each repetition, its time is that of the rank that ran longest, and records "
        "have the time of every rank."
    )


def _bounds(it: _Material) -> Judgement:
    judged = [run for run in it.runs if not (run.row and _is_its_own_base(run.row))] or it.runs
    bounded = [run.label for run in judged if it.bounded(run)]
    without = [run.label for run in judged if not it.bounded(run)]
    if not bounded:
        return BROKEN, "No upper bound of performance stands beside any figure."
    if without:
        return BROKEN, f"An upper bound is missing beside {named(without)} (it is there beside {named(bounded)})."
    return KEPT, f"An upper bound stands beside {named(bounded)}."


def _plots(it: _Material) -> Judgement:
    if it.about.joined:
        return BROKEN, f"A line joins {it.about.joined}, and nothing lies between them."
    if it.about.figures:
        return (
            KEPT,
            f"Drawn: {_lowered(it.about.figures)}; lines are steps, a fitted law, or join what has values between.",
        )
    if len(it.runs) < 2:
        return NOT_APPLICABLE, "There is one row, which a picture would not make clearer."
    return BROKEN, "There is no picture."


def _lowered(figures: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(figures))
    return listed([one[0].lower() + one[1:] for one in distinct])


_JUDGES: tuple[Callable[[_Material], Judgement], ...] = (
    *(_base, _part, _means, _ratios, _intervals, _normal, _sound, _centre, _setup, _parallel, _bounds, _plots),
)
