"""The comparison over all backends: with a stub in the driver's place, and once with everything real."""

import json
import re
import sys
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers.compare import House, _telling_line, driver_command, main, plan, sensible_climbers

# Stands in for drivers.ihc: writes a record with the json module alone; a backend's name decides how.
STUB = """
import json, sys
path, backend, device, ranks, repeats = sys.argv[1:]
if backend == "joblib":
    sys.exit("worker processes died\\nerror: no shared memory")
kernel = {"cpu": 2.0 / int(ranks), "threads": 1.0}.get(backend, 0.5)
sample = {"compile_s": 0.1, "transfer_s": 0.0, "kernel_s": kernel, "total_s": kernel + 0.1}
record = {
    "schema": 1, "workload": "ihc", "instance": "stub", "instance_sha256": "ab" * 32,
    "parameters": {"climbers": 16}, "seed": 0, "backend": backend, "device": device, "ranks": int(ranks),
    "samples": [sample] * int(repeats), "best_cost": 7, "best_index": 3, "evaluations": 10**9,
    "trajectory_hash": "ffff" if backend == "wrong" else "0123", "scored": backend != "unscored",
    "environment": {"cpu": "stub", "cores": 2, "hosts": 1},
}
if backend != "silent":
    print(json.dumps(record), file=open(path, "a"))
"""


def device(backend, usable=True, reason="", name="stub device"):
    told = {"kind": {"cpu": "core", "cuda": "gpu"}.get(backend, "cores"), "oracle": backend == "python"}
    return SimpleNamespace(backend=backend, device="0", name=name, usable=usable, reason=reason, **told)


def stub_house(*devices, commands=None):
    def command(configuration, work):
        if commands is not None:
            commands.append(configuration)
        words = (work.records, configuration.backend, configuration.device, configuration.ranks, work.repeats)
        return [sys.executable, "-c", STUB, *map(str, words)]

    def find_instance(spec, data):
        return "stub", SimpleNamespace(name="stub", n=100, sha256="ab" * 32), "the only one"

    return House(lambda: devices, find_instance, command)


@pytest.fixture
def compare(tmp_path):
    """Run the comparison in a folder of its own; returns the exit code."""

    def run(*arguments, devices, commands=None):
        house = stub_house(*devices, commands=commands)
        fixed = ["--climbers", "16", "--repeats", "3", "--out", str(tmp_path)]
        return main([*fixed, *arguments], house)

    return run


def test_every_usable_backend_and_the_ranks_are_run_and_reported(compare, tmp_path, capsys):
    devices = [
        device("threads"),
        device("cpu"),
        device("cuda", usable=False, reason="no driver"),
        device("python"),
    ]
    assert compare(devices=devices) == 0
    report = (tmp_path / "compare.md").read_text()
    printed = capsys.readouterr().out
    for text in (report, printed):
        assert "no driver" in text
        assert "the oracle" in text
        assert "2.00x" in text  # threads, and two ranks
        assert "4.00x" in text  # four ranks
        assert "oversubscribed: 4 ranks on 2 cores" in text
    assert {"compare.md", "speedup.svg", "speedup.png", "compare.jsonl"} <= {file.name for file in tmp_path.iterdir()}
    records = [json.loads(line) for line in (tmp_path / "compare.jsonl").open()]
    assert [(record["backend"], record["ranks"]) for record in records] == [
        ("cpu", 1),
        ("threads", 1),
        ("cpu", 2),
        ("cpu", 4),
    ]


def test_a_backend_that_fails_is_named_and_the_others_are_still_reported(compare, tmp_path, capsys):
    assert compare("--ranks", devices=[device("cpu"), device("joblib"), device("threads")]) == 1
    report = (tmp_path / "compare.md").read_text()
    assert "failed with exit code 1: error: no shared memory" in report
    assert "| threads |" in report
    assert "worker processes died" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["error: no such file", "-----", "prterun detected that a process failed"], "error: no such file"),
        (["Traceback (most recent call last):", "  File", "ValueError: x", "-----"], "ValueError: x"),
        (["python: No module named drivers.ihc", "-----"], "python: No module named drivers.ihc"),
    ],
)
def test_the_reason_of_a_failure_is_the_line_that_names_the_error(said, told):
    assert _telling_line(said) == told


def test_a_backend_that_writes_no_record_has_failed(compare, capsys):
    assert compare("--ranks", devices=[device("cpu"), device("silent")]) == 1
    assert "silent (device 0): wrote no record" in capsys.readouterr().out


def test_unequal_hashes_end_in_an_error_and_no_report(compare, tmp_path, capsys):
    (tmp_path / "compare.md").write_text("an earlier comparison")
    assert compare("--ranks", devices=[device("cpu"), device("wrong")]) == 1
    said = capsys.readouterr().err
    assert "not the same work" in said
    assert "trajectory_hash is '0123' in cpu" in said
    assert "'ffff' in wrong" in said
    assert not (tmp_path / "compare.md").exists()


def test_a_result_that_the_scorer_contradicts_enters_no_ratio_and_fails(compare, tmp_path, capsys):
    assert compare("--ranks", devices=[device("cpu"), device("unscored")]) == 1
    assert "error: unscored (device 0): the NumPy scorer did not confirm" in capsys.readouterr().err
    assert "| unscored | 0: " not in (tmp_path / "compare.md").read_text()


def test_nothing_confirmed_is_an_error_and_no_report(compare, tmp_path, capsys):
    assert compare("--ranks", devices=[device("unscored")]) == 1
    assert "confirmed none of them" in capsys.readouterr().err
    assert not (tmp_path / "compare.md").exists()


def test_nothing_that_runs_is_an_error(compare, capsys):
    assert compare("--ranks", devices=[device("silent")]) == 1
    assert "nothing ran" in capsys.readouterr().err


def test_only_the_named_backends_run(compare):
    commands = []
    devices = [device("cpu"), device("threads"), device("python")]
    compare("--backends", "threads", "python", devices=devices, commands=commands)
    assert [configuration.backend for configuration in commands] == ["threads", "python"]


def test_a_named_backend_that_cannot_run_is_a_users_mistake():
    devices = [device("cpu"), device("cuda", usable=False, reason="no driver")]
    with pytest.raises(UserError, match="cuda is not usable here: no driver"):
        plan(devices, ["cuda"], [])
    with pytest.raises(UserError, match="expected some of cpu, cuda, found 'metal'"):
        plan(devices, ["metal"], [])
    with pytest.raises(UserError, match="no backend is usable"):
        plan(devices[1:], None, [])


def test_without_mpi_the_ranks_are_listed_with_what_installs_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    chosen, not_run = plan([device("cpu")], None, [2, 4])
    assert [configuration.ranks for configuration in chosen] == [1]
    assert [missing.ranks for missing in not_run] == [2, 4]
    assert "pip install -e '.[mpi]'" in not_run[0].reason


def test_a_new_comparison_keeps_the_records_of_the_last_one_aside(compare, tmp_path):
    compare("--ranks", devices=[device("cpu")])
    first = (tmp_path / "compare.jsonl").read_text()
    compare("--ranks", devices=[device("cpu")])
    assert (tmp_path / "compare.jsonl").read_text() == first
    assert (tmp_path / "compare.previous.jsonl").read_text() == first


def test_kept_records_of_other_work_are_refused(compare, tmp_path):
    compare("--ranks", devices=[device("cpu")])
    with pytest.raises(UserError, match=r"compare\.jsonl:1: --keep would mix work"):
        compare("--keep", "--seed", "5", devices=[device("cpu")])
    assert compare("--keep", "--ranks", devices=[device("threads")]) == 0
    assert "| cpu |" in (tmp_path / "compare.md").read_text()


def test_the_command_is_the_drivers_own_options(monkeypatch, tmp_path):
    monkeypatch.setattr("drivers.compare.mpirun", lambda: "mpirun")
    work = SimpleNamespace(
        instance="kroA100", data="D", climbers=9, repeats=3, seed=1, records=tmp_path / "r.jsonl", scan="pruned"
    )
    one = SimpleNamespace(backend="opencl", device="1", ranks=1)
    command = driver_command(one, work)
    assert command[1:3] == ["-m", "drivers.ihc"]
    given = dict(zip(command[3:-1:2], command[4:-1:2], strict=True))
    assert given == {
        "--instance": "kroA100",
        "--data": "D",
        "--climbers": "9",
        "--scan": "pruned",
        "--backend": "opencl",
        "--device": "1",
        "--repeats": "3",
        "--seed": "1",
        "--record": str(tmp_path / "r.jsonl"),
    }
    four = SimpleNamespace(backend="cpu", device="0", ranks=4)
    assert driver_command(four, work)[:3] == ["mpirun", "-n", "4"]


@pytest.mark.parametrize(("cities", "climbers"), [(3, 100_000), (100, 2_000), (442, 20), (5_915, 16)])
def test_the_number_of_climbers_fits_a_second_of_one_core(cities, climbers):
    assert sensible_climbers(cities) == climbers


def test_compare_end_to_end(tmp_path):
    arguments = ["--instance", "uniform:50:seed=1", "--climbers", "64", "--repeats", "3"]
    arguments += ["--backends", "cpu", "threads", "--ranks", "2", "--out", str(tmp_path)]
    assert main(arguments) == 0
    records = [json.loads(line) for line in (tmp_path / "compare.jsonl").open()]
    assert {(record["backend"], record["ranks"]) for record in records} == {
        ("cpu", 1),
        ("threads", 1),
        ("cpu", 2),
    }
    assert len({record["trajectory_hash"] for record in records}) == 1
    assert all(record["scored"] for record in records)
    report = (tmp_path / "compare.md").read_text()
    assert re.search("all 3 rows have the hash `[0-9a-f]{16}` of all climbs", report)
    assert "uniform" in report
