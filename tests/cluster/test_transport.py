"""The transport that a rank chooses on its host, and what a job says about it."""

import os

import pytest

from cluster.launch.job import main
from cluster.mpi import transport


@pytest.fixture
def adapters(monkeypatch, tmp_path):
    monkeypatch.setattr(transport, "FABRICS", (tmp_path / "infiniband", tmp_path / "cxi"))
    for name in (*transport.WITHOUT_FABRIC, *transport.QUIET):
        # Restored after the test, which sets it.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    (tmp_path / "infiniband").mkdir()
    return tmp_path / "infiniband"


def test_without_a_fast_network_a_rank_looks_for_none_unless_the_user_names_a_transport(adapters, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")
    transport.choose()
    chosen = {name: os.environ[name] for name in transport.WITHOUT_FABRIC}
    assert chosen == {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_osc": "^ucx"}


def test_with_a_fast_network_mpi_chooses_and_ucx_prints_only_errors(adapters):
    (adapters / "mlx5_0").touch()
    transport.choose()
    assert os.environ["UCX_LOG_LEVEL"] == "error"
    assert not set(transport.WITHOUT_FABRIC) & set(os.environ)


def test_a_job_on_several_hosts_says_which_transport_it_uses(adapters, called, mpirun, tmp_path, monkeypatch):
    (tmp_path / "hosts").write_text("a slots=1\nb slots=1\n")
    several = ("--hosts", tmp_path / "hosts", "--dry-run", "ppp")
    assert "note: no network adapter in " in called(main, *several)[2]
    (adapters / "mlx5_0").touch()
    assert called(main, *several)[2] == (
        "note: found the network adapter mlx5_0: MPI chooses the transport between hosts\n"
    )
    assert called(main, "-n", 1, "--dry-run", "ppp")[2] == ""
    monkeypatch.setattr("cluster.launch.resources.is_hydra", lambda launcher: True)
    assert "note: MPI chooses the transport; I_MPI_DEBUG=2" in called(main, *several)[2]


def test_the_transport_of_a_rank_is_shared_memory_or_tcp_if_there_is_no_fast_network(mpirun):
    if transport.find_adapter():
        pytest.skip("this machine has a fast network")
    program = "from cluster import default_communicator as make; import os; make(); print(os.environ['OMPI_MCA_pml'])"
    done = mpirun(2, "-c", program)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["ob1", "ob1"], "")
