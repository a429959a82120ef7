"""A comparison's recorded runs are not repeated, and other content of the file is ignored."""

import json
import re
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration
from drivers.experiments.executors.local import LocalExecutor
from drivers.experiments.run import PlanRun
from drivers.workload.registry import get_workload
from tests.drivers.made_up_runs import device

BOTH = [device("cpu"), device("threads")]


RULE = 74 * "-"
BANNERS = [RULE, "MPI_ABORT was invoked on rank 0", "", "NOTE: it kills", RULE, RULE, "prterun has exited", RULE]


def lines(folder):
    return (folder / "compare-ihc.jsonl").read_text().splitlines()


def test_what_the_records_hold_is_reported_and_starts_nothing(compare, tmp_path, capsys, monkeypatch):
    """Also for fewer repetitions, and with other solvers installed since."""
    monkeypatch.setattr("reports.records.environment.project_commit", lambda: "abc")
    assert compare("--ranks", devices=BOTH) == 0
    before = lines(tmp_path)
    started = []
    capsys.readouterr()
    assert compare("--ranks", devices=BOTH, started=started) == 0
    said = capsys.readouterr()
    assert said.out.count("recorded already: best 7, hash 01230") == 2
    assert "1.00" in said.out and "note:" not in said.err
    assert "| threads |" in (tmp_path / "compare-ihc.md").read_text()
    assert compare("--ranks", "--repeats", "2", devices=BOTH, started=started) == 0
    monkeypatch.setattr("drivers.experiments.presets.compare.installed_peers", lambda peers: ["fast-tsp"])
    assert compare("--ranks", devices=BOTH, started=started) == 0
    assert capsys.readouterr().err.count("recorded without reference solvers; --rerun runs them") == 1
    assert started == [] and lines(tmp_path) == before


def test_only_what_is_missing_runs_and_fresh_runs_all_again(compare, tmp_path):
    compare("--ranks", devices=BOTH[:1])
    started = []
    compare("--ranks", devices=BOTH, started=started)
    compare("--ranks", "--seeds", "0,1", "--start", "philox", devices=BOTH, started=started)
    assert [one.configuration.backend for one in started] == ["threads", "cpu", "threads"]
    first = lines(tmp_path)
    assert compare("--ranks", "--rerun", devices=BOTH, started=started) == 0
    assert len(started) == 5
    assert lines(tmp_path) == first[:2]
    assert (tmp_path / "compare-ihc.previous.jsonl").read_text().splitlines() == first


OTHERS = {
    "another instance": {"instance": "other", "instance_sha256": "cd" * 32},
    "another workload": {"workload": "qap"},
    "another seed": {"seed": 9},
    "other work": {"details": {"options": {"climbers": 17}}},
    "nobody knows what was asked": {"details": {}},
    "another version": {"environment": {"commit": "another"}},
    "another machine": {"environment": {"host": "another"}},
}


def test_records_of_other_work_or_machines_do_not_count_and_stay_where_they_are(compare, tmp_path):
    assert compare("--ranks", devices=BOTH[:1]) == 0
    recorded = json.loads(lines(tmp_path)[0])
    others = []
    for values in OTHERS.values():
        changed = recorded | {"hash": "eeee"} | values
        changed["environment"] = recorded["environment"] | values.get("environment", {})
        others.append(json.dumps(changed))
    (tmp_path / "compare-ihc.jsonl").write_text("\n".join(others) + "\n")
    started = []
    assert compare("--ranks", devices=BOTH, started=started) == 0
    assert len(started) == 2
    assert lines(tmp_path)[:-2] == others
    assert "eeee" not in (tmp_path / "compare-ihc.md").read_text()


def test_a_run_names_its_compiler_and_finds_no_record_of_another(compare):
    started = []
    for compiler in ("numba", "nvrtc", "numba", "nvrtc"):
        assert compare("--ranks", devices=[BOTH[0], device("cuda", compiler=compiler)], started=started) == 0
    assert [one.configuration.compiler for one in started] == ["", "numba", "nvrtc"]
    assert "--compiler" not in started[0].command()
    assert " ".join(started[2].command()).count("--backend cuda --device 0 --compiler nvrtc") == 1


def test_records_that_may_be_of_other_sources_are_taken_with_a_note(compare, monkeypatch, capsys):
    monkeypatch.setattr("reports.records.environment.project_commit", lambda: "abc+changes")
    compare("--ranks", devices=BOTH[:1])
    assert "note:" not in capsys.readouterr().err
    compare("--ranks", devices=BOTH[:1])
    (note,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    assert "--rerun" in note


def test_sources_that_change_during_a_comparison_are_named_as_the_reason(compare, monkeypatch, capsys):
    commits = iter(["before"] * 2)  # for the plan and for its run
    monkeypatch.setattr("reports.records.environment.project_commit", lambda: next(commits, "after"))
    assert compare("--ranks", devices=BOTH) == 1
    assert capsys.readouterr().out.count("sources changed while it ran") == 2


def test_a_damaged_file_of_records_is_one_error_with_its_line_and_starts_nothing(compare, tmp_path):
    assert compare("--ranks", devices=BOTH[:1]) == 0
    (line,) = lines(tmp_path)
    (tmp_path / "compare-ihc.md").unlink()
    (tmp_path / "compare-ihc.jsonl").write_text(f"{line}\n{line[:50]}\n{line}\n")
    started = []
    with pytest.raises(UserError, match=r"compare-ihc\.jsonl:2: "):
        compare("--ranks", devices=BOTH, started=started)
    assert started == [] and not (tmp_path / "compare-ihc.md").exists()


def case_of(tmp_path, *arguments, seeds=(0,)):
    task = SimpleNamespace(problem=SimpleNamespace(name="x", sha256="ab"))
    return Case(get_workload("ihc"), task, arguments, {}, seeds, 3, tmp_path / "r.jsonl")


def test_ranks_are_started_by_mpirun_and_those_of_one_core_are_bound(monkeypatch, tmp_path):
    monkeypatch.setattr("drivers.experiments.case.find_mpirun", lambda: "mpirun")
    monkeypatch.setattr("cluster.launch.commands.is_hydra", lambda launcher: False)
    for place, bound in (
        (Configuration("cpu", "0", "a core", 4), []),
        (Configuration("threads", "0", "cores", 4, "cores"), ["--bind-to", "none"]),
    ):
        command = case_of(tmp_path).on(place).command()
        assert command[:7] == ["mpirun", "-n", "4", "--map-by", ":OVERSUBSCRIBE", *(bound or command[5:7])]
        assert ("--bind-to" in command) == bool(bound)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("error: 2 ranks are too many", "refused: 2 ranks are too many"),
        ("error (rank 1): no room", "refused: no room"),
        ("", "failed with exit code 2"),
    ],
)
def test_what_a_program_refuses_over_ranks_is_told_in_one_line(monkeypatch, tmp_path, capsys, last, reason):
    said = "\n".join([*BANNERS, last])
    done = SimpleNamespace(returncode=2, stderr=said, stdout="")
    monkeypatch.setattr("drivers.experiments.executors.guard.run_guarded", lambda *_: done)
    (row,) = PlanRun(1, LocalExecutor()).run([case_of(tmp_path).on(Configuration("cpu", "0", "a core", 2))])
    assert row.records == [] and (row.kind == "refused") == bool(last)
    assert str(row.not_run) == f"cpu (device 0, 2 ranks): {reason}"
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 2 and f" ...\n    {reason} (" in captured.out
    assert ("MPI_ABORT" in captured.err) != bool(last)


def test_an_interrupted_comparison_says_how_to_go_on(monkeypatch, tmp_path, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("drivers.experiments.executors.guard.run_guarded", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PlanRun(1, LocalExecutor()).run([case_of(tmp_path).on(Configuration("cpu", "0", "a core"))])
    assert re.search(r"\nthe same command continues with the records in \S*r\.jsonl\n", capsys.readouterr().out)


def test_a_dry_run_prints_the_commands_that_are_left_and_leaves_no_file(compare, tmp_path, capsys):
    places = ["--ranks", "--dry-run"]
    assert compare(*places, devices=BOTH, folder=tmp_path / "new") == 0
    assert capsys.readouterr().out.count("  # about 2 s\n") == 2 and not (tmp_path / "new").exists()
    compare("--ranks", devices=BOTH[:1])
    capsys.readouterr()
    assert compare(*places, devices=BOTH) == 0
    assert capsys.readouterr().out.count("  # about 2 s\n") == 1
