"""Every workload compared as users do, with everything real: one core, all cores, and two ranks."""

import subprocess
import sys

import pytest

from drivers.compare import main
from drivers.workload.registry import ORDER
from reports.records.files import load
from tests.conftest import ROOT

SMALL = {
    "ihc": "--instance uniform:30:seed=1 --climbers 32",
    "aco": "--instance uniform:20:seed=1 --ants 8 --iterations 5",
    "qap": "--instance taillard:12:seeds=1,2 --walks 4 --iterations 50",
    "ppp": "--instance 15-17:seed=1 --walks 4 --iterations 20",
    "tsp": "--instance uniform:20:seed=1 --walks 4 --iterations 20",
    "weierstrass": "--instance 5 --points 200 --iterations 5",
    "exact": "--instance uniform:9:seed=1 --bound edges",
    "heldkarp": "--instance uniform:10:seed=1",
    "lcs": "--instance random:500",
    "knapsack": "--items 20 --capacity 500",
}
PLACES = ["--backends", "cpu", "threads", "--ranks", "2", "--oversubscribe"]


def test_all_workloads_are_compared_here():
    assert {*SMALL} == {*ORDER}


@pytest.mark.slow
@pytest.mark.usefixtures("mpirun")
@pytest.mark.parametrize("name", SMALL)
def test_a_workload_is_compared_by_one_command(name, tmp_path, capsys):
    code = main([name, *SMALL[name].split(), *PLACES, "--repeats", "1", "--out", str(tmp_path)])
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    runs = load(tmp_path / f"compare-{name}.jsonl")
    records = runs[:3]  # behind them is the best one-core algorithm, where there is one
    assert [(record.backend, record.ranks) for record in records] == [("cpu", 1), ("threads", 1), ("cpu", 2)]
    assert len({record.hash for record in records}) == 1
    assert all(run.verified for run in runs)
    report = (tmp_path / f"compare-{name}.md").read_text()
    assert f"proved equal: hash {records[0].hash}" in report
    assert f"[{len(runs)}/{len(runs)}]" in said.out


def test_output_is_there_as_it_is_made(tmp_path, environment):
    """Without a terminal the running case's line is readable."""
    work = ["--instance", "uniform:8:seed=1", "--climbers", "4", "--repeats", "1000000"]
    places = ["--backends", "python", "--ranks", "--out", str(tmp_path)]
    command = [sys.executable, "-m", "drivers.compare", "ihc", *work, *places]
    with subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            read = iter(lambda: process.stdout.read(1), "")
            shown = ""
            while not shown.endswith(" ...\n"):
                shown += next(read)
        finally:
            process.kill()
    assert "[1/1] ihc, uniform:8" in shown


@pytest.mark.slow
def test_histories_are_recorded_on_request(tmp_path, capsys):
    asked = ["qap", *SMALL["qap"].split(), "--seeds", "0..1", "--repeats", "1", "--out", str(tmp_path)]
    asked += ["--backends", "cpu", "--ranks", "--no-peers"]
    assert main(asked) == 0
    capsys.readouterr()
    assert main([*asked, "--exchange", "0"]) == 1
    assert "recorded already with other options of the same meaning" in capsys.readouterr().out
    assert main([*asked, "--history"]) == 0
    assert "recorded without --history; --rerun runs again with it" in capsys.readouterr().err
    assert main([*asked, "--history", "--rerun"]) == 0
    records = load(tmp_path / "compare-qap.jsonl")
    assert all(record.repetitions[0].history[-1][3] == record.best_cost for record in records)
