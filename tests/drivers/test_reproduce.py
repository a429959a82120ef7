"""A paper's tables by one command: what it says, runs, resumes and writes, with stubs in the drivers' place."""

import json
import subprocess
import sys

import pytest

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.reproduce import main
from drivers.workload.run_time import RepetitionWork
from reports.records.files import load
from tests.conftest import ROOT
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, written
from tests.drivers.made_up_runs import made_up_suite, run_of

MACHINE = device("cpu"), device("threads")
NEVER = '[[exhibits]]\ntable = "2"\ntitle = "sheep"\nnever_ours = "it counts sheep"\n'
DRAWN = '[[exhibits]]\nfigure = "3"\ntitle = "drawn"\nof = "1"\nplot = { measure = "speedup" }\n'
RIVAL = '[[exhibits]]\nfigure = "5"\ntitle = "rival"\nof = "1"\nplot = { measure = "over_peer" }\n'
LARGER = HILLS.replace('"1"', '"4"').replace("climbers = 4", "climbers = 8")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def reproduce(tmp_path, out, undrawn):
    """Reproduce a made-up paper in a separate folder; return exit code and commands."""

    def run(*arguments, parts=(HILLS,), devices=MACHINE, command=None):
        started = []
        fixed = [str(written(tmp_path, *parts)), "--scale", "quick", "--out", str(out)]
        with made_up_suite(*devices, started=started, command=command):
            return main([*fixed, *arguments]), started

    return run


def page(folder):
    return (folder / "made-up.md").read_text()


def headings(folder):
    return [line for line in page(folder).splitlines() if line.startswith(("## Table", "## Figure"))]


def files(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()} if folder.exists() else {}


# --- what it runs and writes ---


def test_every_run_is_made_once_recorded_and_shown_beside_the_published_figures(reproduce, out, tmp_path, capsys):
    parts = (HILLS, NEVER, DRAWN)
    assert reproduce(parts=parts)[0] == 0
    said = capsys.readouterr()
    assert "made-up, scale quick: 4 runs, 0 recorded already; the rest takes about 12 s" in said.out
    assert f"[1/4] ihc, {FIRST}, one core on cpu " in said.out and " s left)" in said.out
    assert f"[4/4] ihc, {SECOND}, pruned on threads " in said.out
    report = page(out)
    assert report.count("| 3.0 | 2.00 s") == 1
    assert "it counts sheep" in report
    assert "×2.00 over 2.00 s" in report
    arguments = f"{tmp_path / 'made-up.toml'} --scale quick --out {out}"
    assert f"\nMade by `python -m drivers.reproduce {arguments}`.\n" in report
    before = files(out)
    expected = ["made-up-figure-3.svg", "made-up.jsonl", "made-up.md"]
    assert sorted(before) == expected
    assert [len(one.repetitions) for one in load(out / "made-up.jsonl")] == [2] * 4
    assert reproduce(parts=parts) == (0, [])
    assert "4 runs, 4 recorded already" in capsys.readouterr().out
    assert files(out) == before


def test_more_repetitions_are_added_to_those_that_are_there_and_fresh_runs_all_again(reproduce, out):
    reproduce()
    for more in (["--repeats", "3"], ["--rerun"]):
        code, started = reproduce(*more)
        assert (code, len(started)) == (0, 4)
    assert "made-up.previous.jsonl" in files(out)


def test_of_runs_of_several_scales_the_longest_stands_in_a_cell(reproduce, out):
    larger = HILLS.replace("quick =", 'standard = { amount = { climbers = 8 }, rows = ["' + FIRST + '"] }\nquick =')
    for scale in ("standard", "quick"):
        assert reproduce("--scale", scale, parts=(larger,))[0] == 0
    report = page(out)
    # A row of ratios is above the whole row, if the times have ratios.
    *_, first = (line for line in report.splitlines() if line.startswith(f"| {FIRST} |"))
    *_, second = (line for line in report.splitlines() if line.startswith(f"| {SECOND} |"))
    marks = {line[4]: line[9:-1] for line in report.splitlines() if line.startswith("- **")}
    eight, four = (mark for mark, note in marks.items() if note in ("climbers = 8", "climbers = 4"))
    assert eight in first.split(" [")[-1] and four in second.split(" [")[-1]
    # The one-core baseline of the standard scale is measured twice, before and after the other devices.
    assert len(load(out / "made-up.jsonl")) == 7


def test_the_second_half_of_the_baseline_is_part_of_the_plan_and_made_up_for_after_an_interruption(
    reproduce, out, capsys
):
    standard = ("--scale", "standard")
    parts = (HILLS.replace("quick =", "standard ="),)

    def counted():
        return capsys.readouterr().out.splitlines()[0]

    reproduce(*standard, "--dry-run", parts=parts)
    assert "4 runs, 0 recorded already" in counted()
    code, started = reproduce(*standard, parts=parts)
    assert [one.repeats for one in started if one.configuration.backend == "cpu"] == [2, 2, 4, 4]
    capsys.readouterr()
    records = load(out / "made-up.jsonl")
    cut = [record.with_repetitions(record.repetitions[:2], verified=True).to_line() for record in records]
    (out / "made-up.jsonl").write_text("".join(dict.fromkeys(cut)))
    reproduce(*standard, "--dry-run", parts=parts)
    assert "4 runs, 2 recorded already" in counted()
    code, started = reproduce(*standard, parts=parts)
    assert (code, [one.repeats for one in started]) == (0, [4, 4])
    capsys.readouterr()
    reproduce(*standard, "--dry-run", parts=parts)
    assert "4 runs, 4 recorded already" in counted()


class Clock:
    """A clock that each run sets forward by three seconds."""

    now = 0.0

    def monotonic(self):
        return self.now

    def start(self, case):
        self.now += 3.0
        return run_of(case)


@pytest.fixture
def within(reproduce, monkeypatch):
    """Reproduce within a time, by a clock of its own."""

    def run(budget, *arguments, **more):
        clock = Clock()
        monkeypatch.setattr("drivers.experiments.presets.reproduce.time", clock)
        return reproduce("--budget", budget, *arguments, command=clock.start, **more)

    return run


def of_core(started):
    return [(one.asked["climbers"], one.task.problem.name) for one in started if one.configuration.backend == "cpu"]


def test_within_a_time_every_table_gets_its_first_row_first_and_the_same_command_goes_on(within, out, capsys):
    parts = (HILLS, LARGER)
    code, started = within("13s", parts=parts)
    assert (code, len(started)) == (0, 4)
    assert of_core(started) == [(4, FIRST), (8, FIRST)]
    assert "note: 8 runs, 4 recorded already; the rest takes about 12 s; the same command continues" in unwrapped(
        capsys
    )
    assert page(out).count("the time of --budget was over") == 4
    assert of_core(within("1h", parts=parts)[1]) == [(4, SECOND), (8, SECOND)]
    assert "--budget was over" not in page(out)
    assert within("1h", parts=parts) == (0, [])


def test_within_a_time_a_refusal_stays_the_reason(within, out, capsys):
    assert within("1h", devices=[*MACHINE, device("refusing")])[0] == 0
    assert "this device has no such memory" in page(out) and "--budget was over" not in page(out)


def test_within_a_time_both_groups_of_a_baseline_are_around_the_others_of_their_row(within):
    _, started = within("1h", "--scale", "standard", parts=(HILLS.replace("quick =", "standard ="),))
    assert [one.configuration.backend for one in started] == ["cpu", "threads", "cpu"] * 2


def test_a_run_that_does_not_fit_is_left_out_and_a_shorter_one_taken(within, monkeypatch):
    work = "drivers.ihc.HillClimbingWorkload.planned_work"
    monkeypatch.setattr(work, lambda self, options, problem: RepetitionWork(options.climbers, "moves", 10.0))
    large = HILLS.replace("climbers = 4", "climbers = 4000")
    assert {climbers for climbers, _ in of_core(within("60s", parts=(large, LARGER))[1])} == {8}


def unwrapped(capsys):
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def test_one_table_or_figure_is_run_alone_and_added_to_the_report(reproduce, out):
    parts = (HILLS, DRAWN, LARGER)
    _, started = reproduce("--figure", "3", parts=parts)
    assert {one.asked.get("climbers") for one in started} == {4}
    assert headings(out) == ["## Figure 3: drawn"]
    _, started = reproduce("--table", "4", parts=parts)
    assert {one.asked.get("climbers") for one in started} == {8}
    assert headings(out) == ["## Figure 3: drawn", "## Table 4: hill climbing"]
    assert " --table 4`. From runs before it: figure 3.\n" in page(out)
    assert (out / "made-up-figure-3.svg").exists()
    assert reproduce("--table", "4", "--rerun", parts=parts)[0] == 0
    assert headings(out) == ["## Table 4: hill climbing"]
    assert not (out / "made-up-figure-3.svg").exists()


def rewritten(folder, change):
    records = folder / "made-up.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    for one in lines:
        change(one)
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_what_an_earlier_version_of_the_suite_ran_stays_in_the_report_until_it_is_run_again(reproduce, out):
    reproduce("--table", "1", parts=(HILLS, LARGER))
    rewritten(out, lambda record: record["environment"].update(commit="earlier"))
    reproduce("--table", "4", parts=(HILLS, LARGER))
    assert "## Table 1" in page(out) and "onekernel earlier" in page(out) and "×2.00 over 2.00 s" in page(out)
    reproduce("--table", "1", parts=(HILLS, LARGER))
    assert "## Table 4" in page(out) and "onekernel earlier" not in page(out)


def test_a_row_that_the_user_maps_is_run_on_that_instance(reproduce, out):
    unnamed = HILLS.replace(f'instance = "{FIRST}"', 'instance = "instance 1", label = "1", spec = ""')
    reproduce(parts=(unnamed,))
    assert "the paper does not name the instance; --row 1=SPEC sets it" in page(out)
    _, started = reproduce("--row", f"1={FIRST}", "--rerun", parts=(unnamed,))
    assert [one.task.problem.name for one in started] == [FIRST] * 2 + [SECOND] * 2
    assert "names one" not in page(out)


def test_what_was_recorded_in_other_words_is_taken_and_no_failure(reproduce, out):
    reproduce()
    report = page(out)
    rewritten(out, lambda record: record["details"]["options"].update(start="oneil2011"))  # the default, spelled out
    command = [sys.executable, "-IS", "-c", f"print('2 of 2 repetitions are in {out / 'made-up.jsonl'} already')"]
    assert reproduce(command=lambda case: command)[0] == 0
    assert page(out) == report


# --- what cannot run, and what fails ---


def test_what_a_device_refuses_is_in_the_report_and_no_failure(reproduce, out):
    assert reproduce(devices=(*MACHINE, device("refusing")))[0] == 0
    assert f"- {FIRST}, {SECOND}: pruned on refusing (device 0: stub device): refusing: this device has no" in page(out)
    assert "| ours, pruned: threads |" in page(out)


def test_what_breaks_is_in_the_report_and_a_failure(reproduce, out, capsys):
    assert reproduce(devices=(*MACHINE, device("broken")))[0] == 1
    assert "failed with exit code 1" in page(out)
    assert f"error: ihc, {FIRST}, pruned: broken (device 0): failed with exit code 1" in capsys.readouterr().err


def test_a_result_that_nobody_confirms_is_a_failure_also_when_it_is_taken_from_the_records(reproduce, capsys):
    for _ in ("run", "taken from the records"):
        assert reproduce(devices=(*MACHINE, device("unscored")))[0] == 1
        assert f"error: ihc, {FIRST}: unscored (device 0" in capsys.readouterr().err


def test_unequal_work_leaves_the_report_as_it_was(reproduce, out, capsys):
    out.mkdir()
    (out / "made-up.md").write_text("an earlier report")
    assert reproduce(devices=(*MACHINE, device("wrong")))[0] == 1
    assert "unequal work" in capsys.readouterr().err
    assert page(out) == "an earlier report"


def test_where_nothing_runs_that_should_the_exit_code_says_so(reproduce, out, capsys):
    assert reproduce(devices=[device("refusing", "core")])[0] == 1
    assert "error: nothing ran" in capsys.readouterr().err
    assert "3.0" in page(out)
    assert reproduce(parts=(NEVER,))[0] == 0


def test_an_exhibit_that_shows_nothing_of_ours_is_a_failure_if_it_is_asked_for_and_else_a_note(reproduce, capsys):
    nothing = "figure 5: no run of this machine in it: none of our runs has speed-up over the other solver\n"
    for asked, code, note in (
        (["--figure", "5"], 1, f"error: {nothing}"),
        (["--table", "1"], 0, ""),
        ([], 0, f"note: {nothing}"),
    ):
        assert reproduce(*asked, parts=(HILLS, RIVAL))[0] == code
        said = capsys.readouterr().err
        assert note in said and said.count("no run of this machine") == bool(note)


def test_a_run_that_stands_in_no_series_of_its_exhibit_is_named(reproduce, capsys):
    instance = f'options = {{ instance = "{FIRST.rpartition(":")[0]}" }}'
    reproduce(parts=(HILLS.replace('workload = "ihc"', f'workload = "ihc"\n{instance}'),))
    assert "note: table 1: not shown, because it belongs to no series: uniform:8" in capsys.readouterr().err


# --- before anything starts ---


def test_a_dry_run_prints_commands_that_a_shell_runs_and_leaves_nothing(reproduce, out, capsys):
    real = Case.command
    parts = (HILLS.replace(SECOND, "nowhere"),)
    assert reproduce("--dry-run", parts=parts, command=real)[0] == 0
    *_, reason, first, second = capsys.readouterr().out.splitlines()
    assert reason.startswith("# cannot run here: table 1: nowhere: nowhere: found no such instance")
    assert reason.endswith("`python -m core.instances fetch made-up` downloads the paper's instances")
    for line, backend in ((first, "cpu"), (second, "threads")):
        assert line.startswith(f"{sys.executable} -m drivers.ihc ") and f" --backend {backend} " in line
        assert line.endswith(" --no-progress  # about 3 s")
    assert files(out) == {}
    out.mkdir()
    done = subprocess.run(first, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    before = files(out)
    assert reproduce("--dry-run", parts=parts, command=real)[0] == 0
    said = capsys.readouterr().out
    assert "2 runs, 1 recorded already" in said and first not in said and second in said
    assert files(out) == before


def test_where_nobody_can_tell_how_long_it_takes_at_least_the_start_is_said(reproduce, capsys):
    bounded = HILLS.replace('"ihc"', '"exact"').replace("amount = { climbers = 4 }, ", "")
    bounded = bounded.replace('["core", "pruned"]', '["edges"]')
    series = '[series.edges]\nheading = "edges"\nkinds = ["core"]\noptions = { bound = "edges" }\n'
    assert reproduce("--dry-run", parts=(series, bounded))[0] == 0
    said = capsys.readouterr().out
    assert "the rest takes at least 6 s" in said
    assert "# at least 3 s (no estimate)" in said


# --- the list ---


def test_the_list_has_a_line_for_each_table_and_figure(reproduce, capsys):
    parts = (HILLS.replace(SECOND, "nowhere"), NEVER, DRAWN)
    reproduce("--table", "1", "--backends", "cpu", parts=parts)
    capsys.readouterr()
    assert reproduce("--list", parts=parts) == (0, [])
    state = "2 runs, 1 recorded; 1 cannot run here; missing: nowhere"
    assert capsys.readouterr().out.splitlines() == [
        f"made-up  table 1   hill climbing  {state}",
        "made-up  table 2   sheep          never: it counts sheep",
        f"made-up  figure 3  drawn          {state}",
    ]


@pytest.mark.slow
def test_the_list_of_all_papers_names_every_exhibit_of_each(capsys):
    from reports.papers.files import load as paper_of
    from reports.papers.files import names

    with made_up_suite(*MACHINE):
        assert main(["--list", "--scale", "quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    expected = [(paper.name, *exhibit.name.split()) for paper in map(paper_of, names()) for exhibit in paper.exhibits]
    assert [tuple(line.split()[:3]) for line in lines] == expected


# --- damaged records ---


def test_a_torn_last_line_is_reported_and_its_run_made_again(reproduce, out):
    reproduce()
    records, report = out / "made-up.jsonl", page(out)
    records.write_bytes(records.read_bytes()[:-200])
    with pytest.warns(UserWarning, match=r"made-up\.jsonl:4: the last line is incomplete"):
        code, started = reproduce()
    assert (code, len(started)) == (0, 1)
    assert len(load(records)) == 4 and page(out) == report


def test_records_of_another_schema_are_refused_before_anything_starts(reproduce, out):
    reproduce()
    rewritten(out, lambda record: record.update(schema=2))
    before = files(out)
    with pytest.raises(UserError, match=r"made-up\.jsonl:1: found schema version 2, expected 4"):
        reproduce()
    assert files(out) == before
