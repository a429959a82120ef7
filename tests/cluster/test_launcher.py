import pytest

from cluster import launcher

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
    """Set a launcher's variables, and no others."""

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
        ({f"{OMPI}RANK": "5", f"{OMPI}SIZE": "8", f"{OMPI}LOCAL_SIZE": "2"}, 5, 8, None, 2),
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "3"}, 3, 4, 3, 4),
        ({"PMIX_RANK": "2", "SLURM_LOCALID": "0"}, 2, None, 0, 1),
    ],
    ids=["none", "Open MPI", "Open MPI on several hosts", "Hydra", "Slurm with PMIx"],
)
def test_each_launcher_is_understood(variables, rank, size, local_rank, local_size, launched):
    launched(variables)
    assert launcher.launched() == bool(variables)
    assert (launcher.rank(), launcher.size(), launcher.local_rank()) == (rank, size, local_rank)
    assert launcher.local_size() == local_size


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
    ("variables", "several"),
    [
        ({}, False),
        ({f"{OMPI}SIZE": "4", f"{OMPI}LOCAL_SIZE": "4"}, False),
        ({f"{OMPI}SIZE": "4", f"{OMPI}LOCAL_SIZE": "2"}, True),
        ({"PMI_SIZE": "4"}, False),
    ],
    ids=["alone", "one host", "two hosts", "a launcher that does not tell"],
)
def test_several_hosts_are_those_that_the_launcher_tells_of(variables, several, launched):
    launched(variables)
    assert launcher.over_several_hosts() is several
