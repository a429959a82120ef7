"""Tours for local search: every neighbour's cost against NumPy's, and distances rounded exactly from coordinates."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.kernels.moves import NEVER
from core.lang import Array, Rows, i32, kernel, lane, team_count, team_rank, team_size
from core.problems import tsp
from core.problems.tsp_moves import LARGEST_TABLE, Plane, TspTour, gap, place_cities, rounded_distance
from core.search.local_search import HillClimbing, IteratedLocalSearch, Iterations, LocalSearch, TabuSearch
from tests.core.problems.neighbours import after_a_walk, by_kernels, neighbours, rescored

NEIGHBOURHOODS = ("exchange2", "exchange3", "2opt")
WAYS = [(way, name) for way in ("table", "plane", "full") for name in NEIGHBOURHOODS]
LARGEST_SIDE = 46_340


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="module")
def python():
    return PythonBackend(PythonBackend.devices()[0])


@st.composite
def tours(draw, most=9):
    """A tour through cities at integers of some range, so that equal cities and ties in length occur.

    The widest range is the largest whose squared distances fit 31 bits: beyond, there is no evaluation in the plane.
    """
    n = draw(st.integers(3, most))
    largest = draw(st.sampled_from([2, 50, LARGEST_SIDE // 2]))
    points = draw(st.lists(st.tuples(st.integers(-largest, largest), st.integers(0, 2)), min_size=n, max_size=n))
    problem = TspTour(tsp.Instance("drawn", coordinates=np.array(points, dtype=float)))
    return problem, draw(st.permutations(range(n)))


def on_a_line(n):
    """Cities whose gaps are powers of two, so that tours of different edges differ in length."""
    return TspTour(tsp.Instance("line", coordinates=np.array([(2.0**k, 0.0) for k in range(n)])))


# --- differences ---


@pytest.mark.parametrize(("way", "name"), WAYS)
@settings(max_examples=25, deadline=None)
@given(tour=tours())
@example(tour=(TspTour(tsp.Instance("wide", coordinates=np.array([[-23_170.0, 0], [23_170, 2], [0, 1]]))), (0, 1, 2)))
def test_every_difference_is_that_of_rescoring(cpu, way, name, tour):
    problem, solution = tour
    assert by_kernels(cpu, problem, name, way, solution) == rescored(problem, name, solution)


@pytest.mark.parametrize(("way", "name"), WAYS)
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_adjacent_positions_and_the_wrap_count_each_edge_once(cpu, python, n, way, name):
    problem = on_a_line(n)
    solution = np.random.default_rng(n).permutation(n)
    expected = rescored(problem, name, solution)
    assert by_kernels(cpu, problem, name, way, solution) == expected
    assert by_kernels(python, problem, name, way, solution) == expected


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
@pytest.mark.parametrize("largest", [40_000, 90_000_000], ids=["uint16", "uint32"])
def test_tables_need_no_triangle_inequality(cpu, name, largest):
    rng = np.random.default_rng(largest)
    half = np.triu(rng.integers(0, largest, (8, 8)), 1)
    problem = TspTour(tsp.Instance("table", distances=half + half.T))
    for _ in range(5):
        solution = rng.permutation(8)
        assert by_kernels(cpu, problem, name, "table", solution) == rescored(problem, name, solution)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_two_opt_leaves_out_what_gives_the_same_tour(cpu, n):
    found = by_kernels(cpu, on_a_line(n), "2opt", "plane", range(n))
    assert found.count(NEVER) == n
    assert sum(other is not None for other in neighbours("2opt", range(n), n)) == n * (n - 3) // 2
    outcome = LocalSearch(cpu, Solo(), on_a_line(n), HillClimbing(), "2opt").run(Iterations(99))
    assert outcome.cost == on_a_line(n).cost(outcome.solution)


@pytest.mark.parametrize(("way", "name"), WAYS)
@pytest.mark.parametrize("algorithm", [TabuSearch(), IteratedLocalSearch()], ids=lambda one: one.name)
def test_differences_stay_right_behind_a_walk(cpu, algorithm, way, name):
    problem = TspTour.load("uniform:12:seed=3")
    search = LocalSearch(cpu, Solo(), problem, algorithm, name, evaluation=way, seed=2)
    for length in (1, 30):
        outcome = search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, name, solution)
        assert outcome.cost == problem.cost(outcome.solution)


# --- distances from coordinates ---


@kernel
def round_all(count: i32, dx: Array[i32], dy: Array[i32], found: Array[i32]):
    """The rounded root of every dx^2 + dy^2."""
    for p in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
        found[p] = rounded_distance(dx[p], dy[p])


@kernel
def measure_all(solution: Array[i32], planes: Rows[Plane], found: Array[i32]):
    """The distance of the cities at every two positions of a tour."""
    plane = planes[0]
    place_cities(solution, plane)
    for p in range(lane(), plane.cities, team_size()):
        for q in range(plane.cities):
            found[p * plane.cities + q] = gap(p, q, plane)


def rounded(backend, dx, dy):
    given = [backend.upload(np.array(axis, np.int32)) for axis in (dx, dy)]
    found = backend.allocate(len(dx), np.int32)
    backend.launch(round_all, 4, 1, len(dx), *given, found)
    return backend.download(found)


def nearest_root(square):
    """Integers alone: d is nearest when d (d - 1) < square <= d (d + 1)."""
    d = math.isqrt(square)
    return d + (square > d * (d + 1))


def around_every_half():
    """Sides whose squares lie as near as sides allow to d (d + 1), where the rounded root grows, for large d."""
    pairs = []
    for d in (1, 2, 5, 181, 2_896, 4_095, 5_792, 11_585, 23_170, 32_767, 40_000, 46_339, 46_340):
        for square in (d * d - 1, d * d, d * d + 1, d * (d + 1) - 1, d * (d + 1), d * (d + 1) + 1):
            for near in range(max(0, square - 60), min(square + 60, 2**31 - 1)):
                for a in range(math.isqrt(near), max(-1, math.isqrt(near) - 40), -1):
                    b = math.isqrt(near - a * a)
                    if b * b == near - a * a:
                        pairs.append((a, b))
                        break
    return pairs


def test_roots_next_to_a_half_are_rounded_exactly(backend):
    dx, dy = zip(*around_every_half(), strict=True)
    squares = [a * a + b * b for a, b in zip(dx, dy, strict=True)]
    at_the_edge = sum(s in (d * (d + 1), d * (d + 1) + 1) for s, d in ((s, math.isqrt(s)) for s in squares))
    assert at_the_edge >= 5
    assert max(squares) > 2**31 - 100_000
    assert rounded(backend, dx, dy).tolist() == list(map(nearest_root, squares))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-LARGEST_SIDE, LARGEST_SIDE)] * 2), min_size=1, max_size=50))
@example([(0, 0), (LARGEST_SIDE, 0), (0, -LARGEST_SIDE), (32_767, 32_767), (-1, 1)])
def test_any_root_below_31_bits_is_rounded_exactly(cpu, sides):
    dx, dy = zip(*[(a, b) for a, b in sides if a * a + b * b < 2**31] or [(0, 0)], strict=True)
    expected = [nearest_root(a * a + b * b) for a, b in zip(dx, dy, strict=True)]
    assert rounded(cpu, dx, dy).tolist() == expected


def test_distances_are_those_of_the_table(cpu):
    points = np.random.default_rng(5).integers(-16_000, 16_000, (150, 2)).astype(float)
    instance = tsp.Instance("large", coordinates=points)
    plane = cpu.rows(TspTour(instance).data_for("plane"), 1)
    tour = np.random.default_rng(6).permutation(150)
    found = cpu.allocate(150 * 150, np.int32)
    cpu.launch(measure_all, 1, 1, cpu.upload(tour.astype(np.int32)), plane, found)
    assert np.array_equal(cpu.download(found).reshape(150, 150), instance.distances[np.ix_(tour, tour)])


# --- which way is offered ---


def test_coordinates_are_offered_where_they_are_exact_only():
    def offered(points, kind="EUC_2D"):
        problem = TspTour(tsp.Instance("given", coordinates=np.array(points, dtype=float), edge_weight_type=kind))
        return [list(problem.evaluations(name)) for name in NEIGHBOURHOODS]

    assert offered([(0, 0), (3, 4), (-6, 8)]) == [["table", "plane", "full"]] * 3
    assert offered([(0, 0), (3, 4), (-6, 8.5)]) == [["table", "full"]] * 3
    assert offered([(0, 0), (3, 4), (-6, 8)], "CEIL_2D") == [["table", "full"]] * 3
    # 46,340^2 + 296^2 < 2^31 <= 46,340^2 + 297^2
    assert offered([(1e6, 0), (1e6 + 46_340, 0), (1e6, -296)]) == [["table", "plane", "full"]] * 3
    assert offered([(1e6, 0), (1e6 + 46_340, 0), (1e6, -297)]) == [["table", "full"]] * 3


def test_large_instances_prefer_coordinates():
    fits = math.isqrt(LARGEST_TABLE // 2)
    for n, preferred in ((fits, "table"), (fits + 1, "plane")):
        problem = TspTour.load(f"uniform:{n}:seed=1")
        assert next(iter(problem.evaluations("exchange2"))) == preferred
