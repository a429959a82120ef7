"""The overview of all workloads, with a stub in the drivers' place, and once with two real ones."""

from dataclasses import replace

import pytest

from core.errors import UserError
from drivers.overview import main
from drivers.peers.knapsacks import ORTOOLS
from drivers.workload.registry import NAMES, get_workload
from reports.records.files import load
from tests.drivers.made_up_runs import device, made_up_suite

LCS = [("lcs", "cpu", 1), ("lcs", "threads", 1), ("lcs", "cpu", 1)]
IHC = [("ihc", "cpu", 1), ("ihc", "threads", 1), ("ihc", "cpu", 1), ("tsp", "cpu", 1)]
"""Runs of a workload, and of the best one-core algorithm if it is another."""


@pytest.fixture
def overview(tmp_path, undrawn, monkeypatch):
    """Make an overview of `ihc` and `lcs` in a separate folder; return exit code and commands."""

    monkeypatch.setattr("drivers.experiments.presets.overview.wait_until_idle", lambda: None)

    def run(*arguments, backends=("cpu", "threads")):
        started = []
        devices = [device(name, usable=name != "opencl", reason="no platform") for name in backends]
        fixed = ["--workloads", "ihc", "lcs", "--ranks", "--out", str(tmp_path)]
        with made_up_suite(*devices, started=started):
            code = main([*fixed, *arguments])
        where = [(one.workload.name, one.configuration) for one in started]
        return code, [(name, one.backend, one.ranks) for name, one in where]

    return run


def test_every_workload_runs_on_every_device_and_is_shown(overview, tmp_path, capsys):
    code, started = overview(backends=("threads", "cpu", "opencl", "python"))
    assert code == 0
    assert started == [*IHC, *LCS]
    printed, report = capsys.readouterr().out, (tmp_path / "overview.md").read_text()
    made_by = f"onekernel overview --workloads ihc lcs --ranks --out {tmp_path}"
    assert f"```\n{made_by}\n```" in report and f"made by: {made_by}" in printed
    assert "[1/6] ihc, " in printed and "[7/7] lcs, " in printed and " s left)" in printed
    for text in (printed, report):
        assert "0.500 runs/s" in text.replace("\xa0", " ") and "2.00" in text
        assert "opencl (device 0): no platform" in text
    assert "| iterated 3-opt, 2.0 s |" in report
    assert {"overview.md", "overview.svg", "overview.jsonl"} <= {one.name for one in tmp_path.iterdir()}
    (climbers,) = {one.parameters["climbers"] for one in load(tmp_path / "overview.jsonl") if one.workload == "ihc"}
    assert climbers == int(get_workload("ihc").standard[1])


def test_an_overview_goes_on_where_it_stopped(overview, tmp_path):
    overview("--workloads", "ihc")
    assert overview()[1] == LCS
    assert overview() == (0, [])
    assert overview("--rerun")[1] == [*IHC, *LCS]
    assert (tmp_path / "overview.previous.jsonl").exists()


def test_devices_that_fail_have_no_value_and_the_rest_is_shown(overview, tmp_path, capsys):
    assert overview(backends=("cpu", "joblib", "unscored", "threads"))[0] == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "ihc on joblib (device 0): failed with exit code 1: error: no shared memory" in said
    assert "lcs on unscored (device 0): the NumPy scorer did not confirm its best cost" in said
    assert "| 0.500 runs/s | 1.00 | 2.00 |" in (tmp_path / "overview.md").read_text()


def test_unequal_work_is_an_error_and_not_shown(overview, tmp_path, capsys):
    assert overview(backends=("cpu", "wrong"))[0] == 1
    said = capsys.readouterr().err
    assert "error: ihc: " in said and "error: lcs: " in said and "unequal work" in said
    assert not (tmp_path / "overview.md").exists()


def test_nothing_that_runs_is_an_error_and_no_report(overview, tmp_path, capsys):
    (tmp_path / "overview.md").write_text("an earlier overview")
    code, started = overview("--workloads", "lcs", backends=("joblib", "broken"))
    assert (code, started) == (1, [("lcs", "joblib", 1), ("lcs", "broken", 1)])  # the first device is not tried twice
    assert "no workload has a run to show" in capsys.readouterr().err
    assert not (tmp_path / "overview.md").exists()


def test_an_instance_that_cannot_be_loaded_costs_its_workload_alone(overview, monkeypatch, capsys):
    from drivers import lcs

    def missing(self, options, ranks):
        raise UserError("random:150000: no such instance")

    monkeypatch.setattr(type(lcs.LCS), "load", missing)
    code, started = overview("--workloads", "lcs", "ihc")
    assert code == 1
    assert started == IHC
    out, err = capsys.readouterr()
    assert "[4/4] tsp, " in out and "lcs: random:150000: no such instance" in out
    assert "error: lcs: random:150000" in err


def test_without_a_choice_every_workload_is_shown(tmp_path, capsys, monkeypatch):
    """With the reference solvers that are installed."""
    monkeypatch.setattr(
        "drivers.experiments.presets.overview.installed_peers", lambda peers: [ORTOOLS] * (ORTOOLS in peers)
    )
    started = []
    with made_up_suite(device("cpu"), started=started, command=lambda case: ["false"]):
        assert main(["--ranks", "--busy", "--out", str(tmp_path)]) == 1
    assert tuple(one.workload.name for one in started) == NAMES
    first = [one.workload.name for one in started if one.runs_peers and not replace(one, turns=2).runs_peers]
    assert first == ["knapsack"]
    assert f"/{len(NAMES)}] " in capsys.readouterr().out
    assert main(["--backends", "cpu", "--dry-run", "--ranks", "--out", str(tmp_path / "new")]) == 0
    commands = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert [line.split()[2] for line in commands] == [f"drivers.{name}" for name in NAMES]
    assert not (tmp_path / "new").exists()
