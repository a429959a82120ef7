"""Records for papers within a budget: order of runs, choice by time, resumed runs, and stale records."""

import json
import shlex
import sys
from unittest.mock import patch

import pytest

from backends import Usability
from core.errors import UserError
from drivers.experiments.executors.guard import run_guarded
from drivers.gallery_records import main
from drivers.ihc import main as ihc
from drivers.workload.run_time import RepetitionWork
from reports.papers.files import read
from reports.records.files import load
from reports.records.sources import is_stale, sources_digest
from tests.drivers.made_up_paper import FIRST, HILLS, SECOND, device, written
from tests.drivers.made_up_runs import made_up_suite, run_of

MACHINE = device("cpu"), device("threads")
TABLE = HILLS.replace("quick =", "standard =")
OTHER = TABLE.replace('table = "1"', 'table = "2"').replace("climbers = 4", "climbers = 8")


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def fill(tmp_path):
    def run(*arguments, parts=(TABLE,), budget="1h", seconds=1.0, sources=None, fails=False):
        started, clock = [], Clock()
        paper = read(written(tmp_path, *parts))

        def command(case):
            clock.now += seconds
            if fails:
                return [sys.executable, "-c", "raise SystemExit(1)"]
            notes = {"options": case.asked, "sources": sources or sources_digest("ihc"), "device_name": "stub device"}
            return run_of(case, details=notes)

        words = ["--budget", budget, "--only", "made-up", "--ranks", "--out", str(tmp_path / "out"), *arguments]
        at = "drivers.experiments.presets.gallery_records"
        with (
            made_up_suite(*MACHINE, started=started, command=command),
            patch("reports.papers.files.names", lambda: ["made-up"]),
            patch("reports.papers.files.load", lambda name: paper),
            patch(f"{at}.time", clock),
        ):
            return main(words), started

    return run


def held(tmp_path):
    return load(tmp_path / "out" / "made-up.jsonl")


def runs_of(started):
    """Climbers, instance and repetitions of runs on one core."""
    cases = [one for one in started if one.configuration.backend == "cpu"]
    return [(case.asked.get("climbers"), case.task.problem.name, case.repeats) for case in cases]


def test_each_table_gets_a_row_then_all_rows_then_ten_repetitions_then_the_full_scale(fill):
    code, started = fill(parts=(TABLE, OTHER))
    assert code == 0
    # One core runs before and after the others of its row.
    assert runs_of(started)[:12] == [
        *((climbers, FIRST, repeats) for climbers in (4, 8) for repeats in (2, 4)),
        *((climbers, SECOND, repeats) for climbers in (4, 8) for repeats in (2, 4)),
        *((climbers, FIRST, repeats) for climbers in (4, 8) for repeats in (10, 20)),
    ]
    # A row is recorded with all its series before the next one.
    assert [one.configuration.backend for one in started][:6] == ["cpu", "threads", "cpu"] * 2


def test_the_same_command_goes_on_and_then_has_nothing_left(fill, tmp_path, capsys):
    code, first = fill(budget="7s", seconds=3.0)
    assert (code, len(first)) == (0, 2)
    assert "missing: made-up: " in capsys.readouterr().out
    more = fill()[1]
    assert runs_of(more)[:2] == [(4, FIRST, 4), (4, SECOND, 2)]
    assert fill() == (0, [])
    assert not [one for one in held(tmp_path) if is_stale(one)]
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["made-up.jsonl"]


def test_records_of_another_commit_and_host_count_while_the_sources_are_the_same(fill, tmp_path):
    fill()
    path = tmp_path / "out" / "made-up.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for one in lines:
        one["environment"] |= {"commit": "earlier", "host": "elsewhere"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert fill() == (0, [])
    lines[0]["environment"]["cpu_model"] = "another processor"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len({str(one.configuration) for one in fill()[1]}) == 1


def test_stale_records_are_recorded_first_and_replaced(fill, tmp_path):
    fill(parts=(OTHER,), sources="0" * 16)
    stale = len(held(tmp_path))
    assert stale and all(map(is_stale, held(tmp_path)))
    started = fill(parts=(TABLE, OTHER), budget="13s", seconds=3.0)[1]
    assert runs_of(started)[0] == (8, FIRST, 2)
    current = [one for one in held(tmp_path) if not is_stale(one)]
    assert len(current) == len(started) and current[0].parameters["climbers"] == 8
    assert sum(map(is_stale, held(tmp_path))) < stale


def test_a_stale_record_stays_if_its_run_fails(fill, tmp_path, capsys):
    fill(sources="0" * 16)
    before = held(tmp_path)
    assert fill(fails=True)[0] == 1
    assert f"error: ihc, {FIRST}, one core on cpu" in capsys.readouterr().err
    assert held(tmp_path) == before


def test_a_run_that_does_not_fit_is_left_out_and_a_smaller_one_taken(fill, capsys):
    large = TABLE.replace("climbers = 4", "climbers = 4000")
    work = "drivers.experiments.plan.planned_work"
    with patch(work, lambda workload, task: RepetitionWork(task.options.climbers, "moves", 10.0)):
        code, started = fill(parts=(large, OTHER), budget="60s", seconds=3.0)
    assert code == 0
    assert {climbers for climbers, *_ in runs_of(started)} >= {8}
    assert 4000 not in {climbers for climbers, *_ in runs_of(started)}
    assert "missing: made-up: " in capsys.readouterr().out


def test_a_row_longer_than_the_budget_is_shown_at_the_quick_scale(fill):
    both = TABLE + "quick = { amount = { climbers = 2 } }\n"
    both = both.replace("climbers = 4", "climbers = 4000")
    work = "drivers.experiments.plan.planned_work"
    with patch(work, lambda workload, task: RepetitionWork(task.options.climbers, "moves", 10.0)):
        started = fill(parts=(both,), budget="60s", seconds=3.0)[1]
    assert [climbers for climbers, *_ in runs_of(started)][:2] == [2, 2]


def test_a_dry_run_lists_the_runs_in_their_order_and_starts_none(fill, tmp_path, capsys):
    code, started = fill("--dry-run")
    lines = [line for line in capsys.readouterr().out.splitlines() if "  # " in line]
    assert code == 0 and len(lines) == len(started)
    assert lines[0].endswith(f" s: made-up, table 1, {FIRST}")
    assert not (tmp_path / "out").exists()


def test_instances_that_are_not_at_hand_are_named(fill, capsys):
    absent = TABLE.replace(SECOND, "nowhere999")
    assert fill("--dry-run", parts=(absent,))[0] == 0
    assert "cannot run here: made-up, table 1: nowhere999" in capsys.readouterr().out


@pytest.mark.parametrize("budget", ["30", "m", "0s", "-1m", "1d"])
def test_a_budget_without_a_unit_or_above_nothing_is_refused(budget):
    with pytest.raises(UserError, match="--budget: expected a time above 0 such as 90s, 30m or 2h"):
        main([f"--budget={budget}"])


def test_an_unknown_paper_is_refused():
    with pytest.raises(UserError, match="--only: expected some of luong2013, .*, found 'luong'"):
        main(["--only", "luong"])


def test_a_command_that_takes_too_long_is_ended():
    done = run_guarded([sys.executable, "-c", "import time; time.sleep(60)"], {}, 0.2)
    assert done.returncode == 128 + 15


def test_repetitions_of_a_later_process_are_a_group_of_their_own(tmp_path):
    path = tmp_path / "runs.jsonl"
    words = ["--instance", "uniform:8:seed=1", "--climbers", "4", "--backend", "python", "--record", str(path)]
    for repeats in ("2", "3"):
        assert ihc([*words, "--repeats", repeats]) == 0
    (record,) = load(path)
    assert [repetition.group for repetition in record.repetitions] == [None, None, 2]


@pytest.mark.slow
def test_a_real_run_fills_the_records_of_a_paper_and_the_next_one_goes_on(tmp_path, capfd):
    words = ["--only", "xavier2022", "--backends", "cpu", "--ranks", "--out", str(tmp_path)]
    assert main(["--budget", "12s", *words]) == 0
    path = tmp_path / "xavier2022.jsonl"
    first = load(path)
    assert first and all(one.verified and not is_stale(one) for one in first)
    assert "missing: xavier2022: " in capfd.readouterr().out
    assert main(["--dry-run", *words]) == 0
    left = [shlex.split(line, comments=True) for line in capfd.readouterr().out.splitlines() if "  # " in line]
    done = {(one.instance, len(one.repetitions)) for one in first}
    assert left and (left[0][left[0].index("--instance") + 1], 0) not in done


def test_runs_that_need_a_gpu_are_counted_on_a_machine_without_one(fill, tmp_path, capsys):
    absent = Usability("cuda", "", "", "", 0, 0, False, "no CUDA driver here")
    with patch("tests.drivers.test_gallery_records.MACHINE", (*MACHINE, absent)):
        code, started = fill()
        assert code == 0 and {one.configuration.kind for one in started} == {"core", "cores"}
        (line,) = [one for one in capsys.readouterr().out.splitlines() if "need a GPU" in one]
        assert line == (
            "cannot run here: made-up, table 1: 2 runs need a GPU (0 have stale or too few records), about 6 s on one"
        )
        path = tmp_path / "out" / "made-up.jsonl"
        runs = [json.loads(line) for line in path.read_text().splitlines()]
        both = [one for one in runs if one["backend"] == "threads"]
        on_gpu = [one | {"backend": "cuda", "device_kind": "gpu", "instance": "recorded elsewhere"} for one in both]
        path.write_text("".join(json.dumps(one) + "\n" for one in [*runs, *on_gpu]))
        fill()
        assert "need a GPU" not in capsys.readouterr().out
        fill("--backends", "cpu")
        assert "need a GPU" not in capsys.readouterr().out
