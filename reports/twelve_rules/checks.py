"""Checks of Hoefler and Belli's twelve rules: each decides one rule from records and from the page that shows them.

A check answers `KEPT`, `BROKEN` or `NOT_APPLICABLE` with its reason, and `CANNOT_TELL` where neither the records nor
the page decide. What a report says of itself (`ReportProperties`) counts only where its page prints it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from reports.comparison.speedups import ComparedRun
from reports.records.files import Record
from reports.statistics.interval_text import seconds_interval
from reports.statistics.medians import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, Estimate
from reports.text.formatting import listed, number, seconds
from reports.twelve_rules.inputs import ARITHMETIC, HARMONIC, RATES, ReportProperties, RuleInputs, is_its_own_base

KEPT, BROKEN, NOT_APPLICABLE, CANNOT_TELL = "kept", "broken", "not applicable", "undecided"
MOST_NAMED = 4
"""Rows that a reason names one by one."""


def named(labels: Iterable[str]) -> str:
    """Name rows, the first few one by one."""
    distinct = list(dict.fromkeys(labels))
    if len(distinct) > MOST_NAMED + 1:
        distinct = [*distinct[:MOST_NAMED], f"{len(distinct) - MOST_NAMED} more"]
    # Labels such as `cpu, 2 ranks` have commas of their own.
    return "; ".join(distinct) if any("," in label for label in distinct) else listed(distinct)


RuleFinding = tuple[str, str]


# --- the rules, one by one ---

NO_PAGE = "The report's page was not given."


def _base(it: RuleInputs) -> RuleFinding:
    several = [comparison for comparison in it.comparisons if len(comparison.rows) > 1]
    without = [comparison.work.instance for comparison in several if comparison.baseline is None]
    if not several:
        return NOT_APPLICABLE, "No speed-up is shown."
    if without:
        return BROKEN, f"No run on one core is among the records of {named(without)}, so there is no base and no ratio."
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    unsaid = [run.label for run in it.compared if run.row and not it.about.prints(seconds(run.row.baseline_s or 0.0))]
    if unsaid:
        return BROKEN, f"It does not print the time of one core in the speed-up of {named(unsaid)}."
    return KEPT, (
        "Speed-ups are over the same search on one core and one rank, which is the parallel program, not the best "
        "sequential one. Its time is printed with each."
    )


def _part(it: RuleInputs) -> RuleFinding:
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    instances = dict.fromkeys(run.record.instance for run in it.runs)
    unreasoned = [one for one in instances if not it.about.reason(one)]
    if unreasoned:
        return BROKEN, f"It does not say why {named(unreasoned)} {'was' if len(unreasoned) == 1 else 'were'} chosen."
    if it.about.absent and not it.about.prints(it.about.why_absent):
        return BROKEN, f"It does not say why {it.about.absent}."
    idle = list(_idle(run.record for run in it.runs))
    explained = it.about.prints(it.about.parts)
    if idle and not explained:
        return BROKEN, f"It does not say why no run used all cores of {named(idle)}."
    unknown = [run.label for run in it.runs if run.record.device_kind != "gpu" and not _cores(run.record)]
    if unknown and not explained:
        return CANNOT_TELL, f"The number of cores of the machine is not recorded of {named(unknown)}."
    said = "It says why these instances were chosen"
    said += f" and why {it.about.absent}" if it.about.absent else ""
    return KEPT, said + (
        " and why only a part of the machine was used." if idle else "; runs used all cores, or a GPU."
    )


def _cores(record: Record) -> int:
    return int(record.environment.get("cores") or 0)


def _idle(records: Iterable[Record]) -> Iterator[str]:
    """Yield machines of which no run used a GPU or all cores."""
    most: dict[str, tuple[str, int, bool]] = {}
    for record in records:
        cores, host = _cores(record), str(record.environment.get("host") or "the machine")
        if not cores:
            continue
        hosts = int(record.environment.get("host_count") or 1)
        used = {"core": record.ranks, "cores": (record.host_cores or 0) * hosts}
        full = used.get(record.device_kind, cores * hosts) >= cores * hosts
        key = json.dumps(record.environment, sort_keys=True)
        most[key] = (host, cores, full or most.get(key, (host, 0, False))[2])
    for host, cores, full in most.values():
        if not full:
            yield f"{host} ({cores} cores)"


def _means(it: RuleInputs) -> RuleFinding:
    if all(run.repetitions < 2 for run in it.runs):
        return NOT_APPLICABLE, "Every run has one repetition, so nothing is averaged."
    if it.about.means is None:
        return CANNOT_TELL, "Neither the records nor the page say which means it shows."
    if not it.about.means:
        return NOT_APPLICABLE, "It shows medians and no mean; a rate is the work over the median time."
    wrong = [
        f"{what} by the {kind} mean"
        for what, kind in it.about.means.items()
        if kind != (HARMONIC if what == RATES else ARITHMETIC)
    ]
    if wrong:
        return BROKEN, f"It averages {listed(wrong)}."
    kinds = [f"{kind} of {what}" for what, kind in it.about.means.items()]
    return KEPT, f"Means are {listed(kinds)}; a rate is the work over the median time."


def _ratios(it: RuleInputs) -> RuleFinding:
    if it.about.mean_ratios:
        return BROKEN, f"It averages {it.about.mean_ratios}."
    if not it.compared:
        return NOT_APPLICABLE, "No ratio is shown."
    other = [run.label for run in it.compared if run.row and not _is_ratio_of_medians(run.row)]
    if other:
        return BROKEN, f"The speed-up of {named(other)} is no ratio of two medians."
    if it.about.mean_ratios is None:
        return CANNOT_TELL, "Each speed-up is one ratio of two medians; whether the page averages ratios is not known."
    return KEPT, "A speed-up is one ratio of two medians, and none are averaged."


def _is_ratio_of_medians(row: ComparedRun) -> bool:
    if row.speedup is None or row.base is None:
        return False
    expected = row.base.running.median.value / row.running.median.value
    return abs(row.speedup.value / expected - 1) < 1e-9


def _intervals(it: RuleInputs) -> RuleFinding:
    few = [run for run in it.runs if run.repetitions < LEAST_FOR_COVERAGE]
    said = "Hashes show that the work is deterministic; times are not"
    if few:
        counts = sorted({run.repetitions for run in few})
        return BROKEN, (
            f"{said}, and {named(run.label for run in few)} {'has' if len(few) == 1 else 'have'} "
            f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} repetition{'s' if counts[-1] > 1 else ''}"
            f": fewer than the {LEAST_FOR_COVERAGE} that a 95 % interval of a median needs."
        )
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    bare = [run.label for run in it.runs if run.row and _printed_bare(run.row.running.median, it.about)]
    if bare:
        return BROKEN, f"{said}, and it prints the median of {named(bare)} without its interval."
    return KEPT, f"{said}, and each median of {LEAST_FOR_COVERAGE} or more repetitions has a 95 % interval."


def _printed_bare(median: Estimate, about: ReportProperties) -> bool:
    return about.prints(seconds(median.value)) and not about.prints(seconds_interval(median))


def _normal(it: RuleInputs) -> RuleFinding:
    if it.about.assumed_normal:
        return BROKEN, f"It assumes a normal distribution for {it.about.assumed_normal}."
    if all(run.repetitions < LEAST_FOR_INTERVAL for run in it.runs):
        return NOT_APPLICABLE, f"No run has the {LEAST_FOR_INTERVAL} repetitions from which intervals are made."
    if it.about.assumed_normal is None:
        return CANNOT_TELL, "Neither the records nor the page say which figures assume a normal distribution."
    return (
        KEPT,
        "Intervals are percentile bootstraps of medians, tests are of ranks; standard deviations only describe.",
    )


def _rank_tests(it: RuleInputs) -> RuleFinding:
    tests = f"Runs are compared by {it.about.tests}" if it.about.prints(it.about.tests) else ""
    if not it.compared:
        return (KEPT, f"{tests}.") if tests else (NOT_APPLICABLE, "No times are compared with each other.")
    without = [run.label for run in it.compared if run.row and run.row.speedup and run.row.speedup.low is None]
    if without:
        return BROKEN, (
            f"Since one side has fewer than {LEAST_FOR_INTERVAL} repetitions, there is no interval of the speed-up of "
            f"{named(without)}."
        )
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    bare = [run.label for run in it.compared if run.row and run.row.speedup and not _pair(run.row.speedup, it.about)]
    if bare:
        return BROKEN, f"It does not print the interval of the speed-up of {named(bare)}."
    said = "Each speed-up has a 95 % interval that resamples the repetitions of both sides."
    return KEPT, f"{said} {tests}.".replace(" .", "")


def _pair(ratio: Estimate, about: ReportProperties) -> bool:
    return about.prints(f"[{number(ratio.low)}, {number(ratio.high)}]")


def _centre(it: RuleInputs) -> RuleFinding:
    if all(run.repetitions < 2 for run in it.runs):
        return NOT_APPLICABLE, "Every run has one repetition, which is shown as it is."
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    if not it.about.extremes or not all(map(it.about.heads, it.about.extremes)):
        return BROKEN, "It shows medians alone; the records have the time of every repetition."
    without = [run.label for run in it.runs if run.row and run.repetitions > 1 and not _ends(run.row, it.about)]
    if without:
        return BROKEN, f"It does not print the shortest and the longest time of {named(without)}."
    beside = listed(it.about.extremes)
    return KEPT, f"Medians, on which single disturbed repetitions have little influence, with the columns {beside}."


def _ends(row: ComparedRun, about: ReportProperties) -> bool:
    return all(about.prints(seconds(value)) for value in (row.running.minimum, row.running.maximum))


ENVIRONMENT = ("commit", "python", "os", "host", "cpu_model", "cores", "packages")
"""Names that the environment of a record must have to be complete."""


def _setup(it: RuleInputs) -> RuleFinding:
    missing: dict[str, list[str]] = {}
    for run in it.runs:
        for what in _undocumented(run.record):
            missing.setdefault(what, []).append(run.label)
    if missing:
        said = [
            what + ("" if len(set(labels)) == len({run.label for run in it.runs}) else f" ({named(labels)})")
            for what, labels in missing.items()
        ]
        return BROKEN, f"Not recorded: {'; '.join(said)}."
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    machines = dict.fromkeys(str(run.record.environment["cpu_model"]) for run in it.runs)
    unnamed = [one for one in machines if not it.about.prints(one)]
    if unnamed:
        return BROKEN, f"It does not print the processor of its runs: {named(unnamed)}."
    return KEPT, (
        "Records name parameters, execution settings, seeds, instance, commit, packages, system, processor, "
        "device, dates, load and clocks of every run."
    )


def _undocumented(record: Record) -> Iterator[str]:
    """Yield what a record does not say of its set-up."""
    for name in ENVIRONMENT:
        if not record.environment.get(name):
            yield {"commit": "the commit of onekernel", "os": "the system", "cpu_model": "the processor"}.get(
                name, name
            )
    if str(record.environment.get("commit")).endswith("+changes"):
        yield "changes of the sources since the commit"
    if not record.details.get("device_name"):
        yield "the device's name"
    if any(repetition.started_at is None for repetition in record.repetitions):
        yield "the start times of repetitions"
    clock = "gpu_mhz" if record.device_kind == "gpu" else "cpu_mhz_mean"
    for name, words in (("load_1min", "the load before"), (clock, "the clock")):
        if any((repetition.conditions or {}).get(name) is None for repetition in record.repetitions):
            yield words


def _parallel(it: RuleInputs) -> RuleFinding:
    parallel = [run for run in it.runs if run.record.ranks > 1]
    if not parallel:
        return NOT_APPLICABLE, "No run has several ranks; the host of a device measures its times from end to end."
    silent = [
        run.label
        for run in parallel
        if any(one.rank_s is None or one.communication_share is None for one in run.record.repetitions)
    ]
    if silent:
        return BROKEN, f"The time of every rank, or its part in communication, is not recorded of {named(silent)}."
    return KEPT, (
        "Ranks wait at a barrier before each repetition. Its time is that of the slowest rank, and records have the "
        "time of every rank."
    )


def _bounds(it: RuleInputs) -> RuleFinding:
    judged = [run for run in it.runs if not (run.row and is_its_own_base(run.row))] or it.runs
    bounded = [run.label for run in judged if it.bounded(run)]
    without = [run.label for run in judged if not it.bounded(run)]
    if not bounded:
        return BROKEN, "No figure has an upper bound of performance."
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    if not it.about.prints(it.about.bound):
        return BROKEN, f"It does not name the upper bound of {named(bounded)}."
    if without:
        return BROKEN, f"No upper bound is given for {named(without)} (only for {named(bounded)})."
    return KEPT, f"An upper bound is given for {named(bounded)}."


def _plots(it: RuleInputs) -> RuleFinding:
    if it.about.joined:
        return BROKEN, f"A line joins {it.about.joined}, between which there are no values."
    if it.about.page is None:
        return CANNOT_TELL, NO_PAGE
    drawn = [one for one in it.about.figures if it.about.prints(f"![{one}](")]
    if drawn and it.about.joined is None:
        return CANNOT_TELL, f"Drawn: {_lowered(drawn)}; which points their lines join is not known."
    if drawn:
        return KEPT, f"Drawn: {_lowered(drawn)}; lines join only points with values between them."
    if len(it.runs) < 2:
        return NOT_APPLICABLE, "There is one row only, so a picture adds nothing."
    return BROKEN, "There is no picture."


def _lowered(figures: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(figures))
    return listed([one[0].lower() + one[1:] for one in distinct])


CHECKS: tuple[Callable[[RuleInputs], RuleFinding], ...] = (
    *(_base, _part, _means, _ratios, _intervals, _normal, _rank_tests, _centre, _setup, _parallel, _bounds, _plots),
)
"""A check of each rule, in the paper's order."""
