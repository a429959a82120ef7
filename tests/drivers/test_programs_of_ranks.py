"""Programs over ranks: unlike command lines, fewer items than ranks, and many runs in one process."""

import json
import re
import sys
from pathlib import Path

import pytest

from backends.cpu_info import available_cores
from drivers.compare import main
from reports.records.files import load
from tests.drivers.test_compare_workloads import SMALL

OTHER = "program: found python -m drivers.ihc on rank 0 and python -m drivers.qap on rank 1"
IHC = ("-m", "drivers.ihc", "--instance", "uniform:20:seed=1", "--climbers", "20")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        pytest.param((*IHC, "--climbers", "40"), "--climbers: found 20 on rank 0 and 40 on rank 1", id="an option"),
        pytest.param((*IHC, "--help"), "--help: found not given on rank 0 and given on rank 1", marks=pytest.mark.slow),
        pytest.param(("-m", "drivers.qap"), OTHER, id="another driver", marks=pytest.mark.slow),
    ],
)
def test_ranks_that_were_not_started_alike_do_nothing(second, message, mpirun):
    done = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *second)
    assert (done.returncode, done.stdout) == (2, "")
    # mpirun's output may be on the same line.
    assert re.findall("error.*?expected the same|error|Traceback", done.stderr) == [
        f"error: {message}, expected the same"
    ]


@pytest.mark.slow
def test_ranks_may_work_on_unlike_devices(mpirun):
    alike = mpirun(1, *IHC)
    unlike = mpirun(1, *IHC, ":", "-n", "1", sys.executable, *IHC, "--backend", "threads", "--no-progress")
    assert (alike.returncode, unlike.returncode) == (0, 0), unlike.stderr
    for done in (alike, unlike):
        assert " confirmed by the scorer" in done.stdout
    alone, together = (re.findall("hash ([0-9a-f]{16})", done.stdout) for done in (alike, unlike))
    assert len(alone) == 1 and alone == together


@pytest.mark.skipif(available_cores() < 2, reason="a rank takes two cores")
@pytest.mark.usefixtures("mpirun")
def test_ranks_with_threads_do_the_work_of_one_core(tmp_path, capsys):
    """On four cores, which the machine may lack."""
    words = [*SMALL["ppp"].split(), "--backends", "cpu", "threads", "--rank-backend", "threads", "--cores", "2"]
    words += ["--ranks", "2", "--oversubscribe", "--no-peers", "--repeats", "1", "--out", str(tmp_path)]
    code = main(["ppp", *words])
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    records = load(tmp_path / "compare-ppp.jsonl")
    ran = [(record.backend, record.ranks, record.details.get("cores_per_rank")) for record in records]
    assert ran == [("cpu", 1, None), ("threads", 1, 2), ("threads", 2, 2)]
    assert len({record.hash for record in records}) == 1
    assert all(record.verified for record in records)


@pytest.mark.slow
@pytest.mark.skipif(available_cores() < 2, reason="each rank takes a core")
def test_ranks_on_separate_cores_are_recorded_with_them(mpirun, tmp_path):
    path = tmp_path / "runs.jsonl"
    done = mpirun(2, "-m", "drivers.ppp", *SMALL["ppp"].split(), "--backend", "cpu", "--pin-cores", "--record", path)
    assert done.returncode == 0, done.stderr
    (record,) = load(path)
    assert record.execution["pin_cores"]
    assert len(set(record.details["rank_cores"])) == 2


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.slow, id="plain"),
        pytest.param(("--with-ft", "ulfm"), marks=pytest.mark.long, id="ulfm"),
    ],
)
def test_runs_in_one_process_hold_no_more_than_the_first_and_give_all_back(options, mpirun):
    done = mpirun(2, Path(__file__).with_name("many_runs.py"), options=options)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    ends = [line for line in lines if "begin" in line]
    runs = [line for line in lines if "begin" not in line]
    assert len(ends) == len(runs) == 2
    for of_rank in runs:
        for name, results in of_rank.items():
            assert len(set(results["hashes"])) == 1, name
            assert results["after"] == results["before"], name
    assert [end["end"] for end in ends] == [end["begin"] for end in ends]
