"""Max-cut and QUBO: values by loops and by brute force, kept fields behind walks, graphs and matrices as instances."""

import itertools

import numpy as np

from core.problems import graphs, quadratic
from core.problems.max_cut import MaxCut
from core.problems.max_k_cut import MaxKCut


def all_bits(n):
    return np.array(list(itertools.product((0, 1), repeat=n)))


def test_known_graphs_have_their_known_cuts():
    ring = np.roll(np.eye(8, dtype=int), 1, axis=1)
    assert MaxCut(graphs.GraphInstance("ring", ring + ring.T, 2)).costs(all_bits(8)).min() == -8
    complete = np.ones((9, 9), dtype=int) - np.eye(9, dtype=int)
    assert MaxCut(graphs.GraphInstance("K9", complete, 2)).costs(all_bits(9)).min() == -20


def test_a_cut_and_what_it_leaves_make_up_all_weights():
    graph = graphs.load("random:12:seed=3")
    bits = all_bits(12)[::37]
    left = [MaxKCut(graph).cost(one) for one in bits]
    assert (MaxCut(graph).costs(bits) + graph.weights.sum() // 2).tolist() == left


def test_more_rows_than_are_multiplied_at_a_time(monkeypatch):
    form = quadratic.of_graph(graphs.load("random:30:weights=-3..9"))
    bits = np.random.default_rng(4).integers(0, 2, (5, 30))
    expected = form.values(bits).tolist()
    monkeypatch.setattr(quadratic, "ROWS", 7)
    assert form.values(bits).tolist() == expected


def test_a_graph_is_found_by_path_name_and_generator(tmp_path):
    (tmp_path / "gset").mkdir()
    (tmp_path / "gset" / "G0").write_text("3 2\n1 2 5\n2 3 -7\n")
    problems = [MaxCut(str(tmp_path / "gset" / "G0")), MaxCut("G0", tmp_path)]
    assert [(one.name, one.cost(np.array([0, 1, 1]))) for one in problems] == [("G0", -5)] * 2
    named = MaxCut("random:9:density=0.3")
    assert named.name == "maxcut:9:2:seed=0:density=0.3:weights=1..10"
    assert MaxCut(named.name).sha256 == named.sha256 != problems[0].sha256
