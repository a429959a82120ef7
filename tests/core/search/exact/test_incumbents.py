"""The history of an exact search: incumbents in the order in which the host saw them, from the start to the proof."""

import pytest

from cluster import Solo
from core.problems import tsp
from core.search.exact import ExactSearch
from core.search.exact import enumeration as module
from tests.core.search.exact.proofs import check_history


@pytest.mark.parametrize("bound", ["one-tree", "edges", "none"])
def test_incumbents_lead_from_the_start_to_the_shortest(cpu, bound):
    distances = tsp.load("uniform:10:seed=13").distances
    told = []
    search = ExactSearch(cpu, Solo(), distances, count=True, bound=bound)
    outcome = search.run(callback=told.append, history=True)
    assert outcome.length < outcome.start_length
    check_history(outcome)
    assert told[-1].cost == outcome.length and told[-1].evaluations == outcome.nodes.sum()
    plain = search.run()
    assert plain.history is None
    assert (plain.digest, plain.length) == (outcome.digest, outcome.length)


def test_every_slice_may_have_an_incumbent_of_its_own(cpu, monkeypatch):
    monkeypatch.setattr(module, "SLICE_SECONDS_OF_CORES", 0.0)
    monkeypatch.setattr(module, "ITEMS_PER_CORE", 64)
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
