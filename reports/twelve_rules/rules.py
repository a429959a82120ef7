"""The twelve rules of Hoefler and Belli: a check of each; `rules.toml` has the rules and all findings in our own words.

T. Hoefler, R. Belli: Scientific benchmarking of parallel computing systems: twelve ways to tell the masses when
reporting performance results. SC 2015.

A check decides one rule from records and from the page that shows them. It answers with the name of a finding of
`rules.toml`, whose verdict is `KEPT`, `BROKEN`, `NOT_APPLICABLE`, or `CANNOT_TELL` where neither the records nor the
page decide, and with a description of the finding. It may raise `PageUnknownError`. What a report says of itself
(`ReportProperties`) counts only where its page prints it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from reports.comparison.speedups import ComparedRun
from reports.records.files import Record
from reports.statistics.medians import LEAST_FOR_COVERAGE, LEAST_FOR_INTERVAL, Estimate
from reports.text.formatting import listed, number, seconds, seconds_interval
from reports.twelve_rules.inputs import ARITHMETIC, HARMONIC, RATES, RuleInputs, is_its_own_base, named, which

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
"""Required keys of the environment of a record, with descriptions."""
Finding = tuple[str, str]
"""The name of a finding in `rules.toml`, and the text for its braces."""


class Rule(NamedTuple):
    """A rule: its text, the name of its check, and by name the verdict and the reason of each finding."""

    text: str
    check: str
    findings: Mapping[str, tuple[str, str]]

    def decide(self, it: RuleInputs) -> tuple[str, str]:
        name, counted = CHECKS[self.check](it)
        verdict, reason = self.findings[name]
        return verdict, reason.format(found=counted, coverage=LEAST_FOR_COVERAGE, least=LEAST_FOR_INTERVAL)


# --- the checks, one by one ---


def _base(it: RuleInputs) -> Finding:
    several = [comparison for comparison in it.comparisons if len(comparison.rows) > 1]
    if not several:
        return "none", ""
    if without := named((one.work.instance for one in several if one.baseline is None), "instances"):
        return "absent", without
    unsaid = which(it.compared, lambda row: not it.about.prints(seconds(row.baseline_s or 0.0)))
    return ("unsaid", unsaid) if unsaid else ("kept", "")


def _part(it: RuleInputs) -> Finding:
    instances = dict.fromkeys(record.instance for _, record in it.runs)
    if unreasoned := [instance for instance in instances if not it.about.reason(instance)]:
        return "instance" if len(unreasoned) == 1 else "instances", named(unreasoned, "instances")
    if it.about.absent and not it.about.prints(it.about.why_absent):
        return "benchmarks", it.about.absent
    idle, explained = named(_idle(record for _, record in it.runs), "machines"), it.about.prints(it.about.parts)
    if idle and not explained:
        return "idle", idle
    unknown = which(it.runs, lambda record: record.device_kind != "gpu" and not _cores(record))
    if unknown and not explained:
        return "unknown", unknown
    return "part" if idle else "whole", f" and why {it.about.absent}" if it.about.absent else ""


def _cores(record: Record) -> int:
    return int(record.environment.get("cores") or 0)


def _idle(records: Iterable[Record]) -> Iterator[str]:
    """Yield machines on which no run used a GPU or all cores."""
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


def _means(it: RuleInputs) -> Finding:
    if _most_repetitions(it) < 2:
        return "single", ""
    if not it.about.means:
        return "unknown" if it.about.means is None else "none", ""
    kinds = it.about.means.items()
    wrong = [
        f"{what} by the {kind} mean" for what, kind in kinds if kind != (HARMONIC if what == RATES else ARITHMETIC)
    ]
    return ("wrong", listed(wrong)) if wrong else ("kept", listed([f"{kind} of {what}" for what, kind in kinds]))


def _most_repetitions(it: RuleInputs) -> int:
    return max(len(record.repetitions) for _, record in it.runs)


def _ratios(it: RuleInputs) -> Finding:
    if it.about.mean_ratios:
        return "averaged", it.about.mean_ratios
    if not it.compared:
        return "none", ""
    if other := which(it.compared, lambda row: not _is_ratio_of_medians(row)):
        return "other", other
    return "unknown" if it.about.mean_ratios is None else "kept", ""


def _is_ratio_of_medians(row: ComparedRun) -> bool:
    if row.speedup is None or row.base is None:
        return False
    expected = row.base.median_s / row.median_s
    return abs(row.speedup.value / expected - 1) < 1e-9


def _intervals(it: RuleInputs) -> Finding:
    few = {label: count for label, one in it.runs if (count := len(one.repetitions)) < LEAST_FOR_COVERAGE}
    if few:
        least, most = min(few.values()), max(few.values())
        counts = f"{least} to {most}" if least < most else str(most)
        have = "has" if len(few) == 1 else "have"
        return "few", f"{named(few)} {have} {counts} repetition{'s' if most > 1 else ''}"
    it.about.require_page()
    bare = which(it.rows, lambda row: _printed_bare(row.running.median, it.about.prints))
    return ("bare", bare) if bare else ("kept", "")


def _printed_bare(median: Estimate, prints: Callable[[str], bool]) -> bool:
    return prints(seconds(median.value)) and not prints(seconds_interval(median))


def _normal(it: RuleInputs) -> Finding:
    if it.about.assumed_normal:
        return "assumed", it.about.assumed_normal
    if _most_repetitions(it) < LEAST_FOR_INTERVAL:
        return "none", ""
    return "unknown" if it.about.assumed_normal is None else "kept", ""


def _rank_tests(it: RuleInputs) -> Finding:
    ratios = [(label, row.speedup) for label, row in it.compared if row.speedup]
    if without := which(ratios, lambda ratio: ratio.low is None):
        return "few", without
    tests = it.about.tests if it.about.tests and it.about.prints(it.about.tests) else ""
    if bare := which(ratios, lambda ratio: not it.about.prints(f"[{number(ratio.low)}, {number(ratio.high)}]")):
        return "bare", bare
    if ratios:
        return "both" if tests else "intervals", tests
    return "tests" if tests else "none", tests


def _centre(it: RuleInputs) -> Finding:
    if _most_repetitions(it) < 2:
        return "single", ""
    it.about.require_page()
    if not it.about.extremes or not all(it.about.prints(f"| {heading} |") for heading in it.about.extremes):
        return "alone", ""
    without = which(it.rows, lambda row: len(row.record.repetitions) > 1 and not _prints_ends(it, row))
    return ("unprinted", without) if without else ("kept", listed(it.about.extremes))


def _prints_ends(it: RuleInputs, row: ComparedRun) -> bool:
    return all(it.about.prints(seconds(value)) for value in (row.running.minimum, row.running.maximum))


def _setup(it: RuleInputs) -> Finding:
    missing: dict[str, list[str]] = {}
    for label, record in it.runs:
        for what in _undocumented(record):
            missing.setdefault(what, []).append(label)
    if missing:
        labels = {label for label, _ in it.runs}
        return "missing", "; ".join(
            what + ("" if set(of) == labels else f" ({named(of)})") for what, of in missing.items()
        )
    machines = dict.fromkeys(str(record.environment["cpu_model"]) for _, record in it.runs)
    unnamed = named((one for one in machines if not it.about.prints(one)), "processors")
    return ("unnamed", unnamed) if unnamed else ("kept", "")


def _undocumented(record: Record) -> Iterator[str]:
    """Yield missing facts of a record's set-up."""
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


def _parallel(it: RuleInputs) -> Finding:
    parallel = [(label, record) for label, record in it.runs if record.ranks > 1]
    silent = which(
        parallel, lambda record: any(None in (run.rank_s, run.communication_share) for run in record.repetitions)
    )
    if silent:
        return "silent", silent
    return "kept" if parallel else "none", ""


def _bounds(it: RuleInputs) -> Finding:
    bases = {label for label, row in it.rows if is_its_own_base(row)}
    judged = [(label, record) for label, record in it.runs if label not in bases] or it.runs
    # A bound may be of a label with or without the instance.
    labels = {label: {label, label.removesuffix(f" on {record.instance}")} for label, record in judged}
    bounded = named(label for label, names in labels.items() if names.intersection(it.about.bounds))
    without = named(label for label, names in labels.items() if not names.intersection(it.about.bounds))
    if not bounded:
        return "none", ""
    if not it.about.prints(it.about.bound):
        return "unnamed", bounded
    return ("some", f"{without} (only for {bounded})") if without else ("kept", bounded)


def _plots(it: RuleInputs) -> Finding:
    if it.about.joined:
        return "joined", it.about.joined
    it.about.require_page()
    drawn = dict.fromkeys(_short_title(name) for name in it.about.figures if it.about.prints(f"![{name}]("))
    if drawn:
        return "unknown" if it.about.joined is None else "kept", listed([*drawn])
    return "single" if len(it.runs) < 2 else "none", ""


def _short_title(title: str) -> str:
    """Return `table 4` of a paper's table or figure with its title, and any other title without a capital."""
    title = re.sub(r"^((?:Table|Figure) \S+?)(?: \(.*?\))?: .*", r"\1", title)
    return title[0].lower() + title[1:]


CHECKS = {
    check.__name__.removeprefix("_"): check
    for check in (
        *(_base, _part, _means, _ratios, _intervals, _normal),
        *(_rank_tests, _centre, _setup, _parallel, _bounds, _plots),
    )
}
RULES = [
    Rule(**rule) for rule in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["rule"]
]
