"""Iterative hill climbing: one trajectory everywhere, by both mappings, equal to plain climbs."""

from dataclasses import replace

import numpy as np
import pytest

from backends.cpu.threads import ThreadsBackend
from backends.device import OutOfMemory
from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.errors import UserError
from core.hill_climbing.scans import LanesScan, TilesScan, WindowScan
from core.hill_climbing.search import HillClimbing
from core.run.stop import Iterations

PRUNED, FULL, STATIC, WORKLIST = WAYS = (
    {"scan": "pruned"},
    {"scan": "full"},
    {"published": "static"},
    {"published": "worklist"},
)


def symmetric(raw):
    return tsp.TspInstance("random", distances=np.triu(raw, 1) + np.triu(raw, 1).T).distances


INSTANCES = {
    **{
        spec: tsp.load(spec).distances
        for spec in ("uniform:23:seed=3", "clustered:40:seed=1", "grid:36:seed=2", "uniform:5:seed=1")
    },
    "nearly every move is a tie": symmetric(np.random.default_rng(3).integers(1, 4, (31, 31))),
    "wide distances": symmetric(np.random.default_rng(3).integers(60_000, 2_000_000, (31, 31))),
}


def paper_start(n, climber):
    """The released program's shuffle, in Python integers."""
    cities = list(range(1, n))
    x = climber
    for p in range(n - 1):
        x = (1103515245 * x + 12345) % 2**31
        q = x % (n - 1)
        cities[p], cities[q] = cities[q], cities[p]
    return np.array([0, *cities])


def plain_climb(distances, tour):
    """Best-improvement 2-opt by a matrix of gains; return the tour and the number of steps."""
    d, n = distances.astype(np.int64), len(distances)
    i, j = np.triu_indices(n, 2)
    steps = 0
    while True:
        steps += 1
        after = np.roll(tour, -1)
        gains = d[tour[i], after[i]] + d[tour[j], after[j]] - d[tour[i], tour[j]] - d[after[i], after[j]]
        k = int(np.argmax(gains))  # the first of the largest: smallest i, then smallest j
        if gains[k] <= 0:
            return tour, steps
        tour = tour.copy()
        tour[i[k] + 1 : j[k] + 1] = tour[i[k] + 1 : j[k] + 1][::-1]


def alike(outcome):
    return replace(outcome, evaluations=0)


def climbed(backend, distances, climbers, **how):
    return alike(HillClimbing(backend, Solo(), distances, **how).run(Iterations(climbers), trace=False))


@pytest.mark.parametrize("spec", INSTANCES)
def test_every_climb_is_the_plain_climb(spec, cpu):
    distances = INSTANCES[spec]
    n = len(distances)
    climbs = {c: plain_climb(distances, paper_start(n, c)) for c in (*range(20), 123456)}
    lengths = [tsp.tour_length(distances, climbs[c][0]) for c in range(20)]
    for way in WAYS:
        search = HillClimbing(cpu, Solo(), distances, **way)
        for climber in (0, 1, 17, 123456):
            assert search.tour_of(climber).tolist() == climbs[climber][0].tolist()
        outcome = search.run(Iterations(20), trace=False)
        assert (outcome.length, outcome.climber) == min((length, c) for c, length in enumerate(lengths))
        steps = [climbs[c][1] for c in range(20)]
        assert (outcome.steps, *outcome.steps_of_a_climb) == (sum(steps), min(steps), max(steps))


def team_sizes(scan):
    """Return sizes of teams with which a scan can run on its device."""
    if isinstance(scan, TilesScan):
        return [scan.team_size]  # of its number of diagonals per lane
    sizes = {1, 7, 32, 64, 256}
    if isinstance(scan, WindowScan):
        sizes = {scan.lanes * groups for groups in (1, 2, 8)}
    elif isinstance(scan, LanesScan):
        sizes |= {scan.team_size}
    return sorted(size for size in sizes if size <= scan.backend.capabilities.max_team_size)


CROSS = [(way, start) for way in WAYS for start in ("oneil2011", "philox")]


@pytest.mark.parametrize(
    ("way", "start"),
    [pytest.param(*one, marks=() if k in (0, 3, 4, 7) else pytest.mark.slow) for k, one in enumerate(CROSS)],
    ids=str,
)
def test_same_climbs_on_every_backend_and_team_size_in_either_order_of_lanes(backend, way, start, cpu):
    n, climbers = (8, 2) if backend.name == "python" else (30, 40)
    distances = tsp.load(f"uniform:{n}:seed=7").distances
    expected = climbed(cpu, distances, climbers, start=start, seed=5)
    backwards = [PythonBackend(backend.device, reverse=True)] if backend.name == "python" else []
    for device in (backend, *backwards):
        search = HillClimbing(device, Solo(), distances, start=start, seed=5, **way)
        for team_size in team_sizes(search.scan)[: 3 if backend.is_reference else None]:
            search.scan.team_size = team_size
            assert alike(search.run(Iterations(climbers), trace=False)) == expected, f"team size {team_size}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "climbers", "length"),
    # Table 1 and the last sentences of section 5 of the paper: 100,000 climbs find the optimum of kroA100,
    # kroE100's tour is 0.07 % longer, and twice as many find its optimum too.
    [("kroA100", 100_000, 21282), ("kroE100", 100_000, 22084), ("kroE100", 200_000, 22068)],
)
def test_quality_of_the_paper(shared_data, name, climbers, length):
    instance = tsp.load(name, str(shared_data))
    backend = ThreadsBackend(ThreadsBackend.devices()[0])
    outcome = HillClimbing(backend, Solo(), instance.distances).run(Iterations(climbers), trace=False)
    assert outcome.length == length
    if name == "kroE100":
        assert outcome.steps / climbers == pytest.approx(103.3, abs=0.05)


def test_digest_tells_unequal_work_apart(cpu):
    search, other = (
        HillClimbing(cpu, Solo(), INSTANCES["uniform:23:seed=3"], start=s) for s in ("oneil2011", "philox")
    )
    runs = [one.run(Iterations(climbers), trace=False) for one, climbers in ((search, 20), (search, 21), (other, 20))]
    assert len({run.digest for run in runs}) == 3


# --- tiles of a large instance, one team for each climber ---


@pytest.mark.parametrize("reverse", [pytest.param(False, marks=pytest.mark.slow), True])
def test_tiles_climb_the_plain_climb_in_both_orders_of_lanes(reverse):
    distances = tsp.load("uniform:26:seed=4").distances
    backend = PythonBackend(PythonBackend.devices()[0], reverse)
    search = HillClimbing(backend, Solo(), distances, scan="pruned")
    search.launcher.scan = TilesScan(backend, distances)
    assert search.tour_of(2).tolist() == plain_climb(distances, paper_start(26, 2))[0].tolist()


def test_tiles_settle_ties_between_tiles_by_the_smallest_move(python):
    distances = symmetric(np.random.default_rng(18).integers(1, 4, (18, 18)))  # nearly every move is a tie
    search = HillClimbing(python, Solo(), distances, scan="pruned")
    search.launcher.scan = TilesScan(python, distances)
    assert search.tour_of(1).tolist() == plain_climb(distances, paper_start(18, 1))[0].tolist()


# --- batches ---


def test_a_batch_that_does_not_fit_is_halved_and_said(cpu, monkeypatch):
    distances = tsp.load("uniform:20:seed=7").distances
    search = HillClimbing(cpu, Solo(), distances)
    expected = search.run(Iterations(50), trace=False)
    cramped = HillClimbing(cpu, Solo(), distances)
    allocate = cpu.allocate

    def little(shape, dtype):
        if np.prod(shape) > 13 * 20:
            raise OutOfMemory("13 tours fit")
        return allocate(shape, dtype)

    monkeypatch.setattr(cpu, "allocate", little)
    assert cramped.run(Iterations(50), trace=False) == expected
    assert cramped.notes == ["13 tours fit: 25 climbers at a time", "13 tours fit: 12 climbers at a time"]


# --- the paper's mapping ---


def moves_of_a_step(n):
    """Count of the paper: city i from the 1st to the (n - 2)th, for each j from the (i + 2)nd to the nth."""
    return sum(1 for i in range(1, n - 1) for _ in range(i + 2, n + 1))


def test_a_step_counts_the_moves_that_the_paper_counts(cpu):
    assert moves_of_a_step(100) == 4851
    for n in (5, 12, 100):
        distances = tsp.load(f"uniform:{n}:seed=2").distances
        search, usual = (HillClimbing(cpu, Solo(), distances, scan="full", published=p) for p in ("auto", None))
        outcome, expected = search.run(Iterations(7), trace=False), usual.run(Iterations(7), trace=False)
        assert alike(outcome) == alike(expected)
        assert outcome.evaluations == outcome.steps * moves_of_a_step(n)
        assert expected.evaluations == outcome.evaluations - outcome.steps


@pytest.mark.parametrize("assign", ["static", "worklist"])
def test_lanes_that_have_one_climber_more_than_others(backend, assign, cpu):
    if backend.name == "python":
        pytest.skip("thousands of climbs on the oracle")
    distances = tsp.load("uniform:9:seed=2").distances
    search = HillClimbing(backend, Solo(), distances, published=assign)
    climbers = 2 * search.scan.teams() * search.scan.team_size + 3
    assert alike(search.run(Iterations(climbers), trace=False)) == climbed(cpu, distances, climbers)


def test_tours_of_more_cities_than_a_byte_tells_apart(cpu):
    n = 257
    distances = tsp.load(f"uniform:{n}:seed=4").distances
    search = HillClimbing(cpu, Solo(), distances, **STATIC)
    assert search.tour_of(3).tolist() == plain_climb(distances, paper_start(n, 3))[0].tolist()
    assert alike(search.run(Iterations(4), trace=False)) == climbed(cpu, distances, 4)


def test_lanes_take_climbers_as_the_paper_does_on_such_a_device(cpu, python):
    distances = tsp.load("uniform:10:seed=7").distances
    for backend, assign, team_size in ((cpu, "static", 1), (python, "worklist", 1024)):
        scan = HillClimbing(backend, Solo(), distances, published="auto").scan
        assert isinstance(scan, LanesScan)
        assert scan.execution == {"scan": "full", "assign": assign}
        assert (scan.teams(), scan.team_size) == (backend.capabilities.compute_units, team_size)


def test_a_block_that_needs_too_many_registers_is_halved_until_it_runs(cpu, python, monkeypatch):
    distances = tsp.load("uniform:9:seed=2").distances
    monkeypatch.setattr(python, "most_lanes", lambda program: 20 if program.kernel.name == "climb_lanes" else 1024)
    search = HillClimbing(python, Solo(), distances, **WORKLIST)
    assert search.scan.team_size == 16
    assert search.scan.fewest_climbers() == 16 * 16
    assert alike(search.run(Iterations(19), trace=False)) == climbed(cpu, distances, 19)


# --- what is refused ---


@pytest.mark.parametrize(
    ("distances", "options", "words"),
    [
        (np.ones((4, 4), np.uint16), {}, "5 to 46340 cities, not 4"),
        (np.full((30, 30), 2**30, np.uint32), {}, "do not fit 31 bits"),
        (INSTANCES["uniform:23:seed=3"], {"scan": "lazy"}, "choose one of auto, pruned, full"),
        (INSTANCES["uniform:23:seed=3"], {"scan": "pruned", "published": "auto"},
         "^scan 'pruned': the published mapping evaluates every move; expected full$"),
        (INSTANCES["uniform:23:seed=3"], {"published": "lazy"}, "^assignment 'lazy'; choose one of auto, static, worklist$"),
        (np.ones((1025, 1025), np.uint16), {"published": "auto"},
         "found 1025 cities, expected at most 1024 on this device, or --mapping native$"),
    ],
)  # fmt: skip
def test_bad_requests_are_refused_in_one_line(cpu, distances, options, words):
    with pytest.raises(UserError, match=words):
        HillClimbing(cpu, Solo(), distances, **options)


def test_more_climbers_than_the_paper_s_start_tells_apart_are_refused(cpu):
    with pytest.raises(UserError, match="--start philox"):
        HillClimbing(cpu, Solo(), INSTANCES["uniform:23:seed=3"]).run(Iterations(2**31 + 1), trace=False)
