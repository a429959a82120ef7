"""`--cores`: a run with some of the cores says so in its record, and is no repetition of one with others."""

import pytest

from drivers import qap
from drivers.configurations import Configuration
from drivers.contest import Contest
from drivers.workloads import named
from reports.exhibits import processors
from reports.records import load, merge

DRIVER = qap
SMALL = ("--instance", "taillard:9:seeds=1,2", "--iterations", "20", "--walks", "4", "--no-progress")


@pytest.fixture(autouse=True)
def three_cores(monkeypatch):
    monkeypatch.setattr("backends.base.available_cores", lambda: 3)


def test_runs_with_other_numbers_of_cores_are_other_runs_of_equal_work(drive, tmp_path):
    path = tmp_path / "r.jsonl"
    for cores in ([], ["--cores", "1"], ["--cores", "2"]):
        code, _, _ = drive(*SMALL, "--backend", "threads", *cores, "--record", path)
        assert code == 0
    runs = merge(load(path))
    assert [one.device for one in runs] == ["0", "1 of 3 cores", "2 of 3 cores"]
    assert [one.details.get("cores_used") for one in runs] == [None, 1, 2]
    assert len({one.identity for one in runs}) == 3
    assert len({one.trajectory_hash for one in runs}) == 1
    assert [processors(one) for one in runs[1:]] == ["cores:1", "cores:2"]
    assert runs[2].details["device_name"].endswith(", 2 of 3 cores")
    assert "2 of 3 cores" in drive(*SMALL, "--cores", "2")[1]  # auto takes cores


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--backend", "cpu", "--cores", "1"], "error: --cores 1 with cpu: expected it with threads or joblib\n"),
        (["--backend", "threads", "--cores", "4"], "error: --cores 4: found 3 cores for this process, expected 1 to 3"),
    ],
)
def test_cores_that_a_backend_does_not_have_are_one_line(drive, arguments, line):
    code, _, error = drive(*SMALL, *arguments)
    assert code == 2
    assert error.startswith(line) and error.count("\n") == 1


def test_a_comparison_hands_the_number_on_and_finds_its_records_by_it(tmp_path):
    configuration = Configuration("threads", "0", "Test CPU", kind="cores", cores=2, part="2 of 3 cores")
    command = Contest(named("qap"), None, SMALL, {}, (0,), 1, tmp_path / "r.jsonl").command(configuration)
    assert command[command.index("--cores") + 1] == "2"
    assert configuration.recorded == "2 of 3 cores"
