"""`python -m cluster check`: what it prints, writes and refuses, over ranks."""

import pytest

from cluster import launchers, measured

CHECK = ("-m", "cluster", "check", "--instance", "73-73", "--backend", "cpu")


@pytest.mark.parametrize(
    ("ranks", "more"),
    [pytest.param(3, (), marks=pytest.mark.slow), (2, ("--own-cores",))],
    ids=["three", "two on cores of their own"],
)
def test_ranks_are_measured_shown_and_written(ranks, more, mpirun, tmp_path):
    if more and launchers.cores() < 2:
        pytest.skip("one core here")
    file = tmp_path / "cluster.json"
    done = mpirun(ranks, *CHECK, *more, "--output", file)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{ranks} ranks on 1 host, ") and lines[-1] == f"wrote {file}"
    shown = [line.split()[0] for line in lines[1:] if line.startswith(("on one host", "2 ranks", "3 ranks"))]
    assert shown == ["on", "2", "3"][:ranks]
    found = measured.read(file)
    pairs = [(0, 1, True), (1, 2, True)]
    assert [(link.source, link.target, link.same_host) for link in found.links] == pairs[: ranks - 1]
    assert found.within_host.alpha_s < 0.1 and found.between_hosts is None
    assert {one.ranks for one in found.reductions} == {2, ranks} and {one.hosts for one in found.reductions} == {1}
    assert [one.rank for one in found.ranks] == [*range(ranks)] and found.hosts == 1
    first = found.ranks[0]
    assert (first.backend, first.cores, first.unit, first.kernel) == ("cpu", 1, "neighbours", "ppp 73-73 flip2")
    assert all(1e5 < one.rate_alone < 1e10 and one.rate < 2 * one.rate_alone for one in found.ranks)
    assert [one.clock_offset_s for one in found.ranks] == [0.0] * ranks
    assert set(first.versions) == {"python", "numpy", "mpi4py", "mpi", "sources"}
    assert found.mpi == first.versions["mpi"] and len(first.versions["sources"]) == 12


def test_a_rank_alone_is_told_how_to_start_several(mpirun):
    refused(mpirun(1, *CHECK), "error: found one rank, expected some to measure: `mpirun -n 4 python -m cluster check`")


@pytest.mark.slow
def test_too_few_cores_and_a_wrong_folder_are_told_before_anything_is_measured(mpirun):
    refused(mpirun(launchers.cores() + 1, *CHECK, "--own-cores"), "error: --own-cores: found")
    told = "cluster.json: cannot write there: there is no folder"
    refused(mpirun(2, *CHECK, "--output", "/nowhere/cluster.json"), told)


def refused(done, told):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count(told) == 1
