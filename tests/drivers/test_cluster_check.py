"""`python -m cluster check`: what it prints, writes and refuses, over ranks."""

import pytest

from cluster import launchers, measured

CHECK = ("-m", "cluster", "check", "--instance", "73-73", "--backend", "cpu")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("measured") / "cluster.json"


def test_three_ranks_are_measured_shown_and_written(mpirun, file):
    done = mpirun(3, *CHECK, "--output", file)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("3 ranks on 1 host, ") and lines[-1] == f"wrote {file}"
    assert [line.split()[0] for line in lines[1:] if line.startswith(("on one host", "2 ranks", "3 ranks"))] == [
        *("on", "2", "3")
    ]
    found = measured.read(file)
    assert [(link.source, link.target, link.same_host) for link in found.links] == [(0, 1, True), (1, 2, True)]
    assert found.within_host.alpha_s < 0.1 and found.between_hosts is None
    assert {one.ranks for one in found.reductions} == {2, 3} and {one.hosts for one in found.reductions} == {1}
    assert [one.rank for one in found.ranks] == [0, 1, 2] and found.hosts == 1
    first = found.ranks[0]
    assert (first.backend, first.cores, first.unit, first.kernel) == ("cpu", 1, "neighbours", "ppp 73-73 flip2")
    assert all(1e5 < one.rate_alone < 1e10 and one.rate < 2 * one.rate_alone for one in found.ranks)
    assert [one.clock_offset_s for one in found.ranks] == [0.0] * 3
    assert set(first.versions) == {"python", "numpy", "mpi4py", "mpi", "sources"}
    assert found.mpi == first.versions["mpi"] and len(first.versions["sources"]) == 12


@pytest.mark.skipif(launchers.cores() < 2, reason="one core here")
def test_ranks_are_measured_on_cores_of_their_own_where_asked(mpirun, tmp_path):
    done = mpirun(2, *CHECK, "--own-cores", "--output", tmp_path / "cluster.json")
    assert done.returncode == 0, done.stderr
    assert [one.cores for one in measured.read(tmp_path / "cluster.json").ranks] == [1, 1]
    crowded = mpirun(launchers.cores() + 1, *CHECK, "--own-cores")
    assert crowded.returncode == 2 and crowded.stderr.count("error: --own-cores: found") == 1


def test_a_rank_alone_says_how_to_start_it(mpirun):
    done = mpirun(1, *CHECK)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: found one rank, expected some to measure: `mpirun -n 4 python -m cluster check`"
    )


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(mpirun, tmp_path):
    done = mpirun(2, *CHECK, "--output", tmp_path / "missing" / "cluster.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cluster.json: cannot write there: there is no folder" in done.stderr
