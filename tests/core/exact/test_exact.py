"""Exact search finds and counts the shortest tours: against full search, dynamic programming and the thesis."""

import numpy as np
import pytest

from cluster import Solo
from core import tours as tsp
from core.errors import UserError
from core.exact import ExactSearch, enumeration
from core.exact.kernels.branch_and_bound import OpenNode, stack_room
from core.exact.kernels.tour_search import BestTour
from core.tours.small_tours import enumerate_tours
from tests.core.exact.proofs import (
    EDGES,
    KINDS,
    METHODS,
    WORKLIST,
    check_history,
    check_shared_histories,
    distances_of,
    name_of,
    proved,
    shared_proofs,
)
from tests.thread_ranks import on_ranks, twin

# The 15 instances of tables 5.1 and 5.2 of the thesis and the lengths printed there.
THESIS = {
    "national/p01.tsp": 291,
    **{f"vrp/eil{n}.vrp": length for n, length in ((7, 66), (13, 142), (22, 278), (23, 470), (30, 381))},
    **{"tsplib/burma14.tsp": 3323, "tsplib/ulysses16.tsp": 6859, "tsplib/ulysses22.tsp": 7013},
    **{"tsplib/gr17.tsp": 2085, "tsplib/gr21.tsp": 2707, "tsplib/gr24.tsp": 1272},
    **{"tsplib/fri26.tsp": 937, "tsplib/bays29.tsp": 2020, "tsplib/bayg29.tsp": 1610},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_and_the_count_of_full_search(cpu, few_on_the_device, kind):
    for n in range(1, 9):
        for seed in range(3 if n < 8 else 1):
            distances = distances_of(kind, n, seed)
            length, _, optimal_tours = enumerate_tours(distances)
            for method in METHODS:
                if n > 4 or method == METHODS[0]:
                    assert proved(cpu, distances, **method) == (length, optimal_tours), (n, seed, method)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_the_same_proof_on_every_backend(backend, few_on_the_device, method):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes")
    for n, kind in ((5, "uniform"), (6, "clustered")) if backend.name == "python" else ((5, "uniform"), (8, "grid")):
        distances = distances_of(kind, n, 5)
        length, _, optimal_tours = enumerate_tours(distances)
        assert proved(backend, distances, **method) == (length, optimal_tours)


@pytest.mark.parametrize("name", THESIS)
def test_the_instances_of_the_thesis(cpu, name, shared_data):
    instance = tsp.load(str(shared_data / name), None)
    solution = ExactSearch(cpu, Solo(), instance.distances).run()
    assert solution.length == THESIS[name] == instance.tour_length(solution.tour)


@pytest.mark.parametrize(
    "name", ["vrp/eil13.vrp", *(pytest.param(f"tsplib/{n}.tsp", marks=pytest.mark.slow) for n in ("burma14", "gr17"))]
)
@pytest.mark.parametrize("unrolled", [True, False])
def test_the_published_mapping_on_instances_of_the_thesis(cpu, name, unrolled, shared_data):
    instance = tsp.load(str(shared_data / name), None)
    solution = ExactSearch(cpu, Solo(), instance.distances, unrolled=unrolled, **EDGES).run()
    assert solution.length == THESIS[name] == instance.tour_length(solution.tour)
    assert solution.digest == ExactSearch(cpu, Solo(), instance.distances).run().digest  # the suite's 1-trees


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 7])
def test_ranks_prove_the_same_and_lose_and_double_nothing(cpu, size, monkeypatch):
    moved, plan = [], enumeration.plan_transfers
    monkeypatch.setattr(enumeration, "plan_transfers", lambda every: moved.append(plan(every)) or moved[-1])
    proofs = on_ranks(size, lambda ranks: list(shared_proofs(ranks, twin(cpu))))
    assert any(moved) and proofs == [list(shared_proofs(Solo(), cpu))] * size
    on_ranks(size, lambda ranks: check_shared_histories(ranks, twin(cpu)))


def test_the_shape_of_a_launch_does_not_matter(oracle):
    distances = distances_of("any", 6, 4)
    expected = enumerate_tours(distances)
    for team_size in (1, 4):
        for bound in ("edges", "one-tree"):
            search = ExactSearch(oracle, Solo(), distances, bound=bound, count=True)
            search.method.team_size = team_size
            search.method.best = oracle.rows(BestTour(), 64)
            search.method.lanes = 64
            if bound == "one-tree":
                search.method.stacks = oracle.rows(OpenNode(), 64 * stack_room(6))
                search.method.wanted = 6
            solution = search.run()
            assert (solution.length, solution.optimal_tours) == (expected[0], expected[2])


@pytest.mark.parametrize(
    ("distances", "options", "message"),
    [
        (np.ones((31, 31), int), {}, "31 cities: exact search takes at most 30"),
        (np.array([[0, 1, 2], [3, 0, 1], [2, 1, 0]]), {}, "distance 1 from city 0 to 1 and 3 back"),
        (np.array([[0, -1], [-1, 0]]), {}, r"distance -1 at \[0, 1\]"),
        (np.full((6, 6), 0.5), {}, "such as 0.5"),
        (np.ones((2, 3), int), {}, "expected a square matrix"),
        (np.full((6, 6), 1 << 24), {}, "expected below 16777216"),
        (np.ones((8, 8), int), {"bound": "cuts"}, "choose one of one-tree, edges, none"),
        (np.ones((8, 8), int), {"bound": "edges", "depth": 5}, "items of 5 cities: expected 1 to 4 of 8"),
        (np.ones((8, 8), int), {"mapping": "published"}, "the thesis has no 1-trees; expected with bound edges"),
        (np.ones((8, 8), int), {**EDGES, "mapping": "papers"}, "mapping 'papers'; choose one of native, published"),
        (np.ones((8, 8), int), {**EDGES, "start": "any"}, "start 'any'; choose one of greedy, order"),
        (np.ones((8, 8), int), {**EDGES, "depth": 5}, "items of 5 cities: expected 1 to 4 of 8"),
        (np.ones((30, 30), int), {**WORKLIST, "depth": 15}, "which is a depth of 14"),
    ],
)
def test_what_is_no_such_problem_is_refused_in_one_line(cpu, distances, options, message):
    with pytest.raises(UserError, match=message) as refused:
        ExactSearch(cpu, Solo(), distances, **options)
    assert "\n" not in str(refused.value)


def with_long_edges(n, seed, lengths):
    """Distances with some edges of these lengths, and a ring of short ones for a short start tour."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(1, 21, (n, n))
    distances[rng.random((n, n)) < 0.3] = rng.choice(lengths)
    distances[np.arange(n - 1), np.arange(1, n)] = distances[0, n - 1] = 15
    return np.triu(distances, 1) + np.triu(distances, 1).T


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_edges_that_no_short_tour_has_may_be_of_any_length(cpu, oracle, few_on_the_device, method):
    """A length of 2^26 or more, shifted by 5 bits, would become short or negative. The oracle raises beyond 32 bits."""
    for seed in range(4):
        distances = with_long_edges(8, seed, [1 << 26, 1 << 27, 2**31 - 1])
        expected = enumerate_tours(distances)
        assert proved(cpu, distances, **method) == (expected.length, expected.optimal_tours)
    distances = with_long_edges(6, 3, [2**31 - 1])
    expected = enumerate_tours(distances)
    assert proved(oracle, distances, **method) == (expected.length, expected.optimal_tours)


@pytest.mark.parametrize("method", METHODS, ids=name_of)
def test_a_search_without_a_heuristic_proves_the_same_from_the_order_of_the_cities(backend, few_on_the_device, method):
    if backend.device.driver == "simulated":
        pytest.skip("the simulator takes minutes")
    distances = distances_of("uniform", 6 if backend.name == "python" else 8, 13)
    expected = enumerate_tours(distances)
    search = ExactSearch(backend, Solo(), distances, **method, count=True, start="order")
    outcome = search.run()
    assert outcome.start_length == tsp.tour_length(distances, np.arange(len(distances))) > outcome.length
    assert (outcome.length, outcome.optimal_tours) == (expected.length, expected.optimal_tours)


def test_every_run_makes_its_start_tour(cpu, monkeypatch):
    """The time of the heuristic is that of a run, as in the thesis; the first one is made for the check of lengths."""
    made = []
    monkeypatch.setattr("core.exact.search.greedy_tour", lambda cities: made.append(cities) or np.arange(len(cities)))
    search = ExactSearch(cpu, Solo(), distances_of("uniform", 8, 13), bound="edges")
    assert search.run().length == search.run().length and len(made) == 3


# --- histories ---


@pytest.mark.parametrize("bound", ["one-tree", "edges", "none"])
def test_incumbents_lead_from_the_start_to_the_shortest(cpu, bound):
    distances = tsp.load("uniform:10:seed=13").distances
    reported = []
    search = ExactSearch(cpu, Solo(), distances, count=True, bound=bound)
    outcome = search.run(callback=reported.append, history=True)
    assert outcome.length < outcome.start_length
    check_history(outcome)
    assert reported[-1].cost == outcome.length and reported[-1].evaluations == outcome.nodes.sum()
    plain = search.run()
    assert (plain.history, plain.digest, plain.length) == (None, outcome.digest, outcome.length)


def test_every_slice_may_have_an_incumbent_of_its_own(cpu, monkeypatch):
    monkeypatch.setattr(enumeration, "SLICE_SECONDS_OF_CORES", 0.0)
    monkeypatch.setattr(enumeration, "ITEMS_PER_CORE", 64)
    distances = tsp.load("uniform:11:seed=13").distances
    outcome = ExactSearch(cpu, Solo(), distances, bound="edges").run(history=True)
    check_history(outcome)
    assert len(outcome.history) > 2


@pytest.mark.parametrize(("seed", "lengths"), [(1, 1), (24, 2)])
def test_a_search_on_the_host_has_the_start_and_what_is_shorter(cpu, seed, lengths):
    outcome = ExactSearch(cpu, Solo(), tsp.load(f"uniform:7:seed={seed}").distances).run(history=True)
    check_history(outcome)
    assert len(outcome.history) == lengths
    assert lengths == 1 or outcome.history[-1][1] == outcome.nodes.sum()
