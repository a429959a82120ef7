"""The twelve rules of Hoefler and Belli as a table: a text of our own words, and a check of each.

T. Hoefler, R. Belli: Scientific benchmarking of parallel computing systems: twelve ways to tell the masses when
reporting performance results. SC 2015.

A check decides one rule from records and from the page that shows them. It answers `KEPT`, `BROKEN` or
`NOT_APPLICABLE` with its reason, and `CANNOT_TELL` where neither the records nor the page decide. It may raise
`PageUnknownError`. What a report says of itself (`ReportProperties`) counts only where its page prints it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from reports.comparison.speedups import ComparedRun
from reports.records.files import Record
from reports.statistics.medians import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, Estimate
from reports.text.formatting import listed, number, seconds, seconds_interval
from reports.twelve_rules.inputs import (
    ARITHMETIC,
    HARMONIC,
    RATES,
    ReportProperties,
    RuleInputs,
    is_its_own_base,
    named,
    which,
)

KEPT, BROKEN, NOT_APPLICABLE, CANNOT_TELL = "kept", "broken", "not applicable", "undecided"
ENVIRONMENT = {
    "commit": "the commit of onekernel",
    "python": "python",
    "os": "the system",
    "host": "host",
    "cpu_model": "the processor",
    "cores": "cores",
    "packages": "packages",
}
"""Keys that the environment of a record must have to be complete, in words."""
RuleFinding = tuple[str, str]


class Rule(NamedTuple):
    """A rule and its check."""

    text: str
    check: Callable[[RuleInputs], RuleFinding]


# --- the checks, one by one ---


def _base(it: RuleInputs) -> RuleFinding:
    several = [comparison for comparison in it.comparisons if len(comparison.rows) > 1]
    if not several:
        return NOT_APPLICABLE, "No speed-up is shown."
    without = named(comparison.work.instance for comparison in several if comparison.baseline is None)
    if without:
        return BROKEN, f"No run on one core is among the records of {without}, so there is no base and no ratio."
    unsaid = which(it.compared, lambda row: not it.about.prints(seconds(row.baseline_s or 0.0)))
    if unsaid:
        return BROKEN, f"It does not print the time of one core in the speed-up of {unsaid}."
    return KEPT, (
        "Speed-ups are over the same search on one core and one rank, which is the parallel program, not the best "
        "sequential one. Its time is printed with each."
    )


def _part(it: RuleInputs) -> RuleFinding:
    instances = dict.fromkeys(record.instance for _, record in it.runs)
    unreasoned = [one for one in instances if not it.about.reason(one)]
    if unreasoned:
        return BROKEN, f"It does not say why {named(unreasoned)} {'was' if len(unreasoned) == 1 else 'were'} chosen."
    if it.about.absent and not it.about.prints(it.about.why_absent):
        return BROKEN, f"It does not say why {it.about.absent}."
    idle, explained = named(_idle(record for _, record in it.runs)), it.about.prints(it.about.parts)
    if idle and not explained:
        return BROKEN, f"It does not say why no run used all cores of {idle}."
    unknown = which(it.runs, lambda record: record.device_kind != "gpu" and not _cores(record))
    if unknown and not explained:
        return CANNOT_TELL, f"The number of cores of the machine is not recorded of {unknown}."
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
    if _most_repetitions(it) < 2:
        return NOT_APPLICABLE, "Every run has one repetition, so nothing is averaged."
    if it.about.means is None:
        return CANNOT_TELL, "Neither the records nor the page say which means it shows."
    if not it.about.means:
        return NOT_APPLICABLE, "It shows medians and no mean; a rate is the work over the median time."
    kinds = it.about.means.items()
    wrong = [
        f"{what} by the {kind} mean" for what, kind in kinds if kind != (HARMONIC if what == RATES else ARITHMETIC)
    ]
    if wrong:
        return BROKEN, f"It averages {listed(wrong)}."
    means = listed([f"{kind} of {what}" for what, kind in kinds])
    return KEPT, f"Means are {means}; a rate is the work over the median time."


def _most_repetitions(it: RuleInputs) -> int:
    return max(len(record.repetitions) for _, record in it.runs)


def _ratios(it: RuleInputs) -> RuleFinding:
    if it.about.mean_ratios:
        return BROKEN, f"It averages {it.about.mean_ratios}."
    if not it.compared:
        return NOT_APPLICABLE, "No ratio is shown."
    other = which(it.compared, lambda row: not _is_ratio_of_medians(row))
    if other:
        return BROKEN, f"The speed-up of {other} is no ratio of two medians."
    if it.about.mean_ratios is None:
        return CANNOT_TELL, "Each speed-up is one ratio of two medians; whether the page averages ratios is not known."
    return KEPT, "A speed-up is one ratio of two medians, and none are averaged."


def _is_ratio_of_medians(row: ComparedRun) -> bool:
    if row.speedup is None or row.base is None:
        return False
    expected = row.base.running.median.value / row.running.median.value
    return abs(row.speedup.value / expected - 1) < 1e-9


def _intervals(it: RuleInputs) -> RuleFinding:
    few = {label: count for label, one in it.runs if (count := len(one.repetitions)) < LEAST_FOR_COVERAGE}
    said = "Hashes show that the work is deterministic; times are not"
    if few:
        counts = sorted(set(few.values()))
        return BROKEN, (
            f"{said}, and {named(few)} {'has' if len(few) == 1 else 'have'} "
            f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} repetition{'s' if counts[-1] > 1 else ''}"
            f": fewer than the {LEAST_FOR_COVERAGE} that a 95 % interval of a median needs."
        )
    it.about.require_page()
    bare = which(it.rows, lambda row: _printed_bare(row.running.median, it.about))
    if bare:
        return BROKEN, f"{said}, and it prints the median of {bare} without its interval."
    return KEPT, f"{said}, and each median of {LEAST_FOR_COVERAGE} or more repetitions has a 95 % interval."


def _printed_bare(median: Estimate, about: ReportProperties) -> bool:
    return about.prints(seconds(median.value)) and not about.prints(seconds_interval(median))


def _normal(it: RuleInputs) -> RuleFinding:
    if it.about.assumed_normal:
        return BROKEN, f"It assumes a normal distribution for {it.about.assumed_normal}."
    if _most_repetitions(it) < LEAST_FOR_INTERVAL:
        return NOT_APPLICABLE, f"No run has the {LEAST_FOR_INTERVAL} repetitions from which intervals are made."
    if it.about.assumed_normal is None:
        return CANNOT_TELL, "Neither the records nor the page say which figures assume a normal distribution."
    return (
        KEPT,
        "Intervals are percentile bootstraps of medians, tests are of ranks; standard deviations only describe.",
    )


def _rank_tests(it: RuleInputs) -> RuleFinding:
    ratios = [(label, row.speedup) for label, row in it.compared if row.speedup]
    without = which(ratios, lambda ratio: ratio.low is None)
    if without:
        return BROKEN, (
            f"Since one side has fewer than {LEAST_FOR_INTERVAL} repetitions, there is no interval of the speed-up of "
            f"{without}."
        )
    tests = f"Runs are compared by {it.about.tests}." if it.about.tests and it.about.prints(it.about.tests) else ""
    if not ratios:
        return (KEPT, tests) if tests else (NOT_APPLICABLE, "No times are compared with each other.")
    bare = which(ratios, lambda ratio: not it.about.prints(f"[{number(ratio.low)}, {number(ratio.high)}]"))
    if bare:
        return BROKEN, f"It does not print the interval of the speed-up of {bare}."
    return KEPT, f"Each speed-up has a 95 % interval that resamples the repetitions of both sides. {tests}".rstrip()


def _centre(it: RuleInputs) -> RuleFinding:
    if _most_repetitions(it) < 2:
        return NOT_APPLICABLE, "Every run has one repetition, which is shown as it is."
    it.about.require_page()
    if not it.about.extremes or not all(it.about.prints(f"| {heading} |") for heading in it.about.extremes):
        return BROKEN, "It shows medians alone; the records have the time of every repetition."
    without = which(it.rows, lambda row: len(row.record.repetitions) > 1 and not _prints_ends(it, row))
    if without:
        return BROKEN, f"It does not print the shortest and the longest time of {without}."
    beside = listed(it.about.extremes)
    return KEPT, f"Medians, on which single disturbed repetitions have little influence, with the columns {beside}."


def _prints_ends(it: RuleInputs, row: ComparedRun) -> bool:
    return all(it.about.prints(seconds(value)) for value in (row.running.minimum, row.running.maximum))


def _setup(it: RuleInputs) -> RuleFinding:
    missing: dict[str, list[str]] = {}
    for label, record in it.runs:
        for what in _undocumented(record):
            missing.setdefault(what, []).append(label)
    if missing:
        every = {label for label, _ in it.runs}
        said = [what + ("" if set(of) == every else f" ({named(of)})") for what, of in missing.items()]
        return BROKEN, f"Not recorded: {'; '.join(said)}."
    machines = dict.fromkeys(str(record.environment["cpu_model"]) for _, record in it.runs)
    unnamed = named(one for one in machines if not it.about.prints(one))
    if unnamed:
        return BROKEN, f"It does not print the processor of its runs: {unnamed}."
    return KEPT, (
        "Records name parameters, execution settings, seeds, instance, commit, packages, system, processor, "
        "device, dates, load and clocks of every run."
    )


def _undocumented(record: Record) -> Iterator[str]:
    """Yield what a record does not say of its set-up."""
    yield from (words for name, words in ENVIRONMENT.items() if not record.environment.get(name))
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
    parallel = [(label, record) for label, record in it.runs if record.ranks > 1]
    if not parallel:
        return NOT_APPLICABLE, "No run has several ranks; the host of a device measures its times from end to end."
    silent = which(
        parallel, lambda record: any(None in (one.rank_s, one.communication_share) for one in record.repetitions)
    )
    if silent:
        return BROKEN, f"The time of every rank, or its part in communication, is not recorded of {silent}."
    return KEPT, (
        "Ranks wait at a barrier before each repetition. Its time is that of the slowest rank, and records have the "
        "time of every rank."
    )


def _bounds(it: RuleInputs) -> RuleFinding:
    bases = {label for label, row in it.rows if is_its_own_base(row)}
    judged = [(label, record) for label, record in it.runs if label not in bases] or it.runs
    # A bound may be of a label with the instance or without.
    labels = {label: {label, label.removesuffix(f" on {record.instance}")} for label, record in judged}
    bounded = named(label for label, names in labels.items() if names.intersection(it.about.bounds))
    without = named(label for label, names in labels.items() if not names.intersection(it.about.bounds))
    if not bounded:
        return BROKEN, "No figure has an upper bound of performance."
    if not it.about.prints(it.about.bound):
        return BROKEN, f"It does not name the upper bound of {bounded}."
    if without:
        return BROKEN, f"No upper bound is given for {without} (only for {bounded})."
    return KEPT, f"An upper bound is given for {bounded}."


def _plots(it: RuleInputs) -> RuleFinding:
    if it.about.joined:
        return BROKEN, f"A line joins {it.about.joined}, between which there are no values."
    it.about.require_page()
    drawn = dict.fromkeys(one[0].lower() + one[1:] for one in it.about.figures if it.about.prints(f"![{one}]("))
    if drawn and it.about.joined is None:
        return CANNOT_TELL, f"Drawn: {listed([*drawn])}; which points their lines join is not known."
    if drawn:
        return KEPT, f"Drawn: {listed([*drawn])}; lines join only points with values between them."
    if len(it.runs) < 2:
        return NOT_APPLICABLE, "There is one row only, so a picture adds nothing."
    return BROKEN, "There is no picture."


RULES = (
    Rule(
        "State the base of a speed-up, one process of the parallel program or the best sequential one, and its "
        "absolute speed.",
        _base,
    ),
    Rule("Give the reason if only a part of the benchmarks, or of the machine, was used.", _part),
    Rule("Average costs, such as seconds, by the arithmetic mean and rates by the harmonic mean.", _means),
    Rule("Do not average ratios; average the costs or rates that they are made of.", _ratios),
    Rule("Say whether values are deterministic, and give confidence intervals of those that are not.", _intervals),
    Rule("Do not assume a normal distribution without a check.", _normal),
    Rule("Compare values that are not deterministic by sound statistics, such as confidence intervals.", _rank_tests),
    Rule("Choose between mean and median by what matters; give percentiles if extremes matter.", _centre),
    Rule(
        "Document everything that varies, and the whole set-up: hardware, software, conditions.",
        _setup,
    ),
    Rule("For parallel times, state how processes were synchronised and how their times were combined.", _parallel),
    Rule("Show upper bounds of performance where there are any.", _bounds),
    Rule(
        "Plot what is needed to interpret the results. Join points by lines only if values between them have a "
        "meaning.",
        _plots,
    ),
)
"""All twelve, in the paper's order."""
