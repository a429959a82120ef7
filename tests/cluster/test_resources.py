"""Launchers: what their variables tell a rank, and what there is to start ranks with and on."""

import pytest

from cluster.launch.commands import crowded_words, find_mpirun, is_hydra
from cluster.launch.resources import SlurmAllocation, count_gpus, find_allocation, srun_with_pmix, takes_allocation
from cluster.mpi import launcher

ALL = (
    *launcher.RANK,
    *launcher.SIZE,
    *launcher.LOCAL_RANK,
    *launcher.LOCAL_SIZE,
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
)
OMPI = "OMPI_COMM_WORLD_"


@pytest.fixture
def launched(monkeypatch):
    def set_to(variables):
        for name in ALL:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_to


@pytest.mark.parametrize(
    ("variables", "rank", "size", "local_rank", "local_size"),
    [
        ({}, 0, None, None, 1),
        ({f"{OMPI}RANK": "5", f"{OMPI}SIZE": "8", f"{OMPI}LOCAL_RANK": "1"}, 5, 8, 1, 8),
        ({f"{OMPI}RANK": "3", f"{OMPI}SIZE": "4", f"{OMPI}LOCAL_SIZE": "4"}, 3, 4, None, 4),
        ({f"{OMPI}RANK": "5", f"{OMPI}SIZE": "8", f"{OMPI}LOCAL_SIZE": "2"}, 5, 8, None, 2),
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "3"}, 3, 4, 3, 4),
        ({"PMIX_RANK": "2", "SLURM_LOCALID": "0"}, 2, None, 0, 1),
    ],
    ids=["none", "Open MPI", "Open MPI on one host", "Open MPI on several hosts", "Hydra", "Slurm with PMIx"],
)
def test_each_launcher_is_understood(variables, rank, size, local_rank, local_size, launched):
    launched(variables)
    assert launcher.launched() == bool(variables)
    assert (launcher.rank(), launcher.size(), launcher.local_rank()) == (rank, size, local_rank)
    assert launcher.local_size() == local_size
    assert launcher.over_several_hosts() is (local_size == 2)


def test_slurm_alone_starts_no_mpi(launched):
    launched({"SLURM_LOCALID": "0", "SLURM_NTASKS": "4"})
    assert not launcher.launched()


@pytest.mark.parametrize(
    ("variables", "tasks"),
    [
        ({}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}, 4),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "4"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4", "PMIX_RANK": "0"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", f"{OMPI}RANK": "1"}, None),
    ],
    ids=["no Slurm", "a batch script", "one task", "four tasks", "another of them", "PMIx", "mpirun's daemons"],
)
def test_tasks_of_srun_that_mpi_knows_nothing_of_are_counted_once(variables, tasks, launched):
    launched(variables)
    assert launcher.first_of_separate_tasks() == tasks


@pytest.mark.parametrize(
    ("visible", "expected"), [(None, 2), ("", 0), ("-1", 0), ("1", 1), ("0,1", 2), ("0,1,2", 2), ("0,-1,1", 1)]
)
def test_gpus_are_counted_that_are_not_hidden(visible, expected, tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert count_gpus({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}, tmp_path) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"SLURM_JOB_ID": "7"}, SlurmAllocation(1, None, None)),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "3", "SLURM_NTASKS": "12"}, SlurmAllocation(3, 12, None)),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "4"}, SlurmAllocation(1, None, 4)),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_PER_NODE": "a100:8"}, SlurmAllocation(1, None, 8)),
    ],
)
def test_an_allocation_is_what_its_variables_say(environment, expected):
    assert find_allocation(environment) == expected


@pytest.fixture
def says(tmp_path, monkeypatch):
    def put(name, text):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        return str(path)

    return put


def test_srun_is_taken_if_it_speaks_pmix(says):
    path = says("srun", "MPI plugin types are...\n\tnone\n\tpmix\nspecific pmix plugin versions available: pmix_v4")
    assert srun_with_pmix() == path
    says("srun", "MPI plugin types are...\n\tnone\n\tpmi2\n\tcray_shasta")
    assert srun_with_pmix() is None


def test_mpirun_is_asked_whether_it_knows_allocations(says, tmp_path):
    launcher = says("mpirun", "mpirun (Open MPI) 5.0.11")
    says("prte_info", "                 MCA ras: pbs (MCA v2.1.0)\n                 MCA ras: slurm (MCA v2.1.0)")
    assert takes_allocation(launcher)
    says("prte_info", "                 MCA plm: slurm (MCA v2.1.0)")
    assert not takes_allocation(launcher)
    (tmp_path / "prte_info").unlink()
    assert not takes_allocation(launcher)


@pytest.mark.parametrize("version", ["HYDRA build details:", "Intel(R) MPI Library for Linux* OS, Version 2021.18.1"])
def test_a_site_with_mpich_or_intel_mpi_starts_ranks_by_its_hydra(version, says, monkeypatch):
    path = says("mpiexec.hydra", version)
    assert is_hydra(path) and takes_allocation(path)
    assert find_mpirun() != path
    monkeypatch.setenv("MPI4PY_MPIABI", "impi")
    assert find_mpirun() == path
    assert crowded_words(path, 3, True) == [path, "-n", "3"]
