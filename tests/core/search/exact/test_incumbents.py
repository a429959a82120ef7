"""The history of an exact search: incumbents in the order in which the host saw them, from the start to the proof."""

import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from core.problems import tsp
from core.search.exact import ExactSearch
from core.search.exact import enumeration as module

BOUNDS = ({"bound": "one-tree"}, {"bound": "edges"}, {"bound": "none"})


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def holds(outcome):
    """Whether rows go from the start's length down to the shortest, numbered, and nothing goes back."""
    rows = outcome.history
    assert rows[0][:2] == [0, 0]
    assert rows[0][3] == outcome.start_length
    assert rows[-1][3] == outcome.length
    assert [row[0] for row in rows] == list(range(len(rows)))
    for column in (1, 2):
        values = [row[column] for row in rows]
        assert values == sorted(values) and values[0] >= 0
    lengths = [row[3] for row in rows]
    assert lengths == sorted(set(lengths), reverse=True)
    assert rows[-1][1] <= outcome.nodes.sum()
    return True


@pytest.mark.parametrize("options", BOUNDS, ids=lambda options: options["bound"])
def test_incumbents_lead_from_the_start_to_the_shortest(cpu, options):
    distances = tsp.load("uniform:10:seed=13").distances
    told = []
    search = ExactSearch(cpu, Solo(), distances, count=True, **options)
    outcome = search.run(callback=told.append, history=True)
    assert outcome.length < outcome.start_length
    assert holds(outcome)
    assert told[-1].cost == outcome.length and told[-1].evaluations == outcome.nodes.sum()  # others hear of it too
    plain = search.run()
    assert plain.history is None
    assert (plain.digest, plain.length) == (outcome.digest, outcome.length)


def test_every_slice_may_have_an_incumbent_of_its_own(cpu, monkeypatch):
    monkeypatch.setattr(module, "SLICE_SECONDS_OF_CORES", 0.0)
    monkeypatch.setattr(module, "ITEMS_PER_CORE", 64)
    distances = tsp.load("uniform:11:seed=13").distances
    outcome = ExactSearch(cpu, Solo(), distances, bound="edges").run(history=True)
    assert holds(outcome)
    assert len(outcome.history) > 2


@pytest.mark.parametrize(("seed", "lengths"), [(1, 1), (24, 2)])
def test_a_search_on_the_host_has_the_start_and_what_is_shorter(cpu, seed, lengths):
    outcome = ExactSearch(cpu, Solo(), tsp.load(f"uniform:7:seed={seed}").distances).run(history=True)
    assert holds(outcome)
    assert len(outcome.history) == lengths
    assert lengths == 1 or outcome.history[-1][1] == outcome.nodes.sum()


PROGRAM = """
from backends.cpu import CpuBackend
from cluster import communicator
from core.problems import tsp
from core.search.exact import ExactSearch
from tests.core.search.exact.test_incumbents import BOUNDS, holds
ranks = communicator()
for name, options in (*(("uniform:10:seed=13", one) for one in BOUNDS), ("uniform:7:seed=24", {})):
    search = ExactSearch(CpuBackend(CpuBackend.devices()[0]), ranks, tsp.load(name).distances, **options)
    outcome = search.run(history=True)
    assert holds(outcome)
    assert len(outcome.history) > 1
    every = ranks.gather(outcome.history)
    if ranks.rank == 0:
        assert every == [outcome.history] * ranks.size
        print("done", flush=True)
"""


@pytest.mark.xdist_group("mpi")
def test_ranks_put_their_incumbents_together(mpirun, tmp_path):
    program = tmp_path / "ranks.py"
    program.write_text(PROGRAM)
    done = mpirun(2, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["done"] * 4
