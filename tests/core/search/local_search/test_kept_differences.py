"""A search that keeps its neighbours' differences makes the same iterations as one that looks at all neighbours."""

import pytest

from cluster import Solo
from core.problems.more.max_cut import graphs
from core.problems.more.max_cut.k_cut import MaxKCut
from core.problems.more.max_cut.problem import MaxCut
from core.problems.more.max_sat.problem import MaxSat
from core.search import local_search
from core.search.local_search import Iterations, LocalSearch, memory
from tests.core.search.local_search.table import result_of

TIED = "random:70:density=0.06:seed=4"
"""A graph without weights has many ties."""
SMALL = "random:32:density=0.05:seed=4:weights=-20..20"
WEIGHTED = "random:90:density=0.05:seed=4:weights=-20..20"
ALGORITHMS = {
    "hill": (local_search.HillClimbing(), "flip1"),
    "hill again": (local_search.HillClimbing(restart=1), "flip1"),
    "tabu": (local_search.TabuSearch(), "flip1"),
    "tabu without chance": (local_search.TabuSearch(7, 0), "flip1"),
    "tabu long": (local_search.TabuSearch(14, 14), "flip1"),
    "tabu of moves": (local_search.TabuSearch(9, 9, "moves"), "flip1"),
    "tabu again": (local_search.TabuSearch(4, 4, restart=40), "flip1"),
    "ils": (local_search.IteratedLocalSearch(), "flip1"),
    "vns": (local_search.VariableNeighbourhoodSearch(), "flip1+flip2"),
}
each = [pytest.param(one, marks=() if one in ("tabu", "ils") else pytest.mark.slow) for one in ALGORITHMS]


def searched(backend, graph, algorithm, evaluation="sparse-fields", **how):
    asked, names = ALGORITHMS[algorithm]
    return LocalSearch(backend, Solo(), MaxCut(graph), asked, names.split("+"), seed=5, evaluation=evaluation, **how)


@pytest.fixture(params=[0, 2, 6], ids=lambda bits: f"parts of {1 << bits}")
def parts(request, monkeypatch):
    monkeypatch.setattr(memory, "PART_BITS", request.param)
    monkeypatch.setattr(memory, "WIDE_PART_BITS", request.param)


@pytest.mark.parametrize("graph", [TIED, WEIGHTED], ids=["tied", "weighted"])
@pytest.mark.parametrize("algorithm", each)
def test_the_same_neighbours_are_taken(cpu, graph, algorithm, parts):
    search = searched(cpu, graph, algorithm)
    assert search.plan.keeps_differences
    for iterations in (1, 3, 700):
        expected = searched(cpu, graph, algorithm, "local-fields").run(Iterations(iterations))
        assert search.run(Iterations(iterations)).digest == expected.digest


@pytest.mark.parametrize("algorithm", each)
def test_every_backend_takes_them(backend, cpu, algorithm, monkeypatch):
    if backend.name == "opencl" and not algorithm.startswith("tabu"):
        pytest.skip("Intel's compiler of 2026 crashes on the scan of a descent, with any evaluation of this problem")
    monkeypatch.setattr(memory, "PART_BITS", 2)
    few = Iterations(12)
    assert result_of(searched(backend, SMALL, algorithm), few) == result_of(
        searched(cpu, SMALL, algorithm, "local-fields"), few
    )


def divided(backend, algorithm, evaluation, graph=WEIGHTED, k=4):
    """The search that divides a graph in k parts by one of the algorithms."""
    problem, asked = MaxKCut(graphs.load(graph, k=k)), ALGORITHMS[algorithm][0]
    return LocalSearch(backend, Solo(), problem, asked, ["assign"], seed=5, evaluation=evaluation)


@pytest.mark.parametrize("algorithm", [one for one in each if one.values[0] != "vns"])
def test_vertices_move_to_the_same_of_four_parts(cpu, algorithm, parts):
    kept = divided(cpu, algorithm, "sparse-part-weights")
    assert kept.plan.keeps_differences
    for iterations in (1, 3, 700):
        expected = divided(cpu, algorithm, "part-weights").run(Iterations(iterations))
        assert kept.run(Iterations(iterations)).digest == expected.digest


def test_a_move_gives_its_tabu_value_another_index(cpu, monkeypatch):
    """The index lies in a part of other vertices, and only the end of the part's tabu status changes."""
    monkeypatch.setattr(memory, "PART_BITS", 3)
    kept, expected = (
        LocalSearch(
            cpu, Solo(), MaxKCut(graphs.load(SMALL, k=6)), local_search.TabuSearch(9, 9), ["assign"],
            seed=5, evaluation=evaluation,
        ).run(Iterations(5000))
        for evaluation in ("sparse-part-weights", "part-weights")
    )  # fmt: skip
    assert kept.digest == expected.digest


def test_every_backend_moves_vertices_to_the_same_of_three_parts(backend, cpu, monkeypatch):
    monkeypatch.setattr(memory, "PART_BITS", 2)
    monkeypatch.setattr(memory, "WIDE_PART_BITS", 2)
    kept, expected = (
        divided(device, "tabu", evaluation, SMALL, 3)
        for device, evaluation in ((backend, "sparse-part-weights"), (cpu, "part-weights"))
    )
    assert result_of(kept, Iterations(12)) == result_of(expected, Iterations(12))


@pytest.mark.parametrize("algorithm", [one for one in each if one.values[0] != "vns"])
def test_the_same_variables_are_flipped(cpu, algorithm):
    def searched(evaluation):
        problem = MaxSat("random:300:ratio=1.8:seed=2")
        return LocalSearch(cpu, Solo(), problem, ALGORITHMS[algorithm][0], ["flip1"], seed=5, evaluation=evaluation)

    kept = searched("sparse-literal-counts")
    assert kept.plan.keeps_differences
    for iterations in (1, 3, 700):
        expected = searched("literal-counts").run(Iterations(iterations))
        assert kept.run(Iterations(iterations)).digest == expected.digest


@pytest.mark.parametrize("shape", [(True, 5, 5, 1), (False, 4, 4, 3), (False, 1, 4, 3)], ids=str)
def test_the_shape_of_a_launch_does_not_matter(python, cpu, shape, monkeypatch):
    monkeypatch.setattr(memory, "WIDE_PART_BITS", 2)
    few = Iterations(12)
    search = searched(python, SMALL, "tabu")
    it = search.launcher.shape
    it.in_one_team, it.team_size, it.step_size, it.teams = shape
    assert result_of(search, few) == result_of(searched(cpu, SMALL, "tabu", "local-fields"), few)


def test_walks_with_a_history_and_exchanges_keep_them(cpu):
    how = {"level": "algorithm", "walks": 5, "exchange": 20, "history": True}
    kept, all_of_them = (
        searched(cpu, WEIGHTED, "tabu", evaluation, **how).run(Iterations(300))
        for evaluation in ("sparse-fields", "local-fields")
    )
    assert kept.digest == all_of_them.digest
    assert [note[:2] for note in kept.history] == [note[:2] for note in all_of_them.history]


def test_a_search_that_cannot_keep_them_looks_at_all_neighbours(cpu):
    problem = MaxCut(WEIGHTED)
    first = LocalSearch(cpu, Solo(), problem, local_search.HillClimbing(first=True), "flip1", seed=5)
    pairs = LocalSearch(cpu, Solo(), problem, local_search.TabuSearch(), "flip2", seed=5)
    assert not first.plan.keeps_differences
    assert not pairs.plan.keeps_differences
    assert pairs.run(Iterations(20)).digest == (
        LocalSearch(cpu, Solo(), problem, local_search.TabuSearch(), "flip2", seed=5, evaluation="linear")
        .run(Iterations(20)).digest
    )  # fmt: skip
