"""Launch commands: ranks, hosts, slots, bindings, environment, and the batch system's launcher."""

import pytest

from cluster.launch.host_file import Host
from cluster.launch.plan import LaunchRequest, plan_launch
from cluster.launch.resources import LaunchResources, SlurmAllocation
from core.errors import UserError

PPP = ("python", "-m", "drivers.ppp")
HERE = LaunchResources(
    cores=8,
    gpus=0,
    mpirun="mpirun",
    srun=None,
    allocation=None,
    environment={"PATH": "/bin", "ONEKERNEL_CACHE": "/c", "TSPLIB_DIR": "/t", "HOME": "/root"},
    is_root=False,
)
UNKNOWN = [Host("a", None, None, 1)]
TWO = [Host("a", 4, None, 1), Host("b", 4, 6, 2)]
ALLOCATED = HERE._replace(allocation=SlurmAllocation(2, 16, None), srun="srun")


def words(asked, started=PPP, resources=HERE):
    """The command between the launcher and the program, and the message."""
    command = plan_launch(asked, started, resources)
    assert command.words[-len(started) :] == list(started)
    return " ".join(command.words[: -len(started)]), command.notes


def on(hosts, ranks=None, **more):
    return LaunchRequest(ranks, "hosts", hosts, **more)


CROWDED = "--map-by slot:OVERSUBSCRIBE --bind-to none"
FORWARDED = "-x ONEKERNEL_CACHE -x TSPLIB_DIR"
LOCAL = on([Host("localhost", 8, None, 1)])
GPUS = HERE._replace(gpus=2)
KNOWN = ALLOCATED._replace(srun=None)
FOUR = ("--backend", "threads", "--cores", "4")
BOUND = "each rank is bound to 4 cores (--cores)"
SHARED = "which they share unbound"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (LaunchRequest(None), "mpirun -n 8 --map-by slot --bind-to none"),
        (LaunchRequest(4), "mpirun -n 4 --map-by slot --bind-to none"),
        (LaunchRequest(4, fault_tolerant=True), "mpirun -n 4 --map-by slot --bind-to none --with-ft ulfm"),
        (
            LaunchRequest(2, further=["--mca", "btl", "tcp,self"]),
            "mpirun -n 2 --map-by slot --bind-to none --mca btl tcp,self",
        ),
        (LaunchRequest(2, further=["--bind-to", "core"]), "mpirun -n 2 --map-by slot --bind-to core"),
        (on(TWO), f"mpirun -n 8 --hostfile hosts --map-by slot --bind-to none {FORWARDED}"),
        (on(TWO, per_host=1), f"mpirun -n 2 --hostfile hosts --map-by ppr:1:node --bind-to none {FORWARDED}"),
        (LOCAL, "mpirun -n 8 --hostfile hosts --map-by slot --bind-to none"),
        (on(UNKNOWN, 99), f"mpirun -n 99 --hostfile hosts --map-by slot --bind-to none {FORWARDED}"),
    ],
)
def test_ranks_lie_as_they_are_asked_for(asked, expected):
    assert words(asked) == (expected, [])


@pytest.mark.parametrize(
    ("asked", "expected", "note"),
    [
        (LaunchRequest(None), "mpirun -n 2 --map-by slot:PE=4 --bind-to core", BOUND),
        (LOCAL, "mpirun -n 2 --hostfile hosts --map-by ppr:2:node:PE=4 --bind-to core", BOUND),
        (LaunchRequest(3), f"mpirun -n 3 {CROWDED}", f"oversubscribed: 3 ranks of 4 cores each on 8 cores, {SHARED}"),
    ],
)
def test_a_rank_of_several_cores_is_bound_to_so_many(asked, expected, note):
    assert words(asked, (*PPP, *FOUR)) == (expected, [note])
    assert words(asked, (*PPP, "--cores=4")) == (expected, [note])


@pytest.mark.parametrize(
    ("asked", "resources", "expected", "notes"),
    [
        (LaunchRequest(2), HERE._replace(is_root=True), "-n 2 --allow-run-as-root --map-by slot --bind-to none", []),
        (LaunchRequest(64), HERE, f"-n 64 {CROWDED}", [f"oversubscribed: 64 ranks on 8 cores, {SHARED}"]),
        (
            LaunchRequest(None),
            GPUS,
            "-n 2 --map-by ppr:2:node --bind-to none",
            ["a rank for each of 2 GPUs (-n says otherwise)"],
        ),
        (LaunchRequest(4), GPUS, "-n 4 --map-by slot --bind-to none", []),
        (LaunchRequest(None), KNOWN, f"-n 16 --map-by slot --bind-to none {FORWARDED}", []),
    ],
    ids=["root", "too few cores", "GPUs", "fewer than GPUs", "an allocation"],
)
def test_the_machine_or_an_allocation_says_how_many_and_where(asked, resources, expected, notes):
    assert words(asked, resources=resources) == (f"mpirun {expected}", notes)


def test_every_gpu_of_every_host_has_a_rank():
    assert words(on(TWO), resources=GPUS)[0].startswith("mpirun -n 4 --hostfile hosts --map-by ppr:2:node ")
    allocated = KNOWN._replace(allocation=SlurmAllocation(2, None, 4))
    assert words(LaunchRequest(None), resources=allocated)[0].startswith("mpirun -n 8 --map-by ppr:4:node ")


@pytest.mark.parametrize(
    ("asked", "more", "expected", "notes"),
    [
        (LaunchRequest(None), (), "--ntasks=16 --cpu-bind=none", []),
        (LaunchRequest(None, per_host=1), (), "--ntasks=2 --ntasks-per-node=1 --cpu-bind=none", []),
        (LaunchRequest(4), FOUR, "--ntasks=4 --cpus-per-task=4 --cpu-bind=cores", [BOUND]),
        (
            LaunchRequest(32),
            (),
            "--ntasks=32 --cpu-bind=none --overcommit",
            [f"oversubscribed: 32 ranks on 16 slots, {SHARED}"],
        ),
    ],
)
def test_an_allocation_takes_srun_where_mpirun_does_not_know_it(asked, more, expected, notes):
    assert words(asked, (*PPP, *more), ALLOCATED) == (f"srun --mpi=pmix {expected}", notes)


HYDRA = HERE._replace(mpirun="mpiexec", is_hydra=True, is_root=True)
UNBOUND = "-bind-to none -genv I_MPI_PIN 0"


@pytest.mark.parametrize(
    ("asked", "more", "resources", "expected"),
    [
        (LaunchRequest(64), (), HYDRA, f"-n 64 {UNBOUND}"),
        (LaunchRequest(None), FOUR, HYDRA, "-n 2 -bind-to core:4 -genv I_MPI_PIN_DOMAIN 4"),
        (LaunchRequest(2, further=["-bind-to", "socket"]), (), HYDRA, "-n 2 -bind-to socket"),
        (on(TWO), (), HYDRA, f"-n 8 -hosts a:4,b:4 {UNBOUND}"),
        (on(TWO, per_host=1), (), HYDRA, f"-n 2 -hosts a,b -ppn 1 {UNBOUND}"),
        (LaunchRequest(None), (), KNOWN._replace(mpirun="mpiexec", is_hydra=True), f"-n 16 {UNBOUND}"),
    ],
)
def test_mpich_and_intel_mpi_get_options_of_hydra(asked, more, resources, expected):
    assert words(asked, (*PPP, *more), resources)[0] == f"mpiexec {expected}"


@pytest.mark.parametrize(
    ("asked", "resources", "message"),
    [
        (on(TWO, 9, per_host=4), HERE, "-n 9: found room for 8, expected --per-host 5 or more"),
        (on(TWO, per_host=7), HERE, "hosts:2: found max_slots=6 of b, expected at least 7 for the ranks on each"),
        (on(TWO[1:], 7), HERE, "-n 7: found max_slots of 6 in hosts, expected at most 6 ranks"),
        (LaunchRequest(2), HERE._replace(mpirun=None), "found no mpirun beside this Python or on the path"),
        (on(TWO), ALLOCATED, "--hosts hosts: found a Slurm allocation, which names the hosts"),
        (LaunchRequest(2, fault_tolerant=True), ALLOCATED, "--fault-tolerant: found srun"),
        (LaunchRequest(2, fault_tolerant=True), HYDRA, "--fault-tolerant: found Hydra"),
    ],
)
def test_ranks_that_do_not_fit_and_what_contradicts_an_allocation_are_refused(asked, resources, message):
    with pytest.raises(UserError, match=f"^{message}"):
        plan_launch(asked, PPP, resources)
