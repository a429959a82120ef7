"""The paper's mapping of hill climbing: the climbs of the suite's, as the paper lays them out and counts them."""

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.problems import tsp
from core.search.ihc import BATCH, HillClimbing
from core.search.stops import Iterations
from core.search.two_opt_scans import LanesScan
from tests.core.search.test_ihc import INSTANCES, paper_start, plain_climb

ASSIGNED = ("static", "worklist")


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def moves_of_a_step(n):
    """The paper's count: city i from the 1st to the (n - 2)th, for each j from the (i + 2)nd to the nth."""
    return sum(1 for i in range(1, n - 1) for _ in range(i + 2, n + 1))


def alike(outcome):
    """What every mapping finds: all but the number of moves evaluated."""
    return outcome._replace(evaluations=0)


@pytest.mark.parametrize("assign", ASSIGNED)
@pytest.mark.parametrize("spec", INSTANCES)
def test_every_climb_is_the_plain_climb(spec, assign, cpu):
    distances = tsp.load(spec).distances
    n = len(distances)
    search = HillClimbing(cpu, Solo(), distances, published=assign)
    climbs = [plain_climb(distances, paper_start(n, c)) for c in range(20)]
    for climber, (tour, _) in enumerate(climbs):
        assert search.tour_of(climber).tolist() == tour.tolist()
    found = search.run(Iterations(20), trace=False)
    lengths = [tsp.tour_length(distances, tour) for tour, _ in climbs]
    assert (found.length, found.climber) == min((length, c) for c, length in enumerate(lengths))
    assert found.steps == sum(steps for _, steps in climbs)
    assert search.tour_of(found.climber).tolist() == climbs[found.climber][0].tolist()


def test_a_step_counts_the_moves_that_the_paper_counts(cpu):
    assert moves_of_a_step(100) == 4851
    for n in (5, 12, 100):
        distances = tsp.load(f"uniform:{n}:seed=2").distances
        search, usual = (HillClimbing(cpu, Solo(), distances, scan="full", published=p) for p in ("auto", None))
        found, expected = search.run(Iterations(7), trace=False), usual.run(Iterations(7), trace=False)
        assert alike(found) == alike(expected)
        assert found.evaluations == found.steps * moves_of_a_step(n)
        assert expected.evaluations == found.evaluations - found.steps


@pytest.mark.parametrize("start", ["oneil2011", "philox"])
@pytest.mark.parametrize("assign", ASSIGNED)
def test_same_climbs_on_every_backend_and_team_size(backend, start, assign, cpu):
    distances = tsp.load("uniform:14:seed=7").distances
    climbers = 10 if backend.name == "python" else 45
    expected = HillClimbing(cpu, Solo(), distances, start=start, seed=5).run(Iterations(climbers), trace=False)
    search = HillClimbing(backend, Solo(), distances, start=start, seed=5, published=assign)
    for team_size in search.scan.team_sizes():
        search.scan.team_size = team_size
        assert alike(search.run(Iterations(climbers), trace=False)) == alike(expected), f"team size {team_size}"


@pytest.mark.parametrize("assign", ASSIGNED)
def test_lanes_that_have_one_climber_more_than_others(backend, assign, cpu):
    if backend.name == "python":
        pytest.skip("thousands of climbs on the oracle")
    distances = tsp.load("uniform:9:seed=2").distances
    search = HillClimbing(backend, Solo(), distances, published=assign)
    climbers = 2 * search.scan.teams() * search.scan.team_size + 3
    assert alike(search.run(Iterations(climbers), trace=False)) == alike(
        HillClimbing(cpu, Solo(), distances).run(Iterations(climbers), trace=False)
    )


@pytest.mark.parametrize("assign", ASSIGNED)
@pytest.mark.parametrize("reverse", [False, True])
def test_lanes_do_not_race(assign, reverse, cpu):
    distances = tsp.load("uniform:10:seed=7").distances
    search = HillClimbing(PythonBackend(PythonBackend.devices()[0], reverse), Solo(), distances, published=assign)
    search.scan.team_size = 4
    assert alike(search.run(Iterations(11), trace=False)) == alike(
        HillClimbing(cpu, Solo(), distances).run(Iterations(11), trace=False)
    )


def test_wide_distances_and_ties_do_not_change_the_climbs(cpu):
    rng = np.random.default_rng(3)
    few = rng.integers(1, 4, (31, 31))  # nearly every move is a tie
    many = rng.integers(60_000, 2_000_000, (31, 31))
    for raw in (few, many):
        distances = tsp.Instance("random", distances=np.triu(raw, 1) + np.triu(raw, 1).T).distances
        search = HillClimbing(cpu, Solo(), distances, published="worklist")
        for climber in range(12):
            tour, _ = plain_climb(distances, paper_start(31, climber))
            assert search.tour_of(climber).tolist() == tour.tolist()


@pytest.mark.parametrize("n", [256, 257])
def test_tours_of_more_cities_than_a_byte_tells_apart(n, cpu):
    distances = tsp.load(f"uniform:{n}:seed=4").distances
    search = HillClimbing(cpu, Solo(), distances, published="static")
    tour, steps = plain_climb(distances, paper_start(n, 3))
    assert search.tour_of(3).tolist() == tour.tolist()
    assert alike(search.run(Iterations(4), trace=False)) == alike(
        HillClimbing(cpu, Solo(), distances).run(Iterations(4), trace=False)
    )
    # Where all tours are equally long, one step looks at every move in vain: that is little enough for the oracle.
    equal = np.full((n, n), 7, np.uint16) - 7 * np.eye(n, dtype=np.uint16)
    oracle = PythonBackend(PythonBackend.devices()[0])
    search = HillClimbing(oracle, Solo(), equal, published="static")
    search.scan.team_size = 1
    assert search.tour_of(3).tolist() == paper_start(n, 3).tolist()


def test_a_tour_that_is_no_record_is_not_written_back(cpu):
    """The paper discards it; one that is as long as the shortest so far is none either, unless its number is smaller."""
    distances = tsp.load("uniform:23:seed=3").distances
    search = HillClimbing(cpu, Solo(), distances, published="static")
    search.run(Iterations(50), trace=False)
    tours = cpu.download(search.tours).reshape(-1, 23)[:50]
    best = None
    for climber in range(50):
        tour, _ = plain_climb(distances, paper_start(23, climber))
        length = tsp.tour_length(distances, tour)
        record = best is None or length < best
        assert tours[climber].tolist() == (tour if record else paper_start(23, climber)).tolist()
        best = length if record else best


def test_lanes_take_climbers_as_the_paper_does_on_such_a_device(cpu):
    distances = tsp.load("uniform:10:seed=7").distances
    oracle = PythonBackend(PythonBackend.devices()[0])
    for backend, assign, team_size in ((cpu, "static", 1), (oracle, "worklist", 1024)):
        scan = HillClimbing(backend, Solo(), distances, published="auto").scan
        assert isinstance(scan, LanesScan)
        assert scan.ways == {"scan": "full", "assign": assign}
        assert (scan.teams(), scan.team_size) == (backend.capabilities.compute_units, team_size)


@pytest.mark.parametrize("assign", ASSIGNED)
def test_a_block_that_needs_too_many_registers_is_halved_until_it_runs(assign, cpu):
    distances = tsp.load("uniform:9:seed=2").distances
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.most_lanes = lambda program: 20 if program.kernel.name == "climb_lanes" else 1024
    search = HillClimbing(oracle, Solo(), distances, published=assign)
    assert search.scan.team_size == 16
    assert search.scan.fewest_climbers() == 16 * 16
    assert alike(search.run(Iterations(19), trace=False)) == alike(
        HillClimbing(cpu, Solo(), distances).run(Iterations(19), trace=False)
    )


def test_a_launch_has_sixteen_climbers_for_every_lane_if_there_are_so_many(cpu, monkeypatch):
    distances = tsp.load("uniform:9:seed=2").distances

    def launches(climbers, callback=None, **options):
        search, counts = HillClimbing(cpu, Solo(), distances, **options), []
        monkeypatch.setattr(search, "_climb_batch", lambda first, count: counts.append(count))
        search.run(Iterations(climbers), callback=callback, trace=False)
        return counts

    assert launches(50, lambda progress: None) == [1, 2, 4, 8, 16, 19]
    assert launches(50, lambda progress: None, published="worklist") == [16, 32, 2]
    assert launches(BATCH + 5, published="worklist") == [BATCH, 5]
    monkeypatch.setattr(LanesScan, "teams", lambda self: BATCH // 8)
    assert launches(BATCH + 5) == [BATCH, 5]
    assert launches(BATCH + 5, published="worklist") == [BATCH + 5]


def test_what_the_mapping_cannot_do_is_refused_in_one_line(cpu):
    distances = tsp.load("uniform:30:seed=7").distances
    with pytest.raises(UserError, match="^scan 'pruned': the published mapping evaluates every move; expected full$"):
        HillClimbing(cpu, Solo(), distances, scan="pruned", published="auto")
    with pytest.raises(UserError, match="^assignment 'lazy'; choose one of auto, static, worklist$"):
        HillClimbing(cpu, Solo(), distances, published="lazy")
    with pytest.raises(UserError, match="found 1025 cities, expected at most 1024 on this device, or --mapping suite$"):
        HillClimbing(cpu, Solo(), np.ones((1025, 1025), np.uint16), published="auto")
