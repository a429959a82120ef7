import pytest

from cluster import launcher


@pytest.fixture(autouse=True)
def without_launcher(monkeypatch):
    for name in launcher.RANK + launcher.SIZE + launcher.LOCAL_RANK + launcher.LOCAL_SIZE:
        monkeypatch.delenv(name, raising=False)


def test_a_plain_process_was_not_launched():
    assert not launcher.launched()
    assert (launcher.rank(), launcher.size(), launcher.local_rank()) == (0, None, None)
    assert launcher.local_size() == 1


@pytest.mark.parametrize(
    ("variables", "rank", "size", "local_rank"),
    [
        (
            {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_RANK": "1"},
            5,
            8,
            1,
        ),
        ({"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "3"}, 3, 4, 3),
        ({"PMIX_RANK": "2", "SLURM_LOCALID": "0"}, 2, None, 0),
    ],
    ids=["Open MPI", "Hydra", "Slurm with PMIx"],
)
def test_each_launcher_is_understood(variables, rank, size, local_rank, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert launcher.launched()
    assert (launcher.rank(), launcher.size(), launcher.local_rank()) == (rank, size, local_rank)


def test_the_ranks_of_a_host_are_those_of_the_job_where_nobody_says_otherwise(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "8")
    assert launcher.local_size() == 8
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2")
    assert launcher.local_size() == 2


def test_slurm_alone_starts_no_mpi(monkeypatch):
    monkeypatch.setenv("SLURM_LOCALID", "0")
    monkeypatch.setenv("SLURM_NTASKS", "4")
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
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_RANK": "1"}, None),
    ],
    ids=["no Slurm", "a batch script", "one task", "four tasks", "another of them", "PMIx", "mpirun's daemons"],
)
def test_tasks_of_srun_that_mpi_knows_nothing_of_are_counted_once(variables, tasks, monkeypatch):
    for name in ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert launcher.first_of_separate_tasks() == tasks


@pytest.mark.parametrize(
    ("words", "several"),
    [
        ({}, False),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, False),
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, True),
        ({"PMI_SIZE": "4"}, False),
    ],
    ids=["alone", "one host", "two hosts", "a launcher that does not tell"],
)
def test_several_hosts_are_those_that_the_launcher_tells_of(words, several, monkeypatch):
    for name, value in words.items():
        monkeypatch.setenv(name, value)
    assert launcher.over_several_hosts() is several
