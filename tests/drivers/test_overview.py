"""The overview of all workloads, with a stub in the drivers' place, and once with two real ones."""

import json
import sys
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers.compare import STANDARD, House
from drivers.overview import LONG_ENOUGH, WORKS, main, repetitions
from drivers.workloads import OF_PAPERS, named

# Stands in for a driver: writes a record as the command line says; a backend's name decides how.
STUB = """
import json, sys
from reports.environment import environment
name, sha256, asked, backend, ranks, repeats, path = sys.argv[1:]
if backend == "joblib":
    sys.exit("error: no shared memory")
second = {"cpu": 2.0 / int(ranks), "threads": 1.0}.get(backend, 0.5)
sample = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": second, "total_s": second}
record = {
    "schema": 2, "workload": name, "instance": "stub", "instance_sha256": sha256, "ways": {}, "parameters": {},
    "seed": 0, "backend": backend, "device": "0", "device_kind": {"cpu": "core", "cuda": "gpu"}.get(backend, "cores"),
    "ranks": int(ranks), "samples": [sample] * int(repeats), "best_cost": 7, "best_index": 3, "evaluations": 10**9,
    "trajectory_hash": "ffff" if backend == "wrong" else "0123", "hash_covers": "answer",
    "scored": backend != "unscored", "environment": environment(1), "unit": "things",
    "details": {"asked": json.loads(asked)},
}
print(json.dumps(record), file=open(path, "a"))
"""


@pytest.fixture
def overview(tmp_path):
    """Make an overview of `ihc` and `lcs` in a folder of its own: the exit code, and what was started."""

    def run(*arguments, backends=("cpu", "threads")):
        started = []

        def command(contest, configuration):
            started.append((contest.workload.name, str(configuration.backend), configuration.ranks))
            words = (contest.workload.name, contest.task.problem.sha256, json.dumps(contest.asked))
            words += (configuration.backend, configuration.ranks, contest.repeats, contest.records)
            return [sys.executable, "-c", STUB, *map(str, words)]

        devices = [
            SimpleNamespace(
                backend=name,
                device="0",
                name="stub device",
                usable=name != "opencl",
                reason="no platform",
                kind={"cpu": "core", "cuda": "gpu"}.get(name, "cores"),
                oracle=name == "python",
            )
            for name in backends
        ]
        chosen = [] if "--workloads" in arguments else ["--workloads", "ihc", "lcs"]
        ranks = [] if "--ranks" in arguments else ["--ranks"]
        code = main([*chosen, *ranks, "--out", str(tmp_path), *arguments], House(lambda: devices, command))
        return code, started

    return run


def test_every_workload_runs_on_every_device_and_is_shown(overview, tmp_path, capsys):
    code, started = overview(backends=("threads", "cpu", "opencl", "python"))
    assert code == 0
    assert started == [(name, backend, 1) for name in ("ihc", "lcs") for backend in ("cpu", "threads")]
    printed, report = capsys.readouterr().out, (tmp_path / "overview.md").read_text()
    assert f"Made by `python -m drivers.overview --workloads ihc lcs --ranks --out {tmp_path}`." in report
    assert "[1/6] ihc, " in printed and "[6/6] lcs, " in printed and " s left)" in printed
    for text in (printed, report):
        assert "2.00x" in text and "1.00 s" in text
        assert "opencl (device 0): no platform" in text
    assert {"overview.md", "overview.svg", "overview.png", "overview.jsonl"} <= {one.name for one in tmp_path.iterdir()}


def test_an_overview_goes_on_where_it_stopped(overview, tmp_path):
    overview("--workloads", "ihc")
    assert overview()[1] == [("lcs", "cpu", 1), ("lcs", "threads", 1)]
    assert overview() == (0, [])
    assert len(overview("--fresh")[1]) == 4
    assert (tmp_path / "overview.previous.jsonl").exists()


def test_a_device_that_fails_has_no_value_and_the_rest_is_shown(overview, tmp_path, capsys):
    assert overview(backends=("cpu", "joblib", "threads"))[0] == 1
    failure = "ihc on joblib (device 0): failed with exit code 1: error: no shared memory"
    assert failure in " ".join(capsys.readouterr().out.split())
    assert "| 2.00 s, 1.00x | 1.00 s, 2.00x |" in (tmp_path / "overview.md").read_text()


def test_unequal_work_is_an_error_and_not_shown(overview, tmp_path, capsys):
    assert overview(backends=("cpu", "wrong"))[0] == 1
    said = capsys.readouterr().err
    assert "error: ihc: " in said and "error: lcs: " in said and "not the same work" in said
    assert not (tmp_path / "overview.md").exists()


def test_what_the_scorer_contradicts_has_no_value_and_is_an_error(overview, tmp_path, capsys):
    assert overview(backends=("cpu", "unscored"))[0] == 1
    reason = "lcs on unscored (device 0): the NumPy scorer did not confirm its best cost 7"
    assert reason in " ".join(capsys.readouterr().out.split())
    assert "| 2.00 s, 1.00x |" in (tmp_path / "overview.md").read_text()


def test_nothing_that_runs_is_an_error_and_no_report(overview, tmp_path, capsys):
    (tmp_path / "overview.md").write_text("an earlier overview")
    assert overview(backends=("joblib",))[0] == 1
    assert "of no workload is there a run to show" in capsys.readouterr().err
    assert not (tmp_path / "overview.md").exists()


def test_an_instance_that_cannot_be_loaded_costs_its_workload_alone(overview, monkeypatch, capsys):
    from drivers import lcs

    def missing(options, ranks):
        raise UserError("random:150000: no such instance")

    monkeypatch.setattr("drivers.lcs.LCS", lcs.LCS.__class__(**{**vars(lcs.LCS), "load": missing}))
    code, started = overview("--workloads", "lcs", "ihc")
    assert code == 1
    assert {name for name, _, _ in started} == {"ihc"}
    out, err = capsys.readouterr()
    assert "[6/6] ihc, " in out and "lcs: random:150000: no such instance" in out
    assert "error: lcs: random:150000" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workloads", "ich"], "workload 'ich' .did you mean ihc.*: expected one of ihc"),
        (["--backends", "metal"], "--backends: expected some of cpu, threads, found 'metal'"),
        (["--ranks", "100000"], "--ranks 100000: found .* cores"),
        (["--out", "/proc/none"], "/proc/none: cannot write there"),
    ],
)
def test_mistakes_are_told_before_anything_runs(overview, arguments, said):
    with pytest.raises(UserError, match=said):
        overview(*arguments)


@pytest.mark.parametrize(
    ("seconds", "one_core_s", "configurations", "count"),
    [
        (10, 1.0, 1, 10),
        (10, 1.0, 3, 5),
        (10, 0.5, 3, 10),
        (10, 4.0, 7, 3),
        (0, 1.0, 3, 3),
        (1e9, 1.0, 1, 30),
        (1, 0, 1, 30),
    ],
)
def test_repetitions_fill_the_time_roughly(seconds, one_core_s, configurations, count):
    assert repetitions(seconds, one_core_s, configurations) == count


def test_a_short_workload_is_repeated_more_often_on_every_device(overview, tmp_path):
    code, started = overview("--workloads", "lcs", "--seconds-each", "30")
    assert (code, started) == (0, [("lcs", "cpu", 1), ("lcs", "cpu", 1), ("lcs", "threads", 1)])
    records = [json.loads(line) for line in (tmp_path / "overview.jsonl").open()]
    assert [len(record["samples"]) for record in records] == [3, 10, 10]
    assert overview("--workloads", "lcs", "--seconds-each", "30") == (0, [])


def test_works_are_longer_than_those_of_a_comparison_and_pages_say_why_they_were_chosen(overview, tmp_path):
    assert set(WORKS) == set(OF_PAPERS) - {"lcs"}
    overview()
    asked = {
        record["workload"]: record["details"]["asked"]
        for record in map(json.loads, (tmp_path / "overview.jsonl").open())
    }
    assert asked["ihc"]["climbers"] == int(WORKS["ihc"][1]) > int(named("ihc").standard[1])
    report = (tmp_path / "overview.md").read_text()
    assert LONG_ENOUGH in report
    assert f"- **lcs**: {named('lcs').title}; 1 G things, best 7, hash `0123`; {STANDARD}." in report
    assert "**Kept**: It says why these instances were chosen" in report


def test_a_first_device_that_fails_is_not_tried_twice(overview):
    code, started = overview("--workloads", "lcs", backends=("joblib", "threads"))
    assert (code, started) == (1, [("lcs", "joblib", 1), ("lcs", "threads", 1)])


def test_without_a_choice_the_papers_workloads_are_shown(tmp_path, capsys):
    started = []
    one_core = SimpleNamespace(
        backend="cpu", device="0", name="stub device", usable=True, reason="", kind="core", oracle=False
    )

    def command(contest, configuration):
        started.append(contest.workload.name)
        return ["false"]

    assert main(["--ranks", "--out", str(tmp_path)], House(lambda: [one_core], command)) == 1
    assert tuple(started) == OF_PAPERS
    assert f"/{2 * len(OF_PAPERS)}] " in capsys.readouterr().out


@pytest.mark.slow
def test_overview_end_to_end(tmp_path):
    arguments = [
        "--workloads",
        "ihc",
        "knapsack",
        "--backends",
        "cpu",
        "threads",
        "--ranks",
        "2",
        "--seconds-each",
        "1",
    ]
    assert main([*arguments, "--oversubscribe", "--out", str(tmp_path)]) == 0
    records = [json.loads(line) for line in (tmp_path / "overview.jsonl").open()]
    assert {(record["workload"], record["backend"], record["ranks"]) for record in records} == {
        (name, backend, ranks)
        for name in ("ihc", "knapsack")
        for backend, ranks in (("cpu", 1), ("threads", 1), ("cpu", 2))
    }
    assert all(record["scored"] for record in records)
