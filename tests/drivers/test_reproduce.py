"""A paper's tables by one command: what it says, runs, resumes and writes, with stubs in the drivers' place."""

import json
import subprocess
import sys

import pytest

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.reproduce import main
from reports.records.files import load
from tests.conftest import ROOT
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, written
from tests.drivers.made_up_runs import made_up_suite, record_of, run_of

MACHINE = device("cpu"), device("threads")
UNTESTED = '[[exhibits]]\nname = "table 2"\ntitle = "sheep"\nuntested = "it counts sheep"\n'
LARGER = HILLS.replace('"table 1"', '"table 4"').replace("climbers = 4", "climbers = 8").replace("oneil2011", "philox")
OF_GPU = (
    HILLS.replace('"table 1"', '"figure 5"')
    .replace('series = "pruned"', 'series = "gpu"')
    .replace(
        '{ head = "one core", key = "core", series = "core" },', '{ head = "one core", key = "core", series = "gpu" },'
    )
)
GPU = '[series.gpu]\nkinds = ["gpu"]\n'
STANDARD = HILLS.replace("quick =", "standard =")
SOME_MINUTES = ("--scale", "standard")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def reproduce(tmp_path, out, undrawn):
    """Reproduce a made-up paper in a separate folder; return exit code and cases."""

    def run(*arguments, parts=(HILLS,), devices=MACHINE, command=None, busy=("--busy",)):
        started = []
        fixed = [str(written(tmp_path, *parts)), "--scale", "quick", "--out", str(out), *busy]
        with made_up_suite(*devices, started=started, command=command):
            return main([*fixed, *arguments]), started

    return run


def page(folder):
    return (folder / "made-up.md").read_text()


def headings(folder):
    return [line for line in page(folder).splitlines() if line.startswith(("## Table", "## Figure"))]


def files(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir()} if folder.exists() else {}


def unwrapped(capsys):
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def turns(started):
    return [(one.configuration.backend, one.turns) for one in started]


# --- what it runs and writes ---


def test_every_run_is_made_once_recorded_and_shown_beside_the_published_figures(reproduce, out, tmp_path, capsys):
    parts = (HILLS, UNTESTED)
    assert reproduce(parts=parts)[0] == 0
    said = unwrapped(capsys)
    assert "made-up, scale quick: 4 runs, 0 recorded already; the rest takes about 12 s" in said
    assert f"[1/4] ihc, {FIRST}, core on cpu " in said and " s left)" in said
    assert f"[4/4] ihc, {SECOND}, pruned on threads " in said
    report = page(out)
    assert "it counts sheep" in report
    assert f"| {FIRST} | 3.0 |" in report
    arguments = f"{tmp_path / 'made-up.toml'} --scale quick --out {out} --busy"
    assert f"`onekernel reproduce {arguments}`" in report
    assert [len(one.repetitions) for one in load(out / "made-up.jsonl")] == [7] * 4
    before = files(out)
    assert reproduce(parts=parts) == (0, [])
    assert "4 runs, 4 recorded already" in unwrapped(capsys)
    assert files(out) == before


def test_quick_has_one_turn_and_others_a_second_one_on_one_core(reproduce, out):
    assert turns(reproduce()[1]) == [("cpu", 1), ("threads", 1)] * 2
    code, started = reproduce("--scale", "full", "--rerun", parts=(HILLS.replace("quick =", "full ="),))
    assert (code, turns(started)) == (0, [("cpu", 1), ("threads", 1), ("cpu", 2)] * 2)
    assert "made-up.previous.jsonl" in files(out)


def test_an_interrupted_plan_makes_the_missing_turns_and_runs(reproduce, out, capsys):
    reproduce(*SOME_MINUTES, parts=(STANDARD,))
    lines = (out / "made-up.jsonl").read_text().splitlines(keepends=True)
    (out / "made-up.jsonl").write_text("".join(lines[:1]))
    capsys.readouterr()
    reproduce(*SOME_MINUTES, "--dry-run", parts=(STANDARD,))
    assert "5 runs, 1 recorded already" in unwrapped(capsys)
    code, started = reproduce(*SOME_MINUTES, parts=(STANDARD,))
    assert (code, turns(started)) == (0, [("threads", 1), ("cpu", 2), ("cpu", 1), ("threads", 1)])
    assert reproduce(*SOME_MINUTES, parts=(STANDARD,)) == (0, [])


@pytest.mark.parametrize("busy", [(), ("--busy",)], ids=["idle", "busy"])
def test_a_drift_of_one_core_repeats_its_row_once_on_an_idle_host(reproduce, monkeypatch, busy):
    waited = []
    monkeypatch.setattr("drivers.experiments.presets.reproduce.wait_until_idle", lambda: waited.append(1))
    only = STANDARD.replace("measure = 1", f'measure = 1, rows = ["{FIRST}"]')

    def drifting(case):
        repetitions = record_of(case, 0)["repetitions"]
        slower = [one | {"kernel_s": 9.0, "total_s": 9.0} for one in repetitions] if case.turns == 2 else repetitions
        return run_of(case, repetitions=slower)

    code, started = reproduce(*SOME_MINUTES, parts=(only,), command=drifting, busy=busy)
    once_more = [("threads", 2), ("cpu", 3)]
    assert (code, turns(started)) == (0, [("cpu", 1), ("threads", 1), ("cpu", 2), *([] if busy else once_more)])
    assert len(waited) == (0 if busy else 5)


def test_the_users_time_of_a_rate_replaces_the_scales(reproduce):
    assert {one.measure for one in reproduce("--measure", "9")[1]} == {9.0}


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
    code, started = within("14s", parts=parts)
    assert (code, len(started)) == (0, 4)
    assert of_core(started) == [(4, FIRST), (8, FIRST)]
    assert "note: 8 runs, 4 recorded already; the rest takes about 12 s; the same command continues" in unwrapped(
        capsys
    )
    assert page(out).count("the time of --budget was over") == 2
    assert of_core(within("1h", parts=parts)[1]) == [(4, SECOND), (8, SECOND)]
    assert "--budget was over" not in page(out)
    assert within("1h", parts=parts) == (0, [])


def test_within_a_time_a_second_turn_follows_when_there_is_time_and_what_was_measured_is_shown(within, out):
    parts = (STANDARD.replace("measure = 1", f'measure = 1, rows = ["{FIRST}"]'),)
    # A run takes three seconds; three are expected before it is recorded, and 16.1 after that.
    assert turns(within("20s", *SOME_MINUTES, parts=parts)[1]) == [("cpu", 1), ("threads", 1)]
    assert "--budget was over" not in page(out) + (out / "made-up.csv").read_text()
    assert turns(within("20s", *SOME_MINUTES, parts=parts)[1]) == [("cpu", 2)]


def test_within_a_time_a_refusal_stays_the_reason(within, out):
    assert within("1h", devices=[device("cpu"), device("refusing")])[0] == 0
    assert "this device has no such memory" in (out / "made-up.csv").read_text()


def test_a_run_that_does_not_fit_is_left_out_and_a_shorter_one_taken(within, monkeypatch):
    work = "drivers.ihc.HillClimbingWorkload.core_seconds"
    monkeypatch.setattr(work, lambda self, options, problem: options.climbers / 10.0)
    large = HILLS.replace("climbers = 4", "climbers = 4000")
    assert {climbers for climbers, _ in of_core(within("60s", parts=(large, LARGER))[1])} == {8}


def test_one_table_or_figure_is_run_alone_and_added_to_the_report(reproduce, out):
    also = HILLS.replace('name = "table 1"', 'name = "table 1"\nalso = ["figure 3"]')
    parts = (also, LARGER)
    _, started = reproduce("--figure", "3", parts=parts)
    assert {one.asked.get("climbers") for one in started} == {4}
    assert headings(out) == ["## Table 1, figure 3: hill climbing"]
    _, started = reproduce("--table", "4", parts=parts)
    assert {one.asked.get("climbers") for one in started} == {8}
    assert headings(out) == ["## Table 1, figure 3: hill climbing", "## Table 4: hill climbing"]
    assert reproduce("--table", "4", "--rerun", parts=parts)[0] == 0
    assert headings(out) == ["## Table 4: hill climbing"]


def rewritten(folder, change):
    records = folder / "made-up.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    for one in lines:
        change(one)
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("other", [{"commit": "earlier"}, {"host": "another"}])
def test_runs_of_another_version_or_host_are_not_in_the_report(reproduce, out, other):
    reproduce("--table", "1", parts=(HILLS, LARGER))
    rewritten(out, lambda record: record["environment"].update(other))
    reproduce("--table", "4", parts=(HILLS, LARGER))
    assert headings(out) == ["## Table 4: hill climbing"]
    assert len(reproduce("--table", "1", parts=(HILLS, LARGER))[1]) == 4
    assert len(headings(out)) == 2


def test_a_row_that_the_user_maps_is_run_on_that_instance(reproduce, out):
    unnamed = HILLS.replace(f'name = "{FIRST}"', 'name = "1", instance = ""')
    unnamed = unnamed.replace("measure = 1", f'measure = 1, rows = ["{SECOND}"]')
    assert [one.task.problem.name for one in reproduce(parts=(unnamed,))[1]] == [SECOND] * 2
    _, started = reproduce("--row", f"1={FIRST}", "--rerun", parts=(unnamed,))
    assert [one.task.problem.name for one in started] == [SECOND] * 2 + [FIRST] * 2


# --- what cannot run, and what fails ---


def test_what_a_device_refuses_is_in_the_report_and_no_failure(reproduce, out):
    assert reproduce(devices=[device("cpu"), device("refusing")])[0] == 0
    assert "refusing: this device has no such memory" in (out / "made-up.csv").read_text()


def test_what_breaks_is_in_the_report_and_a_failure(reproduce, out, capsys):
    assert reproduce(devices=[device("cpu"), device("broken")])[0] == 1
    assert "failed with exit code 1" in (out / "made-up.csv").read_text()
    assert f"error: ihc, {FIRST}, pruned: broken (device 0): failed with exit code 1" in capsys.readouterr().err


def test_a_result_that_is_not_confirmed_is_a_failure_also_when_it_is_taken_from_the_records(reproduce, capsys):
    for _ in ("run", "taken from the records"):
        assert reproduce(devices=[device("cpu"), device("unscored")])[0] == 1
        assert f"error: ihc, {FIRST}: unscored (device 0" in capsys.readouterr().err


def test_unequal_work_leaves_the_report_as_it_was(reproduce, out, capsys):
    out.mkdir()
    (out / "made-up.md").write_text("an earlier report")
    assert reproduce(devices=[device("cpu"), device("wrong")])[0] == 1
    assert "unequal work" in capsys.readouterr().err
    assert page(out) == "an earlier report"


def test_where_nothing_runs_that_should_the_exit_code_says_so(reproduce, out, capsys):
    assert reproduce(devices=[device("refusing", "core")])[0] == 1
    assert "; refusing: this device has no such memory\n" in capsys.readouterr().err
    assert reproduce("--rerun", parts=(UNTESTED,))[0] == 0
    assert "it counts sheep" in page(out)


def test_an_exhibit_that_shows_nothing_of_ours_is_a_failure_if_it_is_asked_for_and_else_a_note(reproduce, capsys):
    nothing = "figure 5: no run of this machine in it: no device is of the kind gpu here\n"
    for asked, code, note in (
        (["--figure", "5"], 1, f"error: {nothing}"),
        (["--table", "1"], 0, ""),
        ([], 0, f"note: {nothing}"),
    ):
        assert reproduce(*asked, parts=(GPU, HILLS, OF_GPU))[0] == code
        said = capsys.readouterr().err
        assert note in said and said.count("no run of this machine") == bool(note)


# --- before anything starts ---


def test_a_dry_run_prints_commands_that_a_shell_runs_and_leaves_nothing(reproduce, out, capsys):
    real = Case.command
    parts = (HILLS.replace(f'name = "{SECOND}"', 'name = "nowhere"'),)
    assert reproduce("--dry-run", parts=parts, command=real)[0] == 0
    *_, reason, first, second = capsys.readouterr().out.splitlines()
    cells = "; ".join(f"nowhere, {column}" for column in ("core", "pruned", "gain"))
    assert reason.startswith(f"# cannot run here: table 1: {cells}: nowhere: found no such instance")
    assert reason.endswith("`onekernel fetch made-up` downloads the paper's instances")
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


def test_where_the_time_is_unknown_at_least_the_start_is_said(reproduce, capsys):
    bounded = (
        HILLS.replace('"ihc"', '"exact"')
        .replace('options = { start = "oneil2011" }', "")
        .replace("amount = { climbers = 4 }, ", "")
        .replace('"core"', '"edges"')
    )
    bounded = bounded.replace('series = "pruned"', 'series = "edges"')
    series = '[series.edges]\nkinds = ["core"]\noptions = { bound = "edges" }\n'
    assert reproduce("--dry-run", parts=(series, bounded))[0] == 0
    said = capsys.readouterr().out
    assert "the rest takes at least 4 s" in said
    assert "# at least 2 s (no estimate)" in said


# --- the list ---


def test_the_list_has_a_line_for_each_table_and_figure(reproduce, capsys):
    parts = (
        HILLS.replace(f'name = "{SECOND}"', 'name = "nowhere"').replace("title", 'also = ["figure 3"]\ntitle', 1),
        UNTESTED,
    )
    reproduce("--table", "1", "--backends", "cpu", parts=parts)
    capsys.readouterr()
    assert reproduce("--list", parts=parts) == (0, [])
    state = "2 runs, 1 recorded; 3 cells cannot run here"
    assert capsys.readouterr().out.splitlines() == [
        f"made-up  table 1   hill climbing  {state}",
        f"made-up  figure 3  hill climbing  {state}",
        "made-up  table 2   sheep          no runs: it counts sheep",
    ]


@pytest.mark.slow
def test_the_list_of_all_papers_names_every_exhibit_of_each(capsys):
    from reports.papers.files import load as paper_of
    from reports.papers.files import names

    with made_up_suite(*MACHINE):
        assert main(["--list", "--scale", "quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    exhibits = [(paper, exhibit) for paper in map(paper_of, names()) for exhibit in paper.exhibits]
    expected = [(paper.name, *name.split()) for paper, exhibit in exhibits for name in exhibit.names]
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
