"""Times of other people's solvers, what they say of a result of ours, and the table of them on the terminal."""

import pytest

from drivers.peers import peers_for
from drivers.peers.peer import PeerMeasurement, confirming_peers, median_run, peer_rejections
from drivers.runs.reference_solvers import ReferenceSolvers


@pytest.mark.parametrize(
    ("took", "median_s", "count"), [([0.3], 0.3, 1), ([0.01, 0.16, 0.05], 0.05, 3), ([0.001] * 30, 0.001, 21)]
)
def test_a_short_run_is_repeated_for_its_median(took, median_s, count):
    runs = iter([(seconds, number) for number, seconds in enumerate(took)])
    assert median_run(lambda: next(runs)) == (median_s, 0)
    assert len(list(runs)) == len(took) - count


def test_solvers_object_to_a_result_if_one_found_better_or_proved_another():
    peers = peers_for("exact")
    silent = [PeerMeasurement(peer.name, failure="not found") for peer in peers]

    def said(name, **found):
        rows = [row._replace(**found) if row.name == name else row for row in silent]
        return list(peer_rejections(peers, rows, 12, "length")), confirming_peers(rows, 12)

    assert said("nobody") == said("elkai", cost=12) == said("elkai", cost=13) == ([], [])
    assert said("elkai", cost=11) == (["elkai finds length 11"], [])
    assert said("held-karp", cost=12, proved=True) == ([], ["held-karp"])
    assert said("held-karp", cost=13, proved=True) == (["held-karp finds length 13"], [])


def test_of_values_the_larger_is_better():
    for found, said in (({"cost": 11}, []), ({"cost": 13}, [13]), ({"cost": 11, "proved": True}, [11])):
        objected = peer_rejections(peers_for("knapsack"), [PeerMeasurement("ortools", **found)], 12, "value")
        assert list(objected) == [f"ortools finds value {value}" for value in said]


# --- the table ---

FAST_ROW = PeerMeasurement(
    "fast-tsp", "0.2.2", cost=8806, solve_s=0.4051, startup_s=0.012, time_to_cost_s=0.00633, time_limit_s=0.405
)
ELKAI_ROW = PeerMeasurement("elkai", "2.0.1", cost=9400, solve_s=2.5, startup_s=0.02)
NOT_FOUND = PeerMeasurement(
    "LKH", kind="program",
    failure="not found: build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it on PATH",
)  # fmt: skip


@pytest.fixture
def table_of():
    def lines(*measured):
        solvers = ReferenceSolvers.__new__(ReferenceSolvers)
        solvers.measured, solvers.own_s, solvers.cost, solvers.startup_s = list(measured), [0.5, 0.405, 0.3], 9352, 1.25
        solvers.proved, solvers.optimum = False, None
        return solvers.table()

    return lines


def test_our_search_stands_above_the_others_by_the_median_of_its_repetitions(table_of):
    heading, _, own, fast, elkai = table_of(FAST_ROW, ELKAI_ROW)
    assert heading.split()[:2] == ["solver", "cost"]
    assert own.split() == ["this", "search", "9,352", "405", "ms", "405", "ms", "1.25", "s"]
    assert fast.split() == ["fast-tsp", "0.2.2", "8,806", "405", "ms", "6.33", "ms", "12.0", "ms"]
    assert "not reached" in elkai


def test_no_line_is_longer_than_a_terminal(table_of):
    shown = table_of(FAST_ROW._replace(name="solver of tours", version="2026.11.22", cost=2**31), NOT_FOUND)
    assert max(map(len, shown)) <= 80
    assert "2,147,483,648" in "".join(shown)
    failure = "LKH: not found: build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it"
    assert shown[-2:] == [failure, "  on PATH"]


def test_a_solver_that_finds_now_this_now_that_is_shown_by_its_worst(table_of):
    shown = table_of(FAST_ROW._replace(cost=8810, costs=(8806, 8810, 8806)), ELKAI_ROW._replace(costs=(9400, 9400)))
    assert shown[-1] == "fast-tsp: its cost is the worst of 3 repetitions; the best, 8806, was found in 2"
    shown = table_of(FAST_ROW._replace(cost=11, costs=(11, 12)))
    assert shown[-1] == "fast-tsp: its cost is the worst of 2 repetitions; the best, 12, was found in 1"
