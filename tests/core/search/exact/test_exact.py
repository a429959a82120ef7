"""Exact search finds and counts the shortest tours: against full search, dynamic programming and the thesis' lengths."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import backends
from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.kernels.branch_and_bound import OpenNode, stack_room
from core.kernels.tour_search import BestTour
from core.problems import tsp
from core.problems.small_tours import all_tours, held_karp
from core.search.exact import ExactSearch
from core.search.exact.enumeration import reduced_by_shortest

ROOT = Path(__file__).parents[4]
METHODS = (
    {"bound": "one-tree"},
    {"bound": "edges"},
    {"bound": "edges", "depth": 1},
    {"bound": "none"},
    {"bound": "none", "enumerate": "permutations"},
)
KINDS = ("uniform", "clustered", "grid", "equal", "zero", "any")
# The 15 instances of tables 5.1 and 5.2 of the thesis and the lengths printed there.
THESIS = {
    "eil7": 66,
    "eil13": 142,
    "burma14": 3323,
    "p01": 291,
    "ulysses16": 6859,
    "gr17": 2085,
    "gr21": 2707,
    "ulysses22": 7013,
    "eil22": 278,
    "eil23": 470,
    "gr24": 1272,
    "fri26": 937,
    "bays29": 2020,
    "bayg29": 1610,
    "eil30": 381,
}


def distances_of(kind, n, seed):
    """Symmetric distances of n cities: `any` obey no triangle inequality, `grid` and `clustered` have ties and zeros."""
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    if kind == "equal":
        lengths = np.full((n, n), 7)
    elif kind == "zero":
        lengths = rng.integers(0, 2, (n, n)) * rng.integers(0, 5, (n, n))
    elif kind == "any":
        lengths = rng.integers(1, 1000, (n, n))
    else:
        points = {
            "uniform": rng.integers(0, 1000, (n, 2)),
            "clustered": rng.integers(0, 3, (n, 1)) * 400 + rng.integers(0, 12, (n, 2)),
            "grid": rng.integers(0, 4, (n, 2)) * 10,
        }[kind]
        lengths = np.rint(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))).astype(int)
    lengths = np.triu(lengths, 1)
    return lengths + lengths.T


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def proved(backend, distances, **options):
    """Length and count that the search proves, after a look at its tour."""
    solution = ExactSearch(backend, Solo(), distances, count=True, **options).run()
    tour, n = solution.tour, len(distances)
    assert sorted(tour) == list(range(n))
    assert distances[tour, np.roll(tour, -1)].sum() == solution.length
    assert tour[0] == 0
    assert n < 3 or tour[1] < tour[-1]
    assert solution.root_bound is None or solution.root_bound <= solution.length <= solution.start_length
    return solution.length, solution.optimal_tours


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_and_the_count_of_full_search(cpu, kind):
    for n in range(1, 9):
        for seed in range(9 if n < 8 else 3):
            distances = distances_of(kind, n, seed)
            length, _, optimal_tours = all_tours(distances)
            for method in METHODS:
                if n > 4 or method == METHODS[0]:
                    assert proved(cpu, distances, **method) == (length, optimal_tours), (n, seed, method)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [9, 10])
def test_full_search_of_nine_and_ten_cities(cpu, kind, n):
    distances = distances_of(kind, n, 1)
    length, _, optimal_tours = all_tours(distances)
    for method in METHODS:
        assert proved(cpu, distances, **method) == (length, optimal_tours), method


@pytest.mark.parametrize("kind", ["uniform", "clustered", "grid", "any"])
def test_the_length_of_dynamic_programming(cpu, kind):
    for n in (11, 12, 13, 14):
        for seed in range(4):
            distances = distances_of(kind, n, seed)
            length = held_karp(distances)[0]
            assert ExactSearch(cpu, Solo(), distances).run().length == length
            if n < 13:
                assert ExactSearch(cpu, Solo(), distances, bound="edges").run().length == length


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(map(str, method.values())))
def test_the_same_proof_on_every_backend(backend, cpu, method):
    sizes = (5, 6) if backend.name == "python" else (5, 8, 11)
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes")
    for n, kind in zip(sizes, ("uniform", "grid", "clustered"), strict=False):
        distances = distances_of(kind, n, 5)
        if n == 11 and method["bound"] == "none":
            continue
        assert proved(backend, distances, **method) == proved(cpu, distances, **method)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
def test_the_length_of_full_search_on_every_backend(backend, kind):
    if backend.name == "python" or backend.device.driver == "simulated":
        pytest.skip("takes hours; the fast tests have some instances")
    fresh = backends.create(backend.name)
    for n in range(1, 11):
        # `joblib` keeps its shared memory, a file each, to its end.
        for seed in range(9 if n < 9 and backend.name != "joblib" else 1):
            distances = distances_of(kind, n, 100 + seed)
            length, _, optimal_tours = all_tours(distances)
            assert proved(fresh, distances, bound="one-tree") == (length, optimal_tours)
            assert proved(fresh, distances, bound="edges") == (length, optimal_tours)
    fresh.close()


@pytest.mark.parametrize("name", THESIS)
def test_the_instances_of_the_thesis(cpu, name, shared_data, monkeypatch):
    places = [shared_data / "tsplib" / f"{name}.tsp", shared_data / "vrp" / f"{name}.vrp"]
    path = next((p for p in places if p.exists()), shared_data / "national" / f"{name}.tsp")
    instance = tsp.load(str(path), None)
    solution = ExactSearch(cpu, Solo(), instance.distances).run()
    assert solution.length == THESIS[name] == instance.tour_length(solution.tour)


def counted_nodes(distances, limit):
    """Plain Python of the thesis' search on one lane: nodes of each number of cities, and the shortest length."""
    n = len(distances)
    shortest = (distances + np.diag(np.full(n, 10**9))).min(axis=1)
    rows = [sorted((int(distances[i, j] - shortest[j]), j) for j in range(1, n) if j != i) for i in range(n)]
    nodes = np.zeros(n + 1, int)
    best = limit

    def visit(path, unvisited, bound):
        nonlocal best
        nodes[len(path)] += 1
        if len(unvisited) == 3:
            for end in itertools.permutations(unvisited):
                tour = [*path, *end]
                best = min(best, int(sum(distances[tour[k], tour[(k + 1) % n]] for k in range(n))))
            return
        for way, city in rows[path[-1]]:
            if bound + way >= best:
                break
            if city in unvisited:
                visit([*path, city], unvisited - {city}, bound + way)

    visit([0], frozenset(range(1, n)), int(shortest[1:].sum()))
    return nodes, best


@pytest.mark.parametrize("kind", ["uniform", "clustered", "grid", "any"])
def test_the_nodes_of_one_lane_are_those_of_the_thesis_search(cpu, kind):
    for n in (5, 6, 8, 10):
        distances = distances_of(kind, n, 2)
        solution = ExactSearch(cpu, Solo(), distances, bound="edges", depth=1).run()
        nodes, length = counted_nodes(distances, solution.start_length)
        assert np.array_equal(solution.nodes, nodes)
        assert solution.length == length


def test_lanes_that_hand_on_what_is_left_lose_and_double_nothing(cpu):
    for n, patience in ((8, 1), (9, 7), (11, 50)):
        distances = distances_of("uniform", n, 3)
        whole = ExactSearch(cpu, Solo(), distances, bound="edges", depth=2)
        parted = ExactSearch(cpu, Solo(), distances, bound="edges", depth=2)
        parted.method.patience = patience
        best = whole.run().length
        for search in (whole, parted):
            search.method.search(Solo(), best, False, None)
        assert np.array_equal(whole.method.nodes, parted.method.nodes)
        assert parted.run().length == best


def test_the_shape_of_a_launch_does_not_matter():
    python = PythonBackend(PythonBackend.devices()[0])
    distances = distances_of("any", 7, 4)
    expected = all_tours(distances)
    for team_size in (1, 4):
        for bound in ("edges", "one-tree"):
            search = ExactSearch(python, Solo(), distances, bound=bound, count=True)
            search.method.team_size = team_size
            search.method.best = python.rows(BestTour(), 64)
            search.method.lanes = 64
            if bound == "one-tree":
                search.method.stacks = python.rows(OpenNode(), 64 * stack_room(7))
                search.method.wanted = 6
            solution = search.run()
            assert (solution.length, solution.optimal_tours) == (expected[0], expected[2])


def test_reduced_lengths_bound_by_the_shortest_edge_of_each_city_ahead():
    distances = distances_of("uniform", 6, 1)
    reduced = reduced_by_shortest(distances)
    path = [0, 3, 1, 5]
    ahead = [2, 4]
    shortest = (distances + np.diag(np.full(6, 10**9))).min(axis=1)
    expected = sum(distances[path[k], path[k + 1]] for k in range(3)) + shortest[ahead].sum()
    assert reduced.shortest + sum(reduced.lengths[path[k], path[k + 1]] for k in range(3)) == expected
    assert all(np.all(np.diff(row[: 4 if i else 5]) > 0) for i, row in enumerate(reduced.ranked))


SCRIPT = """
import sys
import numpy as np
from backends import create
from cluster import communicator
from core.search.exact import ExactSearch
from tests.core.search.exact.test_exact import distances_of
ranks = communicator()
backend = create("cpu")
for kind, n, options in (
    ("uniform", 12, {}), ("any", 13, {}), ("grid", 10, {}), ("uniform", 10, {"bound": "edges"}),
    ("clustered", 9, {"bound": "none"}), ("any", 8, {"bound": "none", "enumerate": "permutations"}), ("any", 6, {}),
):
    solution = ExactSearch(backend, ranks, distances_of(kind, n, 6), count=True, **options).run()
    assert np.array_equal(ranks.bcast(solution.tour), solution.tour)
    if ranks.rank == 0:
        print(solution.length, solution.optimal_tours, f"{solution.digest:016x}")
"""


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_prove_the_same(size, mpirun):
    alone = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert alone.returncode == 0, alone.stderr
    together = mpirun(size, "-c", SCRIPT)
    assert together.returncode == 0, together.stderr
    assert together.stdout.split() == alone.stdout.split()


@pytest.mark.parametrize(
    ("distances", "options", "message"),
    [
        (np.ones((31, 31), int), {}, "31 cities: exact search takes at most 30"),
        (np.array([[0, 1, 2], [3, 0, 1], [2, 1, 0]]), {}, "asymmetric distances: 1 from 0 to 1, 3 back"),
        (np.array([[0, -1], [-1, 0]]), {}, "distance -1 from 0 to 1"),
        (np.full((6, 6), 0.5), {}, "not integers"),
        (np.ones((2, 3), int), {}, "expected a square matrix"),
        (np.full((6, 6), 1 << 24), {}, "expected below 16777216"),
        (np.ones((8, 8), int), {"bound": "cuts"}, "choose one of one-tree, edges, none"),
        (np.ones((8, 8), int), {"bound": "edges", "depth": 5}, "items of 5 cities: expected 1 to 4 of 8"),
        (np.ones((22, 22), int), {"bound": "none", "enumerate": "permutations"}, "at most 20 cities"),
    ],
)
def test_what_is_no_such_problem_is_refused_in_one_line(cpu, distances, options, message):
    with pytest.raises(UserError, match=message) as refused:
        ExactSearch(cpu, Solo(), distances, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_edges_that_no_short_tour_has_may_be_of_any_length(cpu, method):
    """Shifted by 5 bits for its city, a length of 2^26 and more would be taken for a short or a negative one."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        distances = rng.integers(1, 21, (8, 8))
        distances[rng.random((8, 8)) < 0.25] = rng.choice([1 << 26, 1 << 27, 2**31 - 1])
        distances[np.arange(7), np.arange(1, 8)] = distances[0, 7] = 15  # a ring, for a short start tour
        distances = np.triu(distances, 1) + np.triu(distances, 1).T
        expected = all_tours(distances)
        assert proved(cpu, distances, **method) == (expected.length, expected.optimal_tours)


def test_counts_are_added_up_before_their_words_are_full():
    distances = distances_of("any", 7, 2)
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.capabilities = oracle.capabilities._replace(max_team_size=2, lanes_resident=2)
    expected = ExactSearch(oracle, Solo(), distances, bound="none", depth=1).run()
    search = ExactSearch(oracle, Solo(), distances, bound="none", depth=1)
    assert search.method.patience * search.method.rounds_to_count <= 2**30
    search.method.patience, search.method.rounds_to_count = 5, 2
    solution = search.run()
    assert solution.nodes.tolist() == expected.nodes.tolist()
    assert search.work == solution.nodes.sum()
