"""`python -m cluster check`: what it prints, writes and refuses, over ranks."""

import json

import pytest

from cluster.launch import resources

OPTIONS = ("--instance", "73-73", "--backend", "cpu")
CHECK = ("-m", "cluster", "check", *OPTIONS)
SHORT = """
from cluster.measure import compute_rates, reductions
from drivers.cluster_programs import check
compute_rates.BUDGET_S = reductions.BUDGET_S = 0.01
check.TOGETHER_S = check.MOST_ALONE_S = 0.1
check.main()
"""


def test_two_ranks_are_measured_shown_and_written(mpirun, tmp_path):
    """On separate cores if there are two."""
    file = tmp_path / "cluster.json"
    done = mpirun(2, "-c", SHORT, *OPTIONS, *(["--pin-cores"] * (resources.count_cores() > 1)), "--output", file)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("2 ranks on 1 host, ") and lines[-1] == f"wrote {file}"
    assert [line.split()[0] for line in lines[1:] if line.startswith(("on one host", "2 ranks"))] == ["on", "2"]
    measured = json.loads(file.read_text())
    assert [(link["source"], link["target"], link["same_host"]) for link in measured["links"]] == [(0, 1, True)]
    assert measured["links"][0]["alpha_s"] < 0.1
    assert {(reduction["ranks"], reduction["hosts"]) for reduction in measured["reductions"]} == {(2, 1)}
    assert [rank["rank"] for rank in measured["ranks"]] == [0, 1]
    first = measured["ranks"][0]
    shown = [first[name] for name in ("backend", "cores", "unit", "kernel")]
    assert shown == ["cpu", 1, "neighbours", "ppp 73-73 flip2"]
    assert all(1e3 < rank[name] < 1e10 for rank in measured["ranks"] for name in ("rate_alone", "rate"))
    assert [rank["clock_offset_s"] for rank in measured["ranks"]] == [0.0, 0.0]
    assert set(first["versions"]) == {"python", "numpy", "mpi4py", "mpi", "sources"}
    assert measured["mpi"] == first["versions"]["mpi"] and len(first["versions"]["sources"]) == 12


def test_a_rank_alone_is_told_how_to_start_several(mpirun):
    refused(mpirun(1, *CHECK), "error: found one rank, expected several: `mpirun -n 4 python -m cluster check`")


@pytest.mark.slow
def test_too_few_cores_and_a_wrong_folder_are_told_before_anything_is_measured(mpirun):
    refused(mpirun(resources.count_cores() + 1, *CHECK, "--pin-cores"), "error: --pin-cores: found")
    message = "cluster.json: cannot write there: there is no folder"
    refused(mpirun(2, *CHECK, "--output", "/nowhere/cluster.json"), message)


def refused(done, message):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count(message) == 1
