"""What there is to start ranks with and on: cores, GPUs, the batch system's allocation and launchers."""

import pytest

from cluster.launchers import Allocation, allocated, gpus, srun_with_pmix, takes_allocation


@pytest.mark.parametrize(
    ("visible", "expected"), [(None, 2), ("", 0), ("-1", 0), ("1", 1), ("0,1", 2), ("0,1,2", 2), ("0,-1,1", 1)]
)
def test_gpus_are_counted_that_are_not_hidden(visible, expected, tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert gpus({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}, tmp_path) == expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"SLURM_JOB_ID": "7"}, Allocation(1, None, None)),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "3", "SLURM_NTASKS": "12"}, Allocation(3, 12, None)),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "4"}, Allocation(1, None, 4)),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_PER_NODE": "a100:8"}, Allocation(1, None, 8)),
    ],
)
def test_an_allocation_is_what_its_variables_say(environment, expected):
    assert allocated(environment) == expected


@pytest.fixture
def says(tmp_path, monkeypatch):
    """Put a program on the path that prints this."""

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
    says("prte_info", "                 MCA ras: pbs (MCA v2.1.0)\n                 MCA ras: slurm (MCA v2.1.0)")
    assert takes_allocation(str(tmp_path / "mpirun"))
    says("prte_info", "                 MCA plm: slurm (MCA v2.1.0)")
    assert not takes_allocation(str(tmp_path / "mpirun"))
    assert not takes_allocation("/nowhere/mpirun")
