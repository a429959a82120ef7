"""Verdicts on Hoefler and Belli's twelve rules: each flips when a record, or what a report says, changes."""

from dataclasses import replace

import pytest
from msgspec import structs

from reports.comparison.speedups import ComparedRuns, NotRun, compare
from reports.records.files import append
from reports.records.schema import Repetition
from reports.text.formatting import ratio_interval, seconds, seconds_interval
from reports.twelve_rules.inputs import ARITHMETIC, HARMONIC, RATES, ReportProperties
from reports.twelve_rules.rules import BROKEN, CANNOT_TELL, KEPT, NOT_APPLICABLE, RULES
from reports.twelve_rules.verdicts import decide_rules
from tests.conftest import ROOT
from tests.reports.conftest import MACHINE

NODE = MACHINE | {"host": "node", "packages": {"numpy": "2.0.0"}}
TEST_CPU = {"device_name": "Test CPU"}
CONDITIONS = {"load_1min": 0.1, "cpu_mhz_mean": 3000.0, "gpu_mhz": 1900.0}
PICTURE = "Speed-up over one core"
SAID = "These are the paper's instances. Efficiency is over the ideal."
BOUNDED = ReportProperties(
    reasons="These are the paper's instances",
    bounds=("cpu", "threads", "cpu, 2 ranks"),
    bound="Efficiency",
    figures=[PICTURE],
    extremes=["shortest", "longest"],
    means={"seconds": ARITHMETIC},
    **dict.fromkeys(("mean_ratios", "assumed_normal", "joined"), ""),
)


def samples(count=7, ranks=1, time=1.0, **changes):
    fields = {"started_at": "2026-11-22T10:00:00Z", "conditions": CONDITIONS}
    fields |= {"rank_s": [1.0] * ranks, "communication_share": 0.1} | changes
    times = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": time}
    return tuple(Repetition(**(times | {"total_s": time + 0.01 * number} | fields)) for number in range(count))


@pytest.fixture
def runs(make_record):
    """Complete records of one core, all cores and two ranks."""
    common = {"environment": NODE, "details": TEST_CPU}
    return {
        "cpu": make_record(repetitions=samples(), **common),
        "threads": make_record(backend="threads", repetitions=samples(time=0.5), **common),
        "ranks": make_record(ranks=2, repetitions=samples(ranks=2, time=0.6), **common),
    }


def page_of(comparisons):
    """A page with everything that the rules look for."""
    lines = [SAID, f"![{PICTURE}](a.svg)", f"Machine A: {NODE['cpu_model']}", "| run | shortest | longest |"]
    for comparison in comparisons:
        for row in comparison.rows:
            times = row.running
            lines.append(f"{seconds_interval(times.median)} {seconds(times.minimum)} {seconds(times.maximum)}")
            if row.speedup and row.speedup.low is not None:
                lines.append(f"{ratio_interval(row.speedup)} over {seconds(row.baseline_s)}")
    return "\n".join(lines)


def on_a_page(shown, about=BOUNDED):
    return structs.replace(about, page=page_of([one for one in shown if isinstance(one, ComparedRuns)]))


def verdicts(shown, about=BOUNDED):
    return {rule.number: rule for rule in decide_rules(shown, on_a_page(shown, about))}


def test_a_report_of_which_everything_is_known_keeps_all_twelve(runs):
    shown = [compare(runs.values(), [NotRun("cuda", "0", 1, "what did not run is no row")])]
    decided = decide_rules(shown, on_a_page(shown))
    assert [one.number for one in decided] == list(range(1, 13))
    assert [one.rule for one in decided] == [rule.text for rule in RULES]
    assert [one.verdict for one in decided] == [KEPT] * 12
    assert all(one.reason.endswith(".") and one.reason.count(". ") <= 1 for one in decided)


ALONE = {"threads": None, "ranks": None}


def alone(**environment):
    """One core without other runs, with these facts about its machine."""
    return ALONE | {"cpu": {"environment": NODE | environment}}


@pytest.mark.parametrize(
    ("rule", "changes", "said"),
    [
        (1, {"cpu": None}, "No run on one core is among the records of kroA100"),
        (2, ALONE, "why no run used all cores of node (2 cores)"),
        (5, {"ranks": {"repetitions": samples(5, 2)}}, "cpu, 2 ranks has 5 repetitions: fewer than the 6"),
        (7, {"threads": {"repetitions": samples(2)}}, "there is no interval of the speed-up of threads."),
        (9, {"cpu": {"details": {}}}, "Not recorded: the device's name (cpu)."),
        (9, {"cpu": {"repetitions": samples(started_at=None)}}, "Not recorded: the start times of repetitions (cpu)."),
        (9, {"cpu": {"repetitions": samples(conditions=None)}}, "the load before (cpu); the clock (cpu)."),
        (9, alone(commit="0123abc+changes"), "Not recorded: changes of the sources since the commit."),
        (9, alone(commit=None, packages={}), "Not recorded: the commit of onekernel; packages."),
        (10, {"ranks": {"repetitions": samples(ranks=2, rank_s=None)}}, "The time of every rank, or its part in"),
        (10, {"ranks": {"repetitions": samples(ranks=2, communication_share=None)}}, "not recorded of cpu, 2 ranks."),
    ],
)
def test_a_rule_is_broken_by_what_records_lack(runs, rule, changes, said):
    left = [name for name in runs if changes.get(name, {}) is not None]
    changed = [structs.replace(runs[name], **changes.get(name, {})) for name in left]
    decided = verdicts([compare(changed)])
    assert decided[rule].verdict == BROKEN
    assert said in decided[rule].reason
    others = {number for number, one in decided.items() if one.verdict == BROKEN} - {rule}
    # One core alone leaves others idle, and few repetitions give a speed-up no interval.
    assert others <= {2, 5, 7}


@pytest.mark.parametrize(
    ("rule", "about", "said"),
    [
        (2, {"reasons": ""}, "does not say why kroA100 was chosen"),
        (4, {"mean_ratios": "speed-ups over instances"}, "averages speed-ups over instances"),
        (2, {"absent": "3 of 9 rows have no run", "why_absent": "the time was over"}, "why 3 of 9 rows have no run"),
        (3, {"means": {RATES: ARITHMETIC}}, "averages rates by the arithmetic mean"),
        (3, {"means": {"seconds": HARMONIC}}, "averages seconds by the harmonic mean"),
        (6, {"assumed_normal": "the intervals of table 3"}, "for the intervals of table 3"),
        (8, {"extremes": ()}, "medians alone"),
        (11, {"bounds": ()}, "has an upper bound"),
        (11, {"bounds": ("cpu, 2 ranks",)}, "upper bound is given for threads (only for cpu, 2 ranks)."),
        (12, {"figures": ()}, "There is no picture"),
        (12, {"joined": "the devices"}, "A line joins the devices"),
    ],
)
def test_a_rule_is_broken_by_what_the_report_does(runs, rule, about, said):
    decided = verdicts([compare(runs.values())], structs.replace(BOUNDED, **about))
    assert [number for number, one in decided.items() if one.verdict == BROKEN] == [rule]
    assert said in decided[rule].reason


@pytest.mark.parametrize(
    ("rule", "printed", "said"),
    [
        (1, lambda row: f"over {seconds(row.baseline_s)}", "does not print the time of one core in the speed-up of"),
        (2, lambda row: "These are the paper's instances", "does not say why kroA100 was chosen"),
        (5, lambda row: seconds_interval(row.running.median), "prints the median of threads without its interval"),
        (7, lambda row: ratio_interval(row.speedup), "does not print the interval of the speed-up of threads"),
        (8, lambda row: "| run | shortest | longest |", "shows medians alone"),
        (8, lambda row: seconds(row.running.maximum), "the shortest and the longest time of threads"),
        (9, lambda row: NODE["cpu_model"], "does not print the processor of its runs: Test CPU"),
        (11, lambda row: "Efficiency is over the ideal", "does not name the upper bound of"),
        (12, lambda row: f"![{PICTURE}]", "There is no picture"),
    ],
)
def test_a_rule_is_broken_by_what_the_page_does_not_print(runs, rule, printed, said):
    """Rule 1 looks for a time of one core, which is also in its row's interval."""
    comparison = compare(runs.values())
    row = next(row for row in comparison.rows if row.name == "threads")
    page = page_of([comparison])
    text = printed(row)
    assert text in page
    page = page.replace(text, seconds(row.running.median.value) if rule == 5 else "")
    if rule == 1:
        page = page.replace(seconds(row.baseline_s), "")
    decided = {rule.number: rule for rule in decide_rules([comparison], structs.replace(BOUNDED, page=page))}
    assert decided[rule].verdict == BROKEN, decided[rule]
    assert said in decided[rule].reason


@pytest.mark.parametrize(
    ("unknown", "rules"),
    [
        ("page", [1, 2, 5, 7, 8, 9, 11, 12]),
        ("means", [3]),
        ("mean_ratios", [4]),
        ("assumed_normal", [6]),
        ("joined", [12]),
    ],
)
def test_what_neither_records_nor_the_page_decide_cannot_be_told(runs, unknown, rules):
    shown = [compare(runs.values())]
    decided = decide_rules(shown, structs.replace(on_a_page(shown), **{unknown: None}))
    assert [one.number for one in decided if one.verdict == CANNOT_TELL] == rules


def test_a_machine_of_an_unknown_number_of_cores_cannot_be_judged_as_used_in_part(runs):
    shown = [structs.replace(runs["cpu"], environment=NODE | {"cores": None})]
    verdict = verdicts(shown)[2]
    assert verdict.verdict == CANNOT_TELL
    assert verdict.reason == "The number of cores of the machine is not recorded of cpu."


def test_a_speed_up_that_is_no_ratio_of_medians_breaks_rule_4(runs):
    comparison = compare(runs.values())
    wrong = [replace(row, speedup=replace(row.speedup, value=9.0)) if row.base else row for row in comparison.rows]
    verdict = verdicts([replace(comparison, rows=tuple(wrong))])[4]
    assert verdict.verdict == BROKEN and "is no ratio of two medians" in verdict.reason


def test_what_a_report_does_not_have_needs_no_rule(runs):
    once = structs.replace(runs["cpu"], repetitions=samples(1))
    decided = verdicts([compare([once])])
    none = {number for number, one in decided.items() if one.verdict == NOT_APPLICABLE}
    assert none == {1, 3, 4, 6, 7, 8, 10}
    assert verdicts([once], structs.replace(BOUNDED, figures=()))[12].verdict == NOT_APPLICABLE
    assert verdicts([compare(runs.values())], structs.replace(BOUNDED, means={}))[3].verdict == NOT_APPLICABLE


def test_why_a_part_of_the_machine_was_used_may_be_said(runs):
    said = structs.replace(BOUNDED, parts="Efficiency is over the ideal")
    assert verdicts([compare([runs["cpu"]])], said)[2].verdict == KEPT
    gpu = structs.replace(runs["cpu"], backend="cuda", device_kind="gpu")
    assert verdicts([compare([gpu])])[2].verdict == KEPT


def test_tests_of_ranks_compare_runs_too(runs):
    printed = structs.replace(BOUNDED, tests="the paper's instances")
    said = verdicts([runs["cpu"]], printed)[7]
    assert (said.verdict, said.reason) == (KEPT, "Runs are compared by the paper's instances.")
    both = verdicts([compare(runs.values())], printed)[7].reason
    assert both.endswith("both sides. Runs are compared by the paper's instances.")
    assert verdicts([runs["cpu"]], structs.replace(BOUNDED, tests="rank tests"))[7].verdict == NOT_APPLICABLE


def test_records_and_comparisons_of_several_instances_are_told_apart(runs):
    other = structs.replace(runs["cpu"], instance="b", instance_sha256="cd" * 32, repetitions=samples(3))
    decided = verdicts([compare(runs.values()), other, ("mine", structs.replace(other, repetitions=samples(2)))])
    assert "cpu on b and mine on b have 2 to 3 repetitions" in decided[5].reason
    reasons = structs.replace(BOUNDED, reasons={"kroA100": BOUNDED.reasons})
    assert "why b was chosen" in verdicts([compare(runs.values()), other], reasons)[2].reason


def test_a_reason_names_a_few_rows_and_counts_the_others(runs):
    few = [(f"run {number}", structs.replace(runs["cpu"], repetitions=samples(2))) for number in range(9)]
    assert "9 runs such as run 0, run 1 and run 2 have 2 repetitions" in verdicts(few)[5].reason


def test_examples_of_many_runs_are_named_without_their_settings(runs):
    few = [
        (
            f"cpu (assign = not recorded, scan = {number}, machine A) on {name}",
            structs.replace(runs["cpu"], repetitions=samples(2)),
        )
        for name in ("kroA100", "kroB100", "kroC100", "kroD100")
        for number in range(3)
    ]
    assert "and 12 runs such as cpu on kroA100, cpu on kroB100 and cpu on kroC100 have 2" in verdicts(few)[5].reason


def test_tables_and_figures_of_a_paper_are_named_without_their_titles(runs):
    said = structs.replace(BOUNDED, figures=["Table C.5 (section 6.5): PPP, thread control", "Figure 2: speed-up"])
    page = "![Table C.5 (section 6.5): PPP, thread control](a.svg) ![Figure 2: speed-up](b.svg)"
    decided = decide_rules([compare(runs.values())], structs.replace(said, page=page))
    assert decided[11].reason.startswith("Drawn: table C.5 and figure 2; ")


@pytest.fixture
def report(tmp_path, runs):
    """Folder with records, a complete page, and facts about it, as the command reads them."""
    page = page_of([compare(runs.values())])
    about = [
        'reasons = "These are the paper\'s instances"\nbounds = ["cpu", "threads", "cpu, 2 ranks"]\nbound = "Efficiency"',
        f'figures = ["{PICTURE}"]\nextremes = ["shortest", "longest"]\nmeans = {{ seconds = "arithmetic" }}',
        'mean_ratios = ""\nassumed_normal = ""\njoined = ""',
    ]
    for name, lines in {"page.md": [page], "bare.md": [page.replace("[", "")], "about.toml": about}.items():
        (tmp_path / name).write_text("\n".join(lines))
    (tmp_path / "wrong.toml").write_text('reason = "none"')
    for name, changes in {"good": {}, "few": {"repetitions": samples(2)}, "refused": {"verified": False}}.items():
        for run in [runs["cpu"]] if changes else runs.values():
            append(tmp_path / name, structs.replace(run, **changes))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("good --page page.md --about about.toml", 0, "page.md: 12 kept, 0 broken, 0 not applicable, 0 undecided."),
        ("good", 1, "from the records alone: 1 kept, 1 broken, 0 not applicable, 10 undecided."),
        ("good --page bare.md --about about.toml", 1, "7. *Compare values that are not deterministic by sound"),
        ("few --about about.toml", 1, "cpu has 2 repetitions: fewer than the 6"),
        ("refused", 2, "error: no confirmed runs in the files"),
        ("good --page none.md", 2, "none.md: cannot read the page: "),
        ("good --about wrong.toml", 2, "wrong.toml: the file: Object contains unknown field `reason`"),
        ("good --about page.md", 2, "page.md: expected TOML, found "),
    ],
)
def test_the_command_says_which_rules_records_keep(report, reports, monkeypatch, arguments, code, said):
    monkeypatch.chdir(report)
    status, *printed = reports("rules", *arguments.split())
    assert status == code and said in "".join(printed)


def test_the_page_on_reports_names_every_fact_about_a_report():
    rows = [line for line in (ROOT / "docs" / "reports.md").read_text().splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in row.split("|")[1].replace("`", "").replace(",", " ").split()}
    assert named >= set(ReportProperties.__struct_fields__) - {"page"}


def test_nothing_to_judge_is_an_error():
    with pytest.raises(ValueError, match="no comparison"):
        decide_rules([])
