"""Exact searches explore the nodes that the thesis' text says, one by one, however launches and ranks part the work."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster import Solo
from core import tours as tsp
from core.exact import ExactSearch
from core.exact.enumeration import PendingWork, plan_transfers
from core.exact.kernels.published_search import search_items
from core.run.loop import AsynchronousRun
from core.run.stop import Stop
from core.tours.small_tours import enumerate_tours
from tests.core.exact.proofs import EDGES, PUBLISHED, WORKLIST, distances_of, name_of, proved


def shortest_edges(distances):
    return (distances + np.diag(np.full(len(distances), 10**9))).min(axis=1)


def counted_nodes(distances, limit):
    """Plain Python of the thesis' search on one lane: nodes of each number of cities, and the shortest length."""
    n = len(distances)
    shortest = shortest_edges(distances)
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

    visit([0], frozenset(range(1, n)), int(shortest.sum()))
    return nodes, best


def published_nodes(distances, depth, limit, bounded=True):
    """Plain Python of section 2.2: nodes of each number of cities with three or more left, and the shortest length."""
    n = len(distances)
    table = distances.tolist()
    shortest = shortest_edges(distances).tolist()
    nodes = [0] * (n + 1)
    incumbent = limit

    def visit(path, unvisited, length):
        nonlocal incumbent
        if bounded and length + sum(shortest[city] for city in unvisited) > incumbent:
            return
        if len(unvisited) >= 3:
            nodes[len(path)] += 1
        if not unvisited:
            incumbent = min(incumbent, length + table[path[-1]][0])
        for k, city in enumerate(unvisited):
            visit([*path, city], unvisited[:k] + unvisited[k + 1 :], length + table[path[-1]][city])

    for chosen in itertools.permutations(range(1, n), depth - 1):
        path = [0, *chosen]
        unvisited = [city for city in range(1, n) if city not in chosen]
        visit(path, unvisited, sum(table[a][b] for a, b in itertools.pairwise(path)))
    return nodes, incumbent


@pytest.mark.parametrize("kind", ["uniform", "clustered", "grid", "any"])
def test_one_lane_of_the_suite_explores_the_nodes_of_the_thesis_search(cpu, kind):
    for n in (5, 6, 8, 10):
        distances = distances_of(kind, n, 2)
        solution = ExactSearch(cpu, Solo(), distances, bound="edges", depth=1).run()
        nodes, length = counted_nodes(distances, solution.start_length)
        assert np.array_equal(solution.nodes, nodes)
        assert solution.length == length


@pytest.mark.parametrize("unrolled", [True, False])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "grid", "any"])
def test_one_lane_of_the_published_mapping_explores_the_nodes_of_the_text(cpu, few_on_the_device, kind, unrolled):
    for n in (5, 6, 8, 9):
        distances = distances_of(kind, n, 2)
        for depth in {1, min(2, n - 4), n - 4}:
            solution = ExactSearch(cpu, Solo(), distances, depth=depth, unrolled=unrolled, **EDGES).run()
            nodes, length = published_nodes(distances, depth, solution.start_length)
            assert solution.nodes.tolist() == nodes, (n, depth)
            assert solution.length == length


def test_only_what_is_larger_than_the_incumbent_is_left_out(cpu):
    """Without distances all bounds equal all tours. The thesis explores everything then, the suite nothing."""
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


@pytest.mark.parametrize("method", PUBLISHED, ids=name_of)
def test_a_tour_that_is_shorter_than_the_start_is_kept(oracle, few_on_the_device, method):
    distances = tsp.load("uniform:7:seed=24").distances.astype(np.int64)
    solution = ExactSearch(oracle, Solo(), distances, **method).run()
    assert solution.length == enumerate_tours(distances).length < solution.start_length
    assert distances[solution.tour, np.roll(solution.tour, -1)].sum() == solution.length


@pytest.mark.parametrize(("n", "depth"), [(8, 4), (9, 5), (10, 6), (11, 7), (13, 7), (30, 7)])
def test_items_have_seven_cities_or_as_many_as_there_can_be(cpu, n, depth):
    assert ExactSearch(cpu, Solo(), distances_of("uniform", n, 1), **EDGES).method.depth == depth


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_up_to_seven_cities_are_searched_on_the_host(cpu, n):
    distances = distances_of("any", n, 1)
    for method in PUBLISHED:
        search = ExactSearch(cpu, Solo(), distances, count=True, **method)
        search.warm_up()
        outcome = search.run()
        assert search.on_host and search.method is None
        assert (outcome.length, outcome.optimal_tours) == (
            enumerate_tours(distances).length,
            enumerate_tours(distances).optimal_tours,
        )


def test_lengths_at_the_limit_are_searched(oracle, few_on_the_device):
    """The start tour is just below the limit, and all its edges have the largest length."""
    length = (2**26 - 2) // 5
    distances = np.full((5, 5), length) - length * np.eye(5, dtype=int)
    for method in PUBLISHED:
        assert proved(oracle, distances, **method) == (5 * length, 12)


# --- launches ---


def test_lanes_that_hand_on_what_is_left_lose_and_double_nothing(cpu):
    for n, patience in ((8, 1), (9, 7), (11, 50)):
        distances = distances_of("uniform", n, 3)
        whole = ExactSearch(cpu, Solo(), distances, bound="edges", depth=2)
        parted = ExactSearch(cpu, Solo(), distances, bound="edges", depth=2)
        parted.method.patience = patience
        best = whole.run().length
        for search in (whole, parted):
            search.method.prepare(Solo(), best, best, None)
            search.method.explore(AsynchronousRun(Solo(), Stop()), False, None)
        assert np.array_equal(whole.method.nodes, parted.method.nodes)
        assert parted.run().length == best


def test_counts_are_added_up_before_their_words_are_full(oracle):
    distances = distances_of("any", 7, 2)
    oracle.capabilities = oracle.capabilities._replace(max_team_size=2, lanes_resident=2)
    expected = ExactSearch(oracle, Solo(), distances, bound="none", depth=1).run()
    search = ExactSearch(oracle, Solo(), distances, bound="none", depth=1)
    assert search.method.patience * search.method.rounds_to_count <= 2**30
    search.method.patience, search.method.rounds_to_count = 5, 2
    solution = search.run()
    assert solution.nodes.tolist() == expected.nodes.tolist()
    assert search.work == solution.nodes.sum()


def test_a_lane_that_looks_up_often_counts_the_same(cpu):
    distances = distances_of("uniform", 10, 4)
    expected = ExactSearch(cpu, Solo(), distances, depth=3, count=True, **EDGES).run()
    for patience in (1, 2, 7):
        search = ExactSearch(cpu, Solo(), distances, depth=3, count=True, **EDGES)
        search.method.patience = patience
        outcome = search.run()
        assert outcome.nodes.tolist() == expected.nodes.tolist()
        assert (outcome.length, outcome.optimal_tours) == (expected.length, expected.optimal_tours)


def test_slices_lose_and_double_no_item(cpu):
    distances = distances_of("any", 8, 1)
    length, _, optimal_tours = enumerate_tours(distances)
    for most in (1, 5, 64):
        search = ExactSearch(cpu, Solo(), distances, count=True, **WORKLIST)
        search.method.first_slice = search.method.least_slice = search.method.most_slice = most
        outcome = search.run()
        assert (outcome.length, outcome.optimal_tours) == (length, optimal_tours)
        assert outcome.nodes.sum() == search.work


@pytest.mark.parametrize("method", PUBLISHED, ids=name_of)
def test_teams_of_a_wide_device_take_an_item_for_each_lane(oracle, few_on_the_device, monkeypatch, method):
    """The first search makes launches of growing size, a repetition makes one; its teams take all items."""
    oracle.capabilities = oracle.capabilities._replace(max_team_size=4, lanes_resident=8, compute_units=2)
    launched = []
    launch = oracle.launch

    def noted(kernel, teams, lanes, *arguments):
        launched.append((kernel, teams, lanes))
        launch(kernel, teams, lanes, *arguments)

    monkeypatch.setattr(oracle, "launch", noted)
    distances = distances_of("any", 7, 3)
    search = ExactSearch(oracle, Solo(), distances, depth=3, **method)
    length, _, optimal_tours = enumerate_tours(distances)
    assert search.method.items == 30
    for launches in ([4, 4], [4]):
        launched.clear()
        outcome = search.run()
        assert outcome.length == length
        assert launched == [(search_items, teams, 4) for teams in launches]
        assert outcome.nodes.sum() == search.work or search.work is None
    assert proved(oracle, distances, depth=3, **method) == (length, optimal_tours)


def holding(records, lanes=1, room=1000, speed=10):
    return PendingWork(records, lanes, room, speed)


def after(states, transfers):
    records = [one.records for one in states]
    for source, to, count in transfers:
        assert count > 0 and source != to
        records[source] -= count
        records[to] += count
    return records


@pytest.mark.parametrize(
    ("loads", "records"),
    [
        ([holding(8), holding(0)], [4, 4]),
        ([holding(0), holding(9), holding(0)], [3, 3, 3]),
        ([holding(12, speed=10), holding(0, speed=30)], [3, 9]),
        ([holding(8, speed=0), holding(0, speed=0)], [4, 4]),
        ([holding(8, speed=0), holding(0, speed=5), holding(1, speed=5)], [3, 3, 3]),
        ([holding(100, room=100), holding(0, room=3)], [97, 3]),
        ([holding(900_000, lanes=1000, room=10**6), holding(100, lanes=1000, room=10**6)], [450_050, 450_050]),
        ([holding(1, speed=1), holding(0, lanes=1000, speed=1000)], [0, 1]),
    ],
    ids=lambda value: None if isinstance(value[0], PendingWork) else "-".join(map(str, value)),
)
def test_many_records_go_where_there_are_few_or_where_they_are_explored_sooner(loads, records):
    assert after(loads, plan_transfers(loads)) == records


@given(
    st.lists(
        st.builds(PendingWork, st.integers(0, 500), st.integers(1, 64), st.integers(500, 2000), st.integers(0, 10**9)),
        min_size=1,
        max_size=9,
    )
)
def test_moves_keep_all_records_and_every_room(loads):
    transfers = plan_transfers(loads)
    records = after(loads, transfers)
    assert sum(records) == sum(one.records for one in loads)
    assert all(0 <= count <= one.room for count, one in zip(records, loads, strict=True))
    givers, takers = ({move[end] for move in transfers} for end in (0, 1))
    assert not givers & takers
