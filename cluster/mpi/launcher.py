"""Facts that an MPI launcher passes to a process in its environment, read before MPI is imported.

Open MPI sets `OMPI_*`, other PMIx launchers (Slurm's too) `PMIX_RANK`, MPICH's and Intel's Hydra `PMI_*`.
"""

import os

from core.atomic_files import read_text

RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
LOCAL_RANK = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
LOCAL_SIZE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
ENDS_ALL_RANKS = "PRTE_LAUNCHED"
"""Set by launchers that end all ranks as soon as one exits with a code: Open MPI's, from version 5 on."""

TASKS, TASK = "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"
"""Set by Slurm's `srun`, even without MPI support (`--mpi=none`)."""

LAUNCHERS = ("prterun", "mpirun", "prte")
"""Names of Open MPI's launcher as a process."""
DAEMON = "prted"
"""Name of the process that starts the ranks on each further host."""

SURVIVES = "OMPI_MCA_mpi_ft_enable"
"""Set to 1 by Open MPI's launcher if the other ranks continue when one is killed."""
VARIABLES = frozenset({*RANK, *SIZE, SURVIVES})
"""Variables set by launchers; each launcher sets at least one."""


def _first(names: tuple[str, ...]) -> int | None:
    """Return the first of these variables that holds a natural number."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdecimal()), None)


def survives_lost_ranks() -> bool:
    """Return True if the other ranks continue when one is killed: `mpirun --with-ft ulfm`."""
    return os.environ.get(SURVIVES, "") == "1"


def launched() -> bool:
    return _first(RANK + SIZE) is not None


def first_of_separate_tasks() -> int | None:
    """Count tasks that `srun` started without telling MPI, so that each works alone; None on others than the first."""
    tasks = _first((TASKS,))
    return tasks if tasks and tasks > 1 and not launched() and os.environ.get(TASK) == "0" else None


def rank() -> int:
    return _first(RANK) or 0


def size() -> int | None:
    """Return the number of ranks of the job; None if the launcher does not set it."""
    return _first(SIZE)


def local_rank() -> int | None:
    """Return the rank among those of this host, which selects its GPU; None if the launcher does not set it."""
    return _first(LOCAL_RANK)


def local_size() -> int:
    """Count the ranks of this host; by default those of the job, 1 without a launcher."""
    return _first(LOCAL_SIZE) or size() or 1


def parent_name() -> str:
    """Return the name of the parent process; empty if the system does not provide it."""
    return read_text(f"/proc/{os.getppid()}/comm")


def over_several_hosts() -> bool:
    """Return True if the job is known to have ranks on other hosts."""
    all_ranks, of_host = size(), _first(LOCAL_SIZE)
    return all_ranks is not None and of_host is not None and of_host < all_ranks
