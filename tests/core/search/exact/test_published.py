"""The thesis' mapping proves what the suite's proves, and explores the nodes that its text says, one by one."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.kernels.published_search import search_items
from core.kernels.tour_enumeration import permute
from core.problems import tsp
from core.problems.small_tours import all_tours, greedy_edge_tour, held_karp, improved_by_2opt
from core.search.exact import ExactSearch
from core.search.exact import search as module
from core.search.exact.published import MOST_LANES, TEAM_SIZE, team_size
from tests.backends.test_cuda_without_gpu import simulated
from tests.core.search.exact.test_exact import KINDS, THESIS, distances_of

ROOT = Path(__file__).parents[4]
EDGES = {"bound": "edges", "mapping": "published"}
WORKLIST = {"bound": "none", "mapping": "published"}
PERMUTATIONS = {**WORKLIST, "enumerate": "permutations"}
METHODS = (EDGES, {**EDGES, "unrolled": False}, WORKLIST, {**WORKLIST, "unrolled": False}, PERMUTATIONS)


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture
def oracle():
    return PythonBackend(PythonBackend.devices()[0])


@pytest.fixture
def few_on_the_device(monkeypatch):
    """Let the device search five to seven cities too, which the thesis leaves to the host."""
    monkeypatch.setattr(module, "ON_THE_HOST", 4)


def proved(backend, distances, **options):
    """Length and count that the search proves, after a look at its tour."""
    search = ExactSearch(backend, Solo(), distances, count=True, **options)
    solution = search.run()
    tour, n = solution.tour, len(distances)
    assert sorted(tour) == list(range(n))
    assert distances[tour, np.roll(tour, -1)].sum() == solution.length
    assert tour[0] == 0 and tour[1] < tour[-1]
    assert solution.root_bound is None or solution.root_bound <= solution.length <= solution.start_length
    assert search.method.work in (None, solution.nodes.sum() // 2)  # twice: to find one, and to count all
    return solution.length, solution.optimal_tours


def published_nodes(distances, depth, limit, bounded=True):
    """Plain Python of section 2.2: nodes of each number of cities with three or more left, and the shortest length."""
    n = len(distances)
    table = distances.tolist()
    shortest = [min(table[i][:i] + table[i][i + 1 :]) for i in range(n)]
    nodes = [0] * (n + 1)
    incumbent = limit

    def tsp(path, unvisited, length):
        nonlocal incumbent
        if bounded and length + sum(shortest[city] for city in unvisited) > incumbent:
            return
        if len(unvisited) >= 3:
            nodes[len(path)] += 1
        if not unvisited:
            incumbent = min(incumbent, length + table[path[-1]][0])
        for k, city in enumerate(unvisited):
            tsp([*path, city], unvisited[:k] + unvisited[k + 1 :], length + table[path[-1]][city])

    items = 1
    for choices in range(n - depth + 1, n):
        items *= choices
    for item in range(items):
        path, unvisited, rest, length = [0], list(range(1, n)), item, 0
        while len(path) < depth:
            rest, place = divmod(rest, len(unvisited))
            city = unvisited.pop(place)
            length += table[path[-1]][city]
            path.append(city)
        tsp(path, unvisited, length)
    return nodes, incumbent


# --- the same proof ---


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_length_and_the_count_of_full_search(cpu, few_on_the_device, kind, method):
    for n in range(5, 9):
        for seed in range(3 if n < 8 else 1):
            distances = distances_of(kind, n, seed)
            length, _, optimal_tours = all_tours(distances)
            assert proved(cpu, distances, **method) == (length, optimal_tours), (n, seed)


@pytest.mark.parametrize("unrolled", [True, False])
@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 10, 11, 12])
def test_every_depth_proves_the_same(cpu, few_on_the_device, n, unrolled):
    distances = distances_of("clustered" if n % 2 else "any", n, 7)
    length, _, optimal_tours = held_karp(distances)
    for depth in range(1, min(6, max(1, n - 4)) + 1):
        found = ExactSearch(cpu, Solo(), distances, depth=depth, unrolled=unrolled, count=True, **EDGES).run()
        assert (found.length, found.optimal_tours) == (length, optimal_tours), depth


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(map(str, method.values())))
def test_the_published_mapping_proves_the_same_on_every_backend(backend, few_on_the_device, method):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator has a test of its own")
    sizes = (5, 6) if backend.name == "python" else (5, 8, 10)
    for n, kind in zip(sizes, ("uniform", "grid", "clustered"), strict=False):
        if n == 10 and method["bound"] == "none":
            continue
        distances = distances_of(kind, n, 5)
        length, _, optimal_tours = all_tours(distances)
        assert proved(backend, distances, **method) == (length, optimal_tours)


SIMULATED = """
from cluster import Solo
from core.search.exact import ExactSearch, search
from tests.core.search.exact.test_exact import distances_of
from tests.core.search.exact.test_published import METHODS
search.ON_THE_HOST = 4
for method in METHODS:
    found = ExactSearch(backend, Solo(), distances_of("grid", 6, 1), count=True, **method).run()
    print(found.length, found.optimal_tours)
"""


@pytest.mark.xdist_group("simulator")
def test_the_simulator_of_cuda_proves_the_same():
    length, _, optimal_tours = all_tours(distances_of("grid", 6, 1))
    assert simulated(SIMULATED).splitlines() == [f"{length} {optimal_tours}"] * len(METHODS)


@pytest.mark.parametrize("name", ["eil13", "burma14", pytest.param("gr17", marks=pytest.mark.slow)])
@pytest.mark.parametrize("unrolled", [True, False])
def test_instances_of_the_thesis(cpu, name, unrolled, shared_data):
    path = shared_data / ("vrp" if name == "eil13" else "tsplib") / f"{name}.{'vrp' if name == 'eil13' else 'tsp'}"
    instance = tsp.load(str(path), None)
    solution = ExactSearch(cpu, Solo(), instance.distances, unrolled=unrolled, **EDGES).run()
    assert solution.length == THESIS[name] == instance.tour_length(solution.tour)
    assert solution.digest == ExactSearch(cpu, Solo(), instance.distances).run().digest  # the suite's 1-trees


def test_edges_that_no_short_tour_has_may_be_of_any_length(oracle, few_on_the_device):
    """The oracle raises where a sum does not fit 32 bits."""
    rng = np.random.default_rng(3)
    distances = rng.integers(1, 21, (6, 6))
    distances[rng.random((6, 6)) < 0.4] = 2**31 - 1
    distances[np.arange(5), np.arange(1, 6)] = distances[0, 5] = 15  # a ring, for a short start tour
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    expected = all_tours(distances)
    for method in METHODS:
        assert proved(oracle, distances, **method) == (expected.length, expected.optimal_tours)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_tour_that_is_shorter_than_the_start_is_kept(oracle, few_on_the_device, method):
    distances = tsp.load("uniform:7:seed=24").distances.astype(np.int64)
    search = ExactSearch(oracle, Solo(), distances, **method)
    solution = search.run()
    assert solution.length == all_tours(distances).length < solution.start_length
    assert distances[solution.tour, np.roll(solution.tour, -1)].sum() == solution.length


# --- the thesis' nodes ---


@pytest.mark.parametrize("unrolled", [True, False])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "grid", "any"])
def test_one_lane_explores_the_nodes_of_the_text(cpu, few_on_the_device, kind, unrolled):
    for n in (5, 6, 8, 9, 10):
        distances = distances_of(kind, n, 2)
        start = improved_by_2opt(distances, greedy_edge_tour(distances))
        start_length = int(distances[start, np.roll(start, -1)].sum())
        for depth in {1, min(2, n - 4), n - 4}:
            solution = ExactSearch(cpu, Solo(), distances, depth=depth, unrolled=unrolled, **EDGES).run()
            nodes, length = published_nodes(distances, depth, start_length)
            assert solution.start_length == start_length
            assert solution.nodes.tolist() == nodes, (n, depth)
            assert solution.length == length


def test_only_what_is_larger_than_the_incumbent_is_left_out(cpu):
    """Without distances every bound equals every tour, and nothing is left out; the suite leaves out everything."""
    distances = np.zeros((8, 8), int)
    published = ExactSearch(cpu, Solo(), distances, **EDGES)
    assert published.run().nodes.tolist() == ExactSearch(cpu, Solo(), distances, **WORKLIST).run().nodes.tolist()
    assert ExactSearch(cpu, Solo(), distances, bound="edges").run().nodes.sum() == 0


def test_without_a_bound_all_nodes_are_explored(cpu):
    distances = distances_of("uniform", 9, 1)
    for depth in (1, 5):
        solution = ExactSearch(cpu, Solo(), distances, depth=depth, **WORKLIST).run()
        nodes, length = published_nodes(distances, depth, solution.start_length, bounded=False)
        assert (solution.nodes.tolist(), solution.length) == (nodes, length)


@pytest.mark.parametrize(("n", "depth"), [(8, 4), (9, 5), (10, 6), (11, 7), (13, 7), (30, 7)])
def test_items_have_seven_cities_or_as_many_as_there_can_be(cpu, n, depth):
    assert ExactSearch(cpu, Solo(), distances_of("uniform", n, 1), **EDGES).method.depth == depth


# --- launches ---


def test_a_lane_that_looks_up_often_counts_the_same(cpu):
    distances = distances_of("uniform", 10, 4)
    expected = ExactSearch(cpu, Solo(), distances, depth=3, count=True, **EDGES).run()
    for patience in (1, 2, 7):
        search = ExactSearch(cpu, Solo(), distances, depth=3, count=True, **EDGES)
        search.method.patience = patience
        found = search.run()
        assert found.nodes.tolist() == expected.nodes.tolist()
        assert (found.length, found.optimal_tours) == (expected.length, expected.optimal_tours)


@pytest.mark.parametrize("method", [WORKLIST, PERMUTATIONS], ids=["worklist", "permutations"])
def test_slices_lose_and_double_no_item(cpu, method):
    distances = distances_of("any", 8, 1)
    length, _, optimal_tours = all_tours(distances)
    for most in (1, 5, 64):
        search = ExactSearch(cpu, Solo(), distances, count=True, **method)
        search.method.first_slice = search.method.least_slice = search.method.most_slice = most
        found = search.run()
        assert (found.length, found.optimal_tours) == (length, optimal_tours)
        assert found.nodes.sum() == search.work


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(map(str, method.values())))
def test_a_wide_device_has_a_lane_for_every_item(oracle, few_on_the_device, monkeypatch, method):
    oracle.capabilities = oracle.capabilities._replace(max_team_size=4, lanes_resident=8, compute_units=2)
    launched = []
    launch = oracle.launch

    def noted(kernel, teams, lanes, *arguments):
        launched.append((kernel, teams * lanes))
        launch(kernel, teams, lanes, *arguments)

    monkeypatch.setattr(oracle, "launch", noted)
    distances = distances_of("any", 6, 3)
    search = ExactSearch(oracle, Solo(), distances, depth=2, count=True, **method)
    assert (search.method.team_size, search.method.slice_seconds) == (4, 10)
    found = search.run()
    length, _, optimal_tours = all_tours(distances)
    assert (found.length, found.optimal_tours) == (length, optimal_tours)
    items = search.method.items
    expected = permute if method is PERMUTATIONS else search_items
    assert all(kernel is expected for kernel, _ in launched)
    lanes = sum(lanes for _, lanes in launched)
    assert 2 * items <= lanes < 2 * items + 4 * len(launched)  # to find one, to count all; whole teams


@pytest.mark.parametrize(
    ("items", "units", "lanes"),
    [(1, 132, 32), (132 * 32, 132, 32), (132 * 64 - 1, 132, 32), (132 * 64, 132, 64), (4_037_880, 132, 64)],
)
def test_teams_are_small_where_there_are_few_items(oracle, items, units, lanes):
    assert team_size(items, oracle.capabilities._replace(max_team_size=1024, compute_units=units)) == lanes
    assert team_size(items, oracle.capabilities._replace(max_team_size=8, compute_units=units)) == 8
    assert MOST_LANES % TEAM_SIZE == 0


SCRIPT = """
from backends import create
from cluster import communicator
from core.search.exact import ExactSearch
from tests.core.search.exact.test_exact import distances_of
from tests.core.search.exact.test_published import METHODS
ranks = communicator()
backend = create("cpu")
for method in METHODS:
    search = ExactSearch(backend, ranks, distances_of("clustered", 9, 6), count=True, **method)
    search.method.first_slice = search.method.least_slice = search.method.most_slice = 100
    solution = search.run()
    if search.method.bounded is False:
        assert solution.nodes.sum() == search.work
    if ranks.rank == 0:
        print(solution.length, solution.optimal_tours, solution.tour.tolist() if ranks.size == 1 else "")
"""


@pytest.mark.xdist_group("mpi")
def test_ranks_share_the_items_and_prove_the_same(mpirun):
    length, _, optimal_tours = all_tours(distances_of("clustered", 9, 6))
    done = mpirun(3, "-c", SCRIPT)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [[str(length), str(optimal_tours)]] * len(METHODS)
    alone = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert alone.returncode == 0, alone.stderr


# --- the host, and what is refused ---


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_up_to_seven_cities_are_searched_on_the_host(cpu, n):
    distances = distances_of("any", n, 1)
    for method in METHODS:
        search = ExactSearch(cpu, Solo(), distances, count=True, **method)
        search.warm_up()
        found = search.run()
        assert search.on_host and search.method is None
        assert (found.length, found.optimal_tours) == (all_tours(distances).length, all_tours(distances).optimal_tours)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (8, {"mapping": "published"}, "mapping published: the thesis has no 1-trees; expected with bound edges"),
        (8, {"mapping": "published", "bound": "one-tree"}, "mapping published: the thesis has no 1-trees"),
        (8, {"mapping": "papers", "bound": "edges"}, "mapping 'papers'; choose one of suite, published"),
        (8, {**EDGES, "depth": 5}, "items of 5 cities: expected 1 to 4 of 8"),
        (30, {**WORKLIST, "depth": 15}, "which is a depth of 14"),
        (21, PERMUTATIONS, "at most 20 cities"),
        (31, EDGES, "at most 30"),
    ],
)
def test_what_is_not_published_or_too_large_is_refused_in_one_line(cpu, n, options, message):
    with pytest.raises(UserError, match=message) as refused:
        ExactSearch(cpu, Solo(), 1 - np.eye(n, dtype=int), **options)
    assert "\n" not in str(refused.value)


def test_lengths_at_the_limit_are_searched(oracle, few_on_the_device):
    """A start tour just below the limit, of which every edge is as long as may be."""
    length = (2**26 - 2) // 5
    distances = np.full((5, 5), length) - length * np.eye(5, dtype=int)
    for method in METHODS:
        assert proved(oracle, distances, **method) == (5 * length, 12)


def test_the_reimplementation_of_the_text_finds_what_all_permutations_have():
    distances = distances_of("any", 7, 9)
    lengths = [
        distances[list(tour), np.roll(tour, -1)].sum()
        for tour in ((0, *rest) for rest in itertools.permutations(range(1, 7)))
    ]
    for depth in (1, 3):
        assert published_nodes(distances, depth, 10**6)[1] == min(lengths)
