"""Which command starts a job: numbers of ranks, hosts, slots, bindings, environment, and the batch system's launcher."""

import pytest

from cluster.host_file import Host
from cluster.launch_plan import Asked, planned
from cluster.launchers import Allocation, Surroundings
from core.errors import UserError

PPP = ("python", "-m", "drivers.ppp")
HERE = Surroundings(
    cores=8,
    gpus=0,
    mpirun="mpirun",
    mpirun_takes_allocation=False,
    srun=None,
    allocation=None,
    environment={"PATH": "/bin", "ONEKERNEL_CACHE": "/c", "TSPLIB_DIR": "/t", "HOME": "/root"},
    is_root=False,
)
TWO = [Host("a", 4, None, 1), Host("b", 4, 6, 2)]
ALLOCATED = HERE._replace(allocation=Allocation(2, 16, None), srun="srun")


def words(asked, started=PPP, here=HERE):
    """The command between the launcher and the program, and what is said."""
    command = planned(asked, started, here)
    assert command.words[-len(started) :] == list(started)
    return " ".join(command.words[: -len(started)]), command.notes


def on(hosts, ranks=None, **more):
    return Asked(ranks, "hosts", hosts, **more)


HANDED_ON = "-x ONEKERNEL_CACHE -x TSPLIB_DIR"
LOCAL = [Host("localhost", 2, None, 1)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Asked(None), "mpirun -n 8 --map-by slot --bind-to none"),
        (Asked(4), "mpirun -n 4 --map-by slot --bind-to none"),
        (Asked(4, survive=True), "mpirun -n 4 --map-by slot --bind-to none --with-ft ulfm"),
        (Asked(2, further=["--mca", "btl", "tcp,self"]), "mpirun -n 2 --map-by slot --bind-to none --mca btl tcp,self"),
        (Asked(2, further=["--bind-to", "core"]), "mpirun -n 2 --map-by slot --bind-to core"),
        (Asked(2, per_host=2, further=["--map-by", "numa"]), "mpirun -n 2 --bind-to none --map-by numa"),
        (on(TWO), f"mpirun -n 8 --hostfile hosts --map-by slot --bind-to none {HANDED_ON}"),
        (on(TWO, per_host=1), f"mpirun -n 2 --hostfile hosts --map-by ppr:1:node --bind-to none {HANDED_ON}"),
        (on(LOCAL), "mpirun -n 2 --hostfile hosts --map-by slot --bind-to none"),
        (
            on([Host("a", None, None, 1)], 99),
            f"mpirun -n 99 --hostfile hosts --map-by slot --bind-to none {HANDED_ON}",
        ),
    ],
)
def test_ranks_lie_as_they_are_asked_for(asked, expected):
    assert words(asked) == (expected, [])


def test_root_says_that_it_is_meant():
    found, _ = words(Asked(2), here=HERE._replace(is_root=True))
    assert found == "mpirun -n 2 --allow-run-as-root --map-by slot --bind-to none"


@pytest.mark.parametrize(
    ("asked", "cores", "expected"),
    [
        (Asked(None), ["--cores", "4"], "mpirun -n 2 --map-by slot:PE=4 --bind-to core"),
        (Asked(1), ["--cores=4"], "mpirun -n 1 --map-by slot:PE=4 --bind-to core"),
        (
            on([Host("localhost", 8, None, 1)]),
            ["--cores", "4"],
            "mpirun -n 2 --hostfile hosts --map-by ppr:2:node:PE=4 --bind-to core",
        ),
    ],
)
def test_a_rank_of_several_cores_is_bound_to_so_many(asked, cores, expected):
    said = ["each rank is bound to 4 cores (--cores)"]
    assert words(asked, (*PPP, "--backend", "threads", *cores)) == (expected, said)


@pytest.mark.parametrize(
    ("asked", "more", "expected", "told"),
    [
        (Asked(64), [], "mpirun -n 64 --map-by slot:OVERSUBSCRIBE --bind-to none", "64 ranks on 8 cores"),
        (
            on(LOCAL, 6),
            [],
            "mpirun -n 6 --hostfile hosts --map-by slot:OVERSUBSCRIBE --bind-to none",
            "6 ranks on 2 slots",
        ),
        (
            Asked(3),
            ["--cores", "4"],
            "mpirun -n 3 --map-by slot:OVERSUBSCRIBE --bind-to none",
            "3 ranks of 4 cores each on 8 cores",
        ),
    ],
)
def test_more_ranks_than_cores_or_slots_share_them_and_that_is_said(asked, more, expected, told):
    assert words(asked, (*PPP, *more)) == (expected, [f"oversubscribed: {told}, which they share unbound"])


def test_a_rank_for_every_gpu_unless_a_number_is_given():
    here = HERE._replace(gpus=2)
    assert words(Asked(None), here=here) == (
        "mpirun -n 2 --map-by ppr:2:node --bind-to none",
        ["a rank for each of 2 GPUs (-n says otherwise)"],
    )
    assert words(on(TWO), here=here)[0].startswith("mpirun -n 4 --hostfile hosts --map-by ppr:2:node ")
    assert words(Asked(4), here=here) == ("mpirun -n 4 --map-by slot --bind-to none", [])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (on(TWO, 9, per_host=4), "-n 9: found room for 8, expected --per-host 5 or more"),
        (on(TWO, per_host=7), "hosts:2: found max_slots=6 of b, expected at least 7 for so many ranks on each host"),
        (on(TWO[1:], 7), "-n 7: found max_slots of 6 in hosts, expected at most 6 ranks"),
    ],
)
def test_ranks_that_do_not_fit_are_refused(asked, told):
    with pytest.raises(UserError) as caught:
        planned(asked, PPP, HERE)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("asked", "here", "told"),
    [
        (Asked(2), HERE._replace(mpirun=None), "found no mpirun beside this Python or on the path"),
        (on(TWO), ALLOCATED, "--hosts hosts: found a Slurm allocation, whose hosts are taken"),
        (Asked(2, survive=True), ALLOCATED, "--survive: found srun"),
    ],
)
def test_what_contradicts_the_machine_or_an_allocation_is_refused(asked, here, told):
    with pytest.raises(UserError, match=told):
        planned(asked, PPP, here)


@pytest.mark.parametrize(
    ("asked", "more", "expected", "notes"),
    [
        (Asked(None), [], "srun --mpi=pmix --ntasks=16 --cpu-bind=none", []),
        (Asked(None, per_host=1), [], "srun --mpi=pmix --ntasks=2 --ntasks-per-node=1 --cpu-bind=none", []),
        (
            Asked(4),
            ["--cores", "4"],
            "srun --mpi=pmix --ntasks=4 --cpus-per-task=4 --cpu-bind=cores",
            ["each rank is bound to 4 cores (--cores)"],
        ),
        (
            Asked(32),
            [],
            "srun --mpi=pmix --ntasks=32 --cpu-bind=none --overcommit",
            ["oversubscribed: 32 ranks on 16 slots, which they share unbound"],
        ),
    ],
)
def test_an_allocation_takes_srun_where_mpirun_does_not_know_it(asked, more, expected, notes):
    assert words(asked, (*PPP, *more), ALLOCATED) == (expected, notes)


def test_an_allocation_takes_mpirun_where_that_knows_it():
    here = ALLOCATED._replace(mpirun_takes_allocation=True)
    assert words(Asked(None), here=here) == (f"mpirun -n 16 --map-by slot --bind-to none {HANDED_ON}", [])
    gpus = here._replace(allocation=Allocation(2, None, 4))
    assert words(Asked(None), here=gpus)[0].startswith("mpirun -n 8 --map-by ppr:4:node ")
