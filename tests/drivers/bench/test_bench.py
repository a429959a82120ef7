"""The benchmark as a program: cases in turn with records, C programs and ranks, and pages."""

import shutil
from types import SimpleNamespace

import pytest

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets.bench import main
from drivers.runs.measuring import MeasuringRule
from drivers.workload.run_time import WorkUnit
from reports.records.files import UnequalWorkError, load, merge
from tests.drivers.bench.conftest import CLIMBS

IHC = ["--workload", "ihc", "--ranks"]


def test_candidates_run_beside_c_are_recorded_once_and_have_a_page(only_cpu, use_rows, tmp_path, capsys):
    if shutil.which("gcc") is None:
        pytest.skip("reference programs in C need gcc")
    use_rows({**CLIMBS, "c": True, "remark": "the paper: 3 s"})
    line = [*IHC, "--repeats", "1", "--reference-programs", "--out", str(tmp_path)]
    assert run_driver(main, line) == 0
    said = capsys.readouterr().out
    assert "3 runs, 0 recorded already" in said and "climbs/s" in said
    page = (tmp_path / "bench.md").read_text()
    assert "| climbs, the paper: 3 s |" in page and "one core (C, scan full, program " in page
    records = load(tmp_path / "bench.jsonl")
    assert [record.backend for record in records] == ["cpu", "C", "C"]
    assert all(record.verified and len(record.repetitions) == 1 for record in records)
    assert len({record.hash for record in records}) == 1
    assert run_driver(main, line) == 0
    assert capsys.readouterr().out.count("recorded already: best") == 3
    assert load(tmp_path / "bench.jsonl") == records


def test_a_failed_run_and_unequal_results_end_with_an_error_behind_the_other_cases(
    only_cpu, use_rows, tmp_path, monkeypatch, capsys
):
    use_rows(CLIMBS, {**CLIMBS, "title": "broken", "arguments": "--instance uniform:8:seed=1 --climbers 5"})
    fail = "drivers.experiments.presets.bench.rate_sections"
    monkeypatch.setattr(fail, lambda records, *_: raise_unequal(len(records)))
    assert run_driver(main, [*IHC, "--repeats", "1", "--out", str(tmp_path)]) == 1
    assert "error: 1 made up. No report was written" in capsys.readouterr().err
    use_rows(CLIMBS)
    monkeypatch.setattr("drivers.experiments.case.Case.command", lambda case: ["false"])
    assert run_driver(main, [*IHC, "--repeats", "1", "--rerun", "--out", str(tmp_path)]) == 1
    assert "failed with exit code 1" in capsys.readouterr().out


def raise_unequal(number):
    raise UnequalWorkError(f"{number} made up")


def test_a_case_that_no_scorer_confirms_is_named_and_the_others_have_their_page(only_cpu, use_rows, tmp_path, capsys):
    unscored = {"workload": "lcs", "arguments": "--instance random:50000 --no-trace", "title": "length alone"}
    use_rows(CLIMBS, unscored)
    assert run_driver(main, [*IHC, "--repeats", "1", "--out", str(tmp_path)]) == 1
    assert "error: length alone: no records to compare: the NumPy scorer confirmed none" in capsys.readouterr().err
    assert "| climbs |" in (tmp_path / "bench.md").read_text()


def test_without_gcc_or_time_a_line_says_why(only_cpu, use_rows, tmp_path, monkeypatch, capsys):
    use_rows({**CLIMBS, "c": True, "variants": ["--scan full", "--scan pruned"]}, {**CLIMBS, "title": "more"})
    monkeypatch.setattr("drivers.experiments.c_programs.shutil.which", lambda name: None)
    times = iter([0, 1, 2])
    monkeypatch.setattr("drivers.experiments.presets.bench.time", SimpleNamespace(monotonic=lambda: next(times, 9)))
    line = [*IHC, "--reference-programs", "--repeats", "1", "--time-budget", "8", "--out", str(tmp_path)]
    assert run_driver(main, line) == 0
    said = capsys.readouterr().out
    assert "no reference programs in C: they need gcc, which is not here" in said
    assert "3 runs, 0 recorded already" in said and "8.0 s have passed: 2 runs not measured" in said


@pytest.mark.slow  # three programs, six repetitions each
def test_rates_of_ours_and_of_c_programs_are_measured_by_one_rule(only_cpu, use_rows, tmp_path, monkeypatch):
    if shutil.which("gcc") is None:
        pytest.skip("reference programs in C need gcc")
    use_rows({**CLIMBS, "c": True})
    line = [*IHC, "--measure", "0", "--busy", "--reference-programs", "--out", str(tmp_path)]
    assert run_driver(main, line) == 0
    runs = merge(load(tmp_path / "bench.jsonl"))
    assert [(run.backend, [len(turn) for turn in run.turns()]) for run in runs] == [
        ("cpu", [6]),
        ("C", [6]),
        ("C", [6]),
    ]
    assert all(run.work_unit == "climbs" and run.verified for run in runs)
    shortest_s = MeasuringRule.of(WorkUnit(), 0).shortest_s
    assert all(run.turns()[0][0].running_s >= shortest_s for run in runs), "amounts that fit"


@pytest.mark.slow
def test_ranks_have_a_page_with_rates_and_records_of_their_own(only_cpu, use_rows, tmp_path):
    pytest.importorskip("mpi4py")
    of_ranks = {"family": "ranks", "on": "ranks of cores"}
    strings = {**of_ranks, "title": "strings", "workload": "lcs", "arguments": "--instance half:3000 --no-trace"}
    words = "--instance uniform:50:seed=1 --climbers 64"
    climbs = {**of_ranks, "title": "climbs", "workload": "ihc", "arguments": words}
    use_rows(strings | {"grown": {"2": "--instance half:4242"}}, climbs | {"weak": True})
    options = "--workload ranks --ranks 2 --oversubscribe --measure 0 --busy --out"
    line = [*options.split(), str(tmp_path)]
    assert run_driver(main, line) == 0
    records = merge(load(tmp_path / "ranks.jsonl"))
    amounts = [(one.instance[:9], one.ranks, one.parameters.get("climbers")) for one in records]
    strings, climbs = [("half:3000", 1, None), ("half:3000", 2, None)], [("uniform:5", 1, 64), ("uniform:5", 2, 64)]
    assert amounts == [*strings, ("half:4242", 2, None), *climbs, ("uniform:5", 2, 128)]
    assert all(one.turns() for one in records)
    page = (tmp_path / "ranks.md").read_text()
    assert f"```\nonekernel bench {' '.join(line)}\n```" in page
    assert "| lcs, half:3000, value | cells/s |" in page and "| ihc, uniform:50 | climbs/s |" in page
    assert "weak efficiency on 2" in page


def test_a_dry_run_prints_commands_in_turn_and_leaves_no_file(only_cpu, use_rows, tmp_path, capsys):
    use_rows({**CLIMBS, "variants": ["--scan full", "--scan pruned"]})
    assert main([*IHC, "--repeats", "3", "--dry-run", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "2 runs, 0 recorded already; the rest takes about " in said
    commands = [line for line in said.splitlines() if " -m drivers.ihc " in line]
    settings = [line.split("--scan ")[1].split()[0] + line.split("--repeats ")[1][:1] for line in commands]
    assert settings == ["full3", "pruned3"]
    assert not (tmp_path / "out").exists()
