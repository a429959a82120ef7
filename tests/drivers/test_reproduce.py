"""A paper's tables by one command: what it says, runs, resumes and writes, with stubs and once with real drivers."""

import json
import random
import subprocess
import sys
import warnings

import pytest

from core.errors import UserError
from drivers.reproduce import House, main
from reports.records import load
from tests.conftest import ROOT
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, stub_house, written
from tests.reports.test_damaged_records import mutated

MACHINE = device("cpu"), device("threads")
NEVER = '[[exhibits]]\ntable = "2"\ntitle = "sheep"\nnever_ours = "it counts sheep"\n'
DRAWN = '[[exhibits]]\nfigure = "3"\ntitle = "drawn"\nof = "1"\nplot = { measure = "speedup" }\n'


@pytest.fixture
def reproduce(tmp_path):
    """Reproduce a made-up paper in a folder of its own; returns the exit code."""

    def run(*arguments, parts=(HILLS,), devices=MACHINE, commands=None):
        house = stub_house(*devices, commands=commands)
        fixed = [str(written(tmp_path, *parts)), "--scale", "quick", "--out", str(tmp_path / "out")]
        return main([*fixed, *arguments], house)

    return run


def files(folder):
    return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


# --- what it runs and writes ---


def test_every_run_is_made_recorded_and_shown_beside_the_published_figures(reproduce, tmp_path, capsys):
    assert reproduce(parts=(HILLS, NEVER, DRAWN)) == 0
    said = capsys.readouterr()
    assert "made-up, scale quick: 4 runs, 0 recorded already; the rest takes about 12 s" in said.out
    assert f"[1/4] ihc, {FIRST}, one core on cpu " in said.out and " s left)" in said.out
    assert f"[4/4] ihc, {SECOND}, pruned on threads " in said.out
    report = (tmp_path / "out" / "made-up.md").read_text()
    assert report.count("| 3.0 | 500 ms") == 1
    assert "it counts sheep" in report
    assert "×2.00 over 500 ms" in report
    assert files(tmp_path / "out") == [
        "made-up-figure-3.png",
        "made-up-figure-3.svg",
        "made-up.jsonl",
        "made-up.md",
    ]
    assert [len(one.samples) for one in load(tmp_path / "out" / "made-up.jsonl")] == [2] * 4


def test_a_second_call_runs_nothing_and_writes_the_same_report(reproduce, tmp_path, capsys):
    reproduce(parts=(HILLS, DRAWN))
    report, records = (tmp_path / "out" / name for name in ("made-up.md", "made-up.jsonl"))
    before, recorded = report.read_bytes(), records.read_bytes()
    commands = []
    assert reproduce(parts=(HILLS, DRAWN), commands=commands) == 0
    assert commands == []
    assert "4 runs, 4 recorded already" in capsys.readouterr().out
    assert (report.read_bytes(), records.read_bytes()) == (before, recorded)


def test_the_report_says_by_which_command_it_was_made(reproduce, tmp_path):
    assert reproduce("--repeats", "1", parts=(HILLS,)) == 0
    given = f"{tmp_path / 'made-up.toml'} --scale quick --out {tmp_path / 'out'} --repeats 1"
    report = (tmp_path / "out" / "made-up.md").read_text()
    assert f"\nMade by `python -m drivers.reproduce {given}`.\n" in report


def test_more_repetitions_are_added_to_those_that_are_there_and_fresh_runs_all_again(reproduce, tmp_path):
    reproduce()
    commands = []
    assert reproduce("--repeats", "3", commands=commands) == 0
    assert len(commands) == 4
    commands.clear()
    assert reproduce("--fresh", commands=commands) == 0
    assert len(commands) == 4
    assert "made-up.previous.jsonl" in files(tmp_path / "out")


def test_of_runs_of_several_scales_the_longest_stands_in_a_cell(reproduce, tmp_path):
    larger = HILLS.replace("quick =", 'standard = { amount = { climbers = 8 }, rows = ["' + FIRST + '"] }\nquick =')
    house, path = stub_house(*MACHINE), written(tmp_path, larger)
    for scale in ("standard", "quick"):
        assert main([str(path), "--scale", scale, "--out", str(tmp_path / "out")], house) == 0
    report = (tmp_path / "out" / "made-up.md").read_text()
    (first,) = (line for line in report.splitlines() if line.startswith(f"| {FIRST} |"))
    (second,) = (line for line in report.splitlines() if line.startswith(f"| {SECOND} |"))
    marks = {line[4]: line[9:-1] for line in report.splitlines() if line.startswith("- **")}
    eight, four = (mark for mark, note in marks.items() if note in ("climbers = 8", "climbers = 4"))
    assert eight in first.split(" [")[-1] and four in second.split(" [")[-1]
    assert len(load(tmp_path / "out" / "made-up.jsonl")) == 6


def test_one_table_or_figure_is_run_alone_and_added_to_the_report(reproduce, tmp_path):
    other = HILLS.replace('"1"', '"4"').replace("climbers = 4", "climbers = 8")
    out, commands = tmp_path / "out", []
    assert reproduce("--figure", "3", parts=(HILLS, DRAWN, other), commands=commands) == 0
    assert {contest.asked.get("climbers") for contest, _ in commands} == {4}
    assert headings(out) == ["## Figure 3: drawn"]
    picture = (out / "made-up-figure-3.svg").read_bytes()
    commands.clear()
    assert reproduce("--table", "4", parts=(HILLS, DRAWN, other), commands=commands) == 0
    assert {contest.asked.get("climbers") for contest, _ in commands} == {8}
    assert headings(out) == ["## Figure 3: drawn", "## Table 4: hill climbing"]
    assert " --table 4`. From runs before it: figure 3.\n" in (out / "made-up.md").read_text()
    assert (out / "made-up-figure-3.svg").read_bytes() == picture
    assert reproduce("--table", "4", "--fresh", parts=(HILLS, DRAWN, other)) == 0
    assert headings(out) == ["## Table 4: hill climbing"]
    assert not (out / "made-up-figure-3.svg").exists()


def test_what_an_earlier_version_of_the_suite_ran_stays_in_the_report_until_it_is_run_again(reproduce, tmp_path):
    other = HILLS.replace('"1"', '"4"').replace("climbers = 4", "climbers = 8")
    out = tmp_path / "out"
    assert reproduce("--table", "1", parts=(HILLS, other)) == 0
    records = [json.loads(line) for line in (out / "made-up.jsonl").read_text().splitlines()]
    for one in records:
        one["environment"]["suite"] = "earlier"
    (out / "made-up.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    assert reproduce("--table", "4", parts=(HILLS, other)) == 0
    report = (out / "made-up.md").read_text()
    assert "## Table 1" in report and "suite earlier" in report and "×2.00 over 500 ms" in report
    assert reproduce("--table", "1", parts=(HILLS, other)) == 0
    report = (out / "made-up.md").read_text()
    assert "## Table 4" in report and "suite earlier" not in report


def headings(folder):
    """The exhibits of a report."""
    lines = (folder / "made-up.md").read_text().splitlines()
    return [line for line in lines if line.startswith(("## Table", "## Figure"))]


def test_a_row_that_the_user_maps_is_run_on_that_instance(reproduce, tmp_path):
    unnamed = HILLS.replace(f'instance = "{FIRST}"', 'instance = "instance 1", label = "1", spec = ""')
    commands = []
    assert reproduce("--row", f"1={FIRST}", parts=(unnamed,), commands=commands) == 0
    assert [contest.task.problem.name for contest, _ in commands] == [FIRST] * 2 + [SECOND] * 2
    assert "names one" not in (tmp_path / "out" / "made-up.md").read_text()


def test_what_was_recorded_in_other_words_is_taken_and_no_failure(reproduce, tmp_path):
    reproduce()
    records = tmp_path / "out" / "made-up.jsonl"
    report = (tmp_path / "out" / "made-up.md").read_text()
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    for line in lines:
        line["details"]["asked"]["start"] = "oneil2011"  # the default, spelled out
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = [sys.executable, "-IS", "-c", f"print('2 of 2 repetitions are in {records} already')"]
    given = [str(tmp_path / "made-up.toml"), "--scale", "quick", "--out", str(tmp_path / "out")]
    assert main(given, House(lambda: MACHINE, lambda contest, configuration: told)) == 0
    assert (tmp_path / "out" / "made-up.md").read_text() == report


# --- what cannot run, and what fails ---


def test_what_a_device_refuses_is_in_the_report_and_no_failure(reproduce, tmp_path):
    assert reproduce(devices=(*MACHINE, device("refusing", "cores"))) == 0
    report = (tmp_path / "out" / "made-up.md").read_text()
    assert f"- {FIRST}, {SECOND}: pruned on refusing (device 0: stub device): refusing: this device has no" in report
    assert "| ours, pruned: threads |" in report


def test_what_breaks_is_in_the_report_and_a_failure(reproduce, tmp_path, capsys):
    assert reproduce(devices=(*MACHINE, device("broken", "cores"))) == 1
    assert "failed with exit code 1" in (tmp_path / "out" / "made-up.md").read_text()
    assert f"error: ihc, {FIRST}, pruned: broken (device 0): failed with exit code 1" in capsys.readouterr().err


def test_a_result_that_nobody_confirms_is_a_failure_also_when_it_is_taken_from_the_records(reproduce, capsys):
    for _ in ("run", "taken from the records"):
        assert reproduce(devices=(*MACHINE, device("unscored", "cores"))) == 1
        assert f"error: ihc, {FIRST}: unscored (device 0" in capsys.readouterr().err


def test_unequal_work_leaves_the_report_as_it_was(reproduce, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "made-up.md").write_text("an earlier report")
    assert reproduce(devices=(*MACHINE, device("wrong", "cores"))) == 1
    assert "not the same work" in capsys.readouterr().err
    assert (tmp_path / "out" / "made-up.md").read_text() == "an earlier report"


def test_where_nothing_runs_that_should_the_exit_code_says_so(reproduce, tmp_path, capsys):
    assert reproduce(devices=[device("refusing", "core")]) == 1
    assert "error: nothing ran" in capsys.readouterr().err
    assert "3.0" in (tmp_path / "out" / "made-up.md").read_text()
    assert reproduce(parts=(NEVER,)) == 0


RIVAL = """
[[exhibits]]
figure = "5"
title = "rival"
of = "1"
plot = { measure = "over_peer" }
"""


def test_an_exhibit_asked_for_that_shows_nothing_of_ours_is_a_failure_that_says_what_is_missing(reproduce, capsys):
    assert reproduce("--figure", "5", parts=(HILLS, RIVAL)) == 1
    said = capsys.readouterr().err
    assert "error: figure 5: nothing of ours is in it: none of our runs has speed-up over the other solver\n" in said
    assert reproduce("--table", "1", parts=(HILLS, RIVAL)) == 0
    assert "nothing of ours" not in capsys.readouterr().err


def test_in_a_whole_paper_an_exhibit_without_anything_of_ours_is_a_note(reproduce, capsys):
    assert reproduce(parts=(HILLS, RIVAL)) == 0
    assert "note: figure 5: nothing of ours is in it: " in capsys.readouterr().err


def test_a_series_without_a_device_keeps_its_column_and_says_why(reproduce, tmp_path):
    gpu = '[series.gpu]\nheading = "GPU"\nkinds = ["gpu"]\noptions = { scan = "pruned" }\n'
    assert reproduce(parts=(gpu, HILLS.replace('"pruned"]', '"pruned", "gpu"]'))) == 0
    report = (tmp_path / "out" / "made-up.md").read_text()
    assert "| ours, GPU |" in report and "not run [" in report
    assert "**: not run: no device is of the kind gpu here.\n" in report


def test_a_run_that_stands_in_no_series_of_its_exhibit_is_named(reproduce, capsys):
    options = HILLS.replace(
        'workload = "ihc"', f'workload = "ihc"\noptions = {{ instance = "{FIRST.rpartition(":")[0]}" }}'
    )
    reproduce(parts=(options,))
    assert "note: table 1: belongs to none of its series, so it does not show: uniform:8" in capsys.readouterr().err


# --- before anything starts ---


def test_a_dry_run_prints_commands_and_reasons_and_leaves_nothing(reproduce, tmp_path, capsys):
    missing = HILLS.replace(SECOND, "nowhere")
    given = [str(written(tmp_path, missing)), "--scale", "quick", "--out", str(tmp_path / "out"), "--dry-run"]
    house = House(lambda: MACHINE)
    assert main(given, house) == 0
    *_, reason, first, second = capsys.readouterr().out.splitlines()
    assert reason.startswith("# table 1, not here: nowhere: nowhere: found no such instance")
    for line, backend in ((first, "cpu"), (second, "threads")):
        assert line.startswith(f"{sys.executable} -m drivers.ihc ") and f" --backend {backend} " in line
        assert line.endswith(" --no-progress  # about 3 s")
    assert files(tmp_path / "out") == []
    reproduce(parts=(missing,))
    before = {name: (tmp_path / "out" / name).read_bytes() for name in files(tmp_path / "out")}
    capsys.readouterr()
    assert main(given, house) == 0
    assert sys.executable not in capsys.readouterr().out
    assert before == {name: (tmp_path / "out" / name).read_bytes() for name in files(tmp_path / "out")}


def test_commands_of_a_dry_run_are_what_a_shell_runs(tmp_path, capsys):
    path = written(tmp_path, HILLS)
    main([str(path), "--scale", "quick", "--out", str(tmp_path / "out"), "--dry-run"], House(lambda: MACHINE))
    line = capsys.readouterr().out.splitlines()[-4]
    (tmp_path / "out").mkdir()
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    main([str(path), "--scale", "quick", "--out", str(tmp_path / "out"), "--dry-run"], House(lambda: MACHINE))
    assert "4 runs, 1 recorded already" in capsys.readouterr().out


def test_where_nobody_can_tell_how_long_it_takes_at_least_the_start_is_said(reproduce, capsys):
    bounded = HILLS.replace('"ihc"', '"exact"').replace("amount = { climbers = 4 }, ", "")
    bounded = bounded.replace('["core", "pruned"]', '["edges"]')
    series = '[series.edges]\nheading = "edges"\nkinds = ["core"]\noptions = { bound = "edges" }\n'
    assert reproduce("--dry-run", parts=(series, bounded)) == 0
    said = capsys.readouterr().out
    assert "the rest takes at least 6 s" in said
    assert "# at least 3 s: nobody can tell" in said


MISTAKES = {
    "no paper": ([], "expected a paper, one of "),
    "unknown paper": (["luong2014"], "expected one of the papers luong2013, "),
    "unknown file": (["nowhere.toml"], "nowhere.toml: expected TOML, found "),
    "unknown table": (["PAPER", "--table", "9"], "--table 9: expected one of 1 in made-up"),
    "unknown figure": (["PAPER", "--figure", "1"], "--figure 1: expected one of no figure in made-up"),
    "table and figure": (["PAPER", "--table", "1", "--figure", "1"], "--figure: not allowed with argument --table"),
    "unknown scale": (["PAPER", "--scale", "huge"], "--scale: invalid choice: 'huge'"),
    "unknown row": (["PAPER", "--row", "x=y"], "--row x: expected a row of what is chosen: uniform:8"),
    "half a row": (["PAPER", "--row", "1"], "--row: expected a row's key and an instance as in 1=50, found '1'"),
    "unknown backend": (["PAPER", "--backends", "cpus"], "--backends: expected some of cpu, threads, found 'cpus'"),
    "no repetitions": (["PAPER", "--repeats", "0"], "--repeats: expected an integer of at least 1"),
    "no folder of instances": (["PAPER", "--data", "nowhere"], "--data nowhere: expected a folder of instances"),
    "unknown option": (["PAPER", "--climbers", "4"], "unrecognized arguments: --climbers 4"),
    "a table of no paper": (["--list", "--table", "4"], "--table, --figure and --row: expected with a paper"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_users_mistake_is_one_line_and_nothing_is_started(tmp_path, arguments, message):
    path, commands = str(written(tmp_path, HILLS)), []
    given = [path if one == "PAPER" else one for one in arguments]
    with pytest.raises(UserError) as refusal:
        main([*given, "--out", str(tmp_path / "out")], stub_house(*MACHINE, commands=commands))
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
    assert not commands
    assert files(tmp_path / "out") == []


def test_a_place_that_can_hold_no_records_is_refused(reproduce, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError, match=r"out: cannot write there: "):
        reproduce()


# --- the list ---


def test_the_list_has_a_line_for_each_table_and_figure(reproduce, tmp_path, capsys):
    parts = (HILLS.replace(SECOND, "nowhere"), NEVER, DRAWN)
    reproduce("--table", "1", "--backends", "cpu", parts=parts)
    capsys.readouterr()
    commands = []
    assert reproduce("--list", parts=parts, commands=commands) == 0
    state = "2 runs, 1 recorded; 1 cannot run here; not at hand: nowhere"
    assert capsys.readouterr().out.splitlines() == [
        f"made-up  table 1   hill climbing  {state}",
        "made-up  table 2   sheep          never: it counts sheep",
        f"made-up  figure 3  drawn          {state}",
    ]
    assert not commands


def test_the_list_of_all_papers_names_every_exhibit_of_each(capsys):
    from reports.paper_file import load as paper_of
    from reports.paper_file import names

    assert main(["--list", "--scale", "quick"], stub_house(*MACHINE)) == 0
    lines = capsys.readouterr().out.splitlines()
    expected = [(paper.name, *one.name.split()) for paper in map(paper_of, names()) for one in paper.exhibits]
    assert [tuple(line.split()[:3]) for line in lines] == expected


# --- damaged records ---


def damaged(tmp_path, content, house):
    """Reproduce from a file of records: the exit code or the refusal, and what was told of lines left out."""
    out = tmp_path / "out"
    (out / "made-up.jsonl").write_bytes(content)
    (out / "made-up.md").write_text("an earlier report")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            code = main([str(tmp_path / "made-up.toml"), "--scale", "quick", "--out", str(out)], house)
        except UserError as error:
            return error, told
    return code, told


def test_thirty_damaged_files_of_records_are_refused_in_one_line_or_their_report_is_whole(reproduce, tmp_path, capsys):
    reproduce()
    out = tmp_path / "out"
    good, report = (out / "made-up.jsonl").read_bytes(), (out / "made-up.md").read_text()
    commands, refused = [], 0
    house = stub_house(*MACHINE, commands=commands)
    for seed in range(30):
        content = mutated(good, random.Random(seed))
        commands.clear()
        end, told = damaged(tmp_path, content, house)
        if isinstance(end, UserError):
            refused += 1
            assert str(end).startswith(f"{out / 'made-up.jsonl'}:") and "\n" not in str(end), str(end)[:300]
            assert not commands
            assert (out / "made-up.jsonl").read_bytes() == content
            assert (out / "made-up.md").read_text() == "an earlier report"
        elif end == 0:
            # What was left out or no longer says the same was run again.
            assert sum(one.environment == load_first(good).environment for one in load(out / "made-up.jsonl")) >= 4
            assert (out / "made-up.md").read_text().count("×2.00") == report.count("×2.00"), seed
        else:
            assert "error: " in capsys.readouterr().err
    assert 0 < refused < 30


def load_first(content):
    from reports.records import Record

    return Record.from_line(content.split(b"\n")[0].decode())


def test_a_torn_last_line_is_reported_and_its_run_made_again(reproduce, tmp_path):
    reproduce()
    records = tmp_path / "out" / "made-up.jsonl"
    report = (tmp_path / "out" / "made-up.md").read_text()
    commands = []
    end, told = damaged(tmp_path, records.read_bytes()[:-200], stub_house(*MACHINE, commands=commands))
    assert end == 0
    assert {str(one.message) for one in told} == {
        f"{records}:4: the last line is incomplete (writing it was interrupted): left out"
    }
    assert len(commands) == 1
    assert len(load(records)) == 4
    assert (tmp_path / "out" / "made-up.md").read_text() == report


def test_a_line_of_another_schema_refuses_before_anything_starts(reproduce, tmp_path):
    reproduce()
    records = tmp_path / "out" / "made-up.jsonl"
    lines = records.read_text().splitlines()
    lines[1] = json.dumps(json.loads(lines[1]) | {"schema": 3})
    commands = []
    end, _ = damaged(tmp_path, "\n".join(lines).encode(), stub_house(*MACHINE, commands=commands))
    assert str(end).startswith(f"{records}:2: found schema version 3")
    assert not commands


# --- with real drivers ---


def test_a_small_paper_is_reproduced_on_one_core_and_all_cores_and_the_same_again(tmp_path, environment):
    path, out = (
        written(tmp_path, HILLS.replace("quick = {", f'quick = {{ rows = ["{FIRST}"],'), NEVER),
        tmp_path / "out",
    )
    command = [sys.executable, "-m", "drivers.reproduce", str(path), "--scale", "quick", "--out", str(out)]
    reports = []
    for said in ("2 runs, 0 recorded already", "2 runs, 2 recorded already"):
        done = subprocess.run(
            [*command, "--backends", "cpu", "threads"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
        found = load(out / "made-up.jsonl")
        assert [(one.backend, one.instance, len(one.samples)) for one in found] == [
            ("cpu", FIRST, 2),
            ("threads", FIRST, 2),
        ]
        assert len({one.trajectory_hash for one in found}) == 1
        assert all(one.scored for one in found)
        reports.append((out / "made-up.md").read_text())
    assert reports[0].count("the baseline") == 1
    assert reports[0] == reports[1]
