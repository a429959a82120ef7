"""Devices, numbers of ranks and cores of a comparison, reasons for exclusions, and cores in the records."""

import pytest

from core.errors import UserError
from drivers import qap
from drivers.experiments.configurations import plan_configurations
from reports.papers.placement import processors
from reports.records.files import load, merge
from tests.drivers.made_up_runs import device, processor


def test_without_a_usable_backend_there_is_nothing_to_run():
    with pytest.raises(UserError, match="no backend is usable"):
        plan_configurations([device("cuda", usable=False, reason="no driver")], None, [])


def test_joblib_is_compared_by_default_and_the_reference_interpreter_is_not():
    names = ["cpu", "threads", "joblib", "python"]
    chosen, not_run = plan_configurations(
        [device(name, same_as="threads" * (name == "joblib")) for name in names], None, []
    )
    assert [one.backend for one in chosen] == names[:3] and not_run == []


def test_ranks_run_on_the_backend_that_is_named_for_them(monkeypatch):
    monkeypatch.setattr("drivers.experiments.configurations.mpi_obstacle", lambda: None)
    chosen, _ = plan_configurations([device("cpu"), device("threads")], ["cpu"], [2], "threads")
    assert [(one.backend, one.ranks, one.kind) for one in chosen] == [("cpu", 1, "core"), ("threads", 2, "cores")]


def test_without_mpi_the_ranks_are_listed_with_what_installs_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    chosen, not_run = plan_configurations([device("cpu")], None, [2, 4])
    assert [configuration.ranks for configuration in chosen] == [1]
    assert [missing.ranks for missing in not_run] == [2, 4]
    assert "pip install 'onekernel[mpi]'" in not_run[0].reason


def test_a_backend_of_all_cores_runs_with_each_number_of_cores_and_others_once():
    devices = [processor(name) for name in ("cpu", "threads", "cuda")]
    chosen, _ = plan_configurations(devices, None, [], None, [4, 1, 4])
    recorded = [(one.backend, one.cores, one.recorded) for one in chosen]
    assert recorded[:2] == [("cpu", None, "0"), ("threads", 1, "1 of 4 cores")]
    assert recorded[2:] == [("threads", 4, "4 of 4 cores"), ("cuda", None, "0")]
    assert str(chosen[1]) == "threads (device 0: stub device, 1 of 4 cores)"


DRIVER = qap
SMALL = ("--instance", "taillard:9:seeds=1,2", "--iterations", "20", "--walks", "4", "--no-progress")


@pytest.fixture
def three_cores(monkeypatch):
    monkeypatch.setattr("backends.cpu_info.available_cores", lambda: 3)
    monkeypatch.setattr("reports.records.environment.cores", lambda: 3)


def test_runs_with_other_numbers_of_cores_are_other_runs_of_equal_work(drive, tmp_path, three_cores):
    path = tmp_path / "r.jsonl"
    for cores in ([], ["--cores", "1"], ["--cores", "2"]):
        code, _, _ = drive(*SMALL, "--backend", "threads", *cores, "--record", path)
        assert code == 0
    runs = merge(load(path))
    assert [run.device for run in runs] == ["0", "1 of 3 cores", "2 of 3 cores"]
    assert [run.details.get("cores_per_rank") for run in runs] == [None, 1, 2]
    assert len({run.identity for run in runs}) == 3
    assert len({run.hash for run in runs}) == 1
    assert [processors(run) for run in runs[1:]] == ["cores:1", "cores:2"]
    assert runs[2].details["device_name"].endswith(", 2 of 3 cores")
    assert "2 of 3 cores" in drive(*SMALL, "--cores", "2")[1]  # auto takes cores
