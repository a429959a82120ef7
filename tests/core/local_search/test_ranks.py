"""Ranks that share a local search find what one process finds, all of them the same."""

import functools
from unittest.mock import patch

import pytest

from backends.collectives import Collectives
from cluster import Solo
from core.local_search import Evaluation, Iterations, LocalSearch, ProblemError, TabuSearch, Unconfirmed
from tests.core.local_search import test_history, test_published, weighted
from tests.core.local_search.table import (
    FIRST,
    IN_TURN,
    KEPT,
    MORE_ROWS,
    QUICK_ROWS,
    ROWS,
    RULED,
    RULED_AGAIN,
    TOGETHER,
    WORDS,
    named,
    result_of,
    search,
)


def one_search(row, backend, ranks):
    return result_of(search(backend, ranks, row))


def exchanging(row, backend, ranks):
    """Of ranks that exchange keys in their kernels, as GPUs of one host do."""
    with patch.object(Collectives, "reaches_peers", True):
        made = search(backend, ranks, row)
        made.join(ranks)
        assert made.launcher.shape.exchanges == (ranks.size > 1)
        return result_of(made)


def published(row, backend, ranks):
    return result_of(test_published.make_search(backend, row, ranks, mapping="published", select=row[3]))


def history(row, how, backend, ranks):
    outcome = test_history.searching(backend, *row, ranks=ranks, **how).run(Iterations(25))
    return test_history.without_seconds(outcome)


def refused(delta, backend, ranks):
    problem = weighted.Weighted(list(range(1, 13)), only=Evaluation(delta))
    with pytest.raises((ProblemError, Unconfirmed)) as raised:
        LocalSearch(backend, ranks, problem, TabuSearch(), "flip1").run(Iterations(20))
    return str(raised.value)


QUICK = (KEPT, TOGETHER, RULED, RULED_AGAIN)
BY_TEAMS = ("ppp", "flip2", "bit-parallel", "tabu", {"level": "solution"})
FEW_WALKS = [row for row in ROWS if row[4].get("walks", 5) < 5]
RESTARTING = [row for row in MORE_ROWS if "again" in row[3]]
SEARCHES = {
    **{named(row): functools.partial(one_search, row) for row in QUICK},
    **{f"exchanging {named(row)}": functools.partial(exchanging, row) for row in (KEPT, BY_TEAMS)},
    "published": functools.partial(published, test_published.ROWS[0]),
    "history of walks": functools.partial(
        history, ("ppp9-11", "flip1", "hill"), {"level": "algorithm", "walks": 6, "exchange": 3}
    ),
    "a wrong subscript": functools.partial(refused, weighted.reads_beyond),
    "a wrong delta": functools.partial(refused, weighted.wrong_where_all_is_zero),
}
MORE = {
    **{named(row): functools.partial(one_search, row) for row in [*QUICK_ROWS, FIRST, *RESTARTING]
       if row not in (*QUICK, *FEW_WALKS)},
    **{f"exchanging {named(row)}": functools.partial(exchanging, row) for row in (WORDS, FIRST, RULED, IN_TURN)},
    **{"-".join(row): functools.partial(published, row) for row in test_published.ROWS[1:]},
    **{
        f"history {k}": functools.partial(history, row, how)
        for k, (row, how) in enumerate([
            (("qap6", "exchange2", "tabu"), {}),
            (("ppp9-11", "flip1+flip2+flip3", "vns"), {}),
            (("qap6", "exchange2", "tabu"), {"mapping": "published", "select": "host"}),
            (("qap6", "exchange2", "annealing"), {"level": "algorithm", "walks": 7}),
        ])
    },
}  # fmt: skip
PROGRAM = """
import sys
from backends.cpu.single_core import CpuBackend
from cluster import default_communicator
from tests.core.local_search import test_ranks
ranks = default_communicator()
backend = CpuBackend(CpuBackend.devices()[0])
for name, act in getattr(test_ranks, sys.argv[1]).items():
    every = ranks.gather(act(backend, ranks))
    if ranks.rank == 0:
        print(name, set(map(str, every)), sep=": ", flush=True)
"""


@pytest.mark.parametrize(
    ("ranks", "searches"),
    [
        (3, "SEARCHES"),
        pytest.param(2, "MORE", marks=pytest.mark.slow),
        pytest.param(3, "MORE", marks=pytest.mark.long),
        pytest.param(7, "MORE", marks=pytest.mark.long),
    ],
)
def test_ranks_find_what_one_process_finds(ranks, searches, mpirun, cpu):
    expected = [f"{name}: { {str(act(cpu, Solo()))} }" for name, act in globals()[searches].items()]
    done = mpirun(ranks, "-c", PROGRAM, searches)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
