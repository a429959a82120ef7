"""Verdicts on Hoefler and Belli's twelve rules: each flips when a record, or what a report says, changes."""

from dataclasses import replace

import pytest

from reports.comparison import NotRun, compare
from reports.schema import Sample
from reports.twelve_rules import BROKEN, KEPT, NOT_APPLICABLE, RULES, Shown, in_markdown, rules_of, summary

MACHINE = {
    "suite": "0123abc",
    "python": "3.11.7",
    "os": "Linux",
    "host": "node",
    "cpu": "Test CPU",
    "cores": 2,
    "hosts": 1,
    "packages": {"numpy": "2.0.0"},
}
CONDITIONS = {"load_1min": 0.1, "cpu_mhz_mean": 3000.0, "gpu_mhz": 1900.0}
BOUNDED = Shown(reasons="the paper's", bounds=("cpu", "threads", "cpu, 2 ranks"), figures=["Speed-up over one core"])


def samples(count=7, ranks=1, time=1.0, **changes):
    fields = {
        "started": "2026-11-22T10:00:00Z",
        "conditions": CONDITIONS,
        "rank_seconds": [1.0] * ranks,
        "communication_share": 0.1,
    } | changes
    return tuple(Sample(0.0, 0.0, time, time + 0.01 * number, **fields) for number in range(count))


@pytest.fixture
def runs(make_record):
    """One core, all cores and two ranks, of which everything is recorded."""
    common = {"environment": MACHINE, "details": {"device_name": "Test CPU"}}
    return {
        "cpu": make_record(samples=samples(), **common),
        "threads": make_record(backend="threads", samples=samples(time=0.5), **common),
        "ranks": make_record(ranks=2, samples=samples(ranks=2, time=0.6), **common),
    }


def verdicts(shown, about=BOUNDED):
    return {one.number: one for one in rules_of(shown, about)}


def test_a_report_of_which_everything_is_known_keeps_all_twelve(runs):
    found = rules_of([compare(runs.values())], BOUNDED)
    assert [one.number for one in found] == list(range(1, 13))
    assert [one.rule for one in found] == list(RULES)
    assert [one.verdict for one in found] == [KEPT] * 12
    assert all(one.reason.endswith(".") and one.reason.count(". ") <= 1 for one in found)


def changed(runs, name, **changes):
    return [compare({**runs, name: replace(runs[name], **changes)}.values())]


@pytest.mark.parametrize(
    ("rule", "what", "said"),
    [
        (
            1,
            lambda runs: [compare([runs["threads"], runs["ranks"]])],
            "No run on one core is among the records of kroA100",
        ),
        (2, lambda runs: [compare([runs["cpu"]])], "why no run used all cores of node (2 cores)"),
        (
            5,
            lambda runs: changed(runs, "ranks", samples=samples(5, 2)),
            "cpu, 2 ranks has 5 repetitions: fewer than the 6",
        ),
        (
            7,
            lambda runs: changed(runs, "threads", samples=samples(2)),
            "there is no interval of the speed-up of threads.",
        ),
        (9, lambda runs: changed(runs, "cpu", details={}), "Not recorded: the device's name (cpu)."),
        (
            9,
            lambda runs: changed(runs, "cpu", samples=samples(started=None)),
            "Not recorded: when repetitions began (cpu).",
        ),
        (
            9,
            lambda runs: changed(runs, "cpu", samples=samples(conditions=None)),
            "the load before (cpu); the clock (cpu).",
        ),
        (
            9,
            lambda runs: [compare([replace(runs["cpu"], environment=MACHINE | {"suite": "0123abc+changes"})])],
            "Not recorded: what changed in the sources since the commit.",
        ),
        (
            9,
            lambda runs: [compare([replace(runs["cpu"], environment=MACHINE | {"suite": None, "packages": {}})])],
            "Not recorded: the suite's commit; packages.",
        ),
        (
            10,
            lambda runs: changed(runs, "ranks", samples=samples(ranks=2, rank_seconds=None)),
            "The time of every rank, or its part in communication, is not recorded of cpu, 2 ranks.",
        ),
        (
            10,
            lambda runs: changed(runs, "ranks", samples=samples(communication_share=None, ranks=2)),
            "is not recorded of cpu, 2 ranks.",
        ),
        (
            10,
            lambda runs: changed(
                runs,
                "ranks",
                details={"schema_read": 1, "device_name": "Test CPU"},
                samples=tuple(replace(one, compile_s=0.5, total_s=2.0) for one in samples(ranks=2)),
            ),
            "Recorded by version 1, whose time over ranks may be too short: cpu, 2 ranks.",
        ),
    ],
)
def test_a_rule_is_broken_by_what_records_lack(runs, rule, what, said):
    found = verdicts(what(runs))
    assert found[rule].verdict == BROKEN
    assert said in found[rule].reason
    others = {number for number, one in found.items() if one.verdict == BROKEN} - {rule}
    # One core alone leaves others idle, and few repetitions give a speed-up no interval.
    assert others <= {2, 5, 7}


@pytest.mark.parametrize(
    ("rule", "about", "said"),
    [
        (2, {"reasons": ""}, "does not say why kroA100 was chosen"),
        (4, {"mean_ratios": "speed-ups over instances"}, "averages speed-ups over instances"),
        (6, {"assumed_normal": "the intervals of table 3"}, "for the intervals of table 3"),
        (8, {"extremes": ""}, "medians alone"),
        (11, {"bounds": ()}, "No upper bound"),
        (
            11,
            {"bounds": ("cpu, 2 ranks",)},
            "An upper bound is missing beside threads (it is there beside cpu, 2 ranks).",
        ),
        (12, {"figures": ()}, "There is no picture"),
        (12, {"joined": "the devices"}, "A line joins the devices"),
    ],
)
def test_a_rule_is_broken_by_what_the_report_does(runs, rule, about, said):
    found = verdicts([compare(runs.values())], replace(BOUNDED, **about))
    assert [number for number, one in found.items() if one.verdict == BROKEN] == [rule]
    assert said in found[rule].reason


def test_what_a_report_does_not_have_needs_no_rule(runs):
    once = replace(runs["cpu"], samples=samples(1))
    found = verdicts([compare([once])])
    none = {number for number, one in found.items() if one.verdict == NOT_APPLICABLE}
    assert none == {1, 3, 4, 6, 7, 8, 10}
    bare = verdicts([once], replace(BOUNDED, figures=()))
    assert bare[12].verdict == NOT_APPLICABLE


def test_why_a_part_of_the_machine_was_used_may_be_said(runs):
    assert verdicts([compare([runs["cpu"]])], replace(BOUNDED, parts="one core is asked about"))[2].verdict == KEPT
    gpu = replace(runs["cpu"], backend="cuda", device_kind="gpu")
    assert verdicts([compare([gpu])])[2].verdict == KEPT


def test_tests_of_ranks_compare_runs_too(runs):
    said = verdicts([runs["cpu"]], replace(BOUNDED, tests="rank tests"))[7]
    assert (said.verdict, said.reason) == (KEPT, "Runs are compared by rank tests.")
    both = verdicts([compare(runs.values())], replace(BOUNDED, tests="rank tests"))[7].reason
    assert both.endswith("both sides. Runs are compared by rank tests.")


def test_records_and_comparisons_of_several_instances_are_told_apart(runs):
    other = replace(runs["cpu"], instance="b", instance_sha256="cd" * 32, samples=samples(3))
    found = verdicts([compare(runs.values()), other, ("mine", replace(other, samples=samples(2)))])
    assert "cpu on b and mine on b have 2 to 3 repetitions" in found[5].reason
    reasons = replace(BOUNDED, reasons={"kroA100": "the paper's"})
    assert "why b was chosen" in verdicts([compare(runs.values()), other], reasons)[2].reason


def test_a_reason_names_a_few_rows_and_counts_the_others(runs):
    few = [(f"run {number}", replace(runs["cpu"], samples=samples(2))) for number in range(9)]
    assert "run 0, run 1, run 2, run 3 and 5 more have 2 repetitions" in verdicts(few)[5].reason


def test_what_did_not_run_is_no_row(runs):
    found = verdicts([compare(runs.values(), [NotRun("cuda", "0", 1, "no driver")])])
    assert {one.verdict for one in found.values()} == {KEPT}


def test_the_section_counts_and_lists(runs):
    found = rules_of([compare(runs.values())])
    assert summary(found) == "9 kept, 3 broken, 0 not applicable"
    text = in_markdown(found, 3)
    assert text.startswith("### The twelve rules\n\nHoefler and Belli's rules")
    assert text.splitlines()[5] == f"2. *{RULES[1]}* **Broken**: It does not say why kroA100 was chosen."
    assert len([line for line in text.splitlines() if "* **" in line]) == 12


def test_nothing_to_judge_is_an_error():
    with pytest.raises(ValueError, match="no comparison"):
        rules_of([])
