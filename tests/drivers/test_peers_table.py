"""The table of our search and the solvers beside it."""

import pytest

from drivers.peers import Measured, table, this_search
from drivers.peers.table import duration

OWN = this_search(9352, [0.5, 0.405, 0.3], start_s=1.25)
FAST = Measured("fast-tsp", "0.2.2", cost=8806, solve_s=0.4051, start_s=0.012, to_cost=0.00633, limit_s=0.405)
ELKAI = Measured("elkai", "2.0.1", cost=9400, solve_s=2.5, start_s=0.02)
CONCORDE = Measured(
    "concorde", "", "program", True, 8806, 3.1, 0.0041, 3.1041, 3.05, 3.1041, repetitions=1, in_process=False
)
LKH = Measured(
    "LKH",
    kind="program",
    in_process=False,
    trouble="not found: build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it on PATH",
)


def cells(line):
    return line.split()


def test_our_search_stands_first_and_each_row_says_how_it_was_timed():
    said = table(OWN, [FAST, ELKAI])
    assert cells(said[0]) == ["solver", "cost", "proved", "time", "start-up", "to", "our", "cost", "timed"]
    assert cells(said[1]) == ["this", "search", "9352", "no", "405.0", "ms", "1.250", "s", "405.0", "ms", "warm"]
    assert cells(said[2]) == ["fast-tsp", "0.2.2", "8806", "no", "405.1", "ms", "12.00", "ms", "6.330", "ms", "warm"]
    assert cells(said[3]) == ["elkai", "2.0.1", "9400", "no", "2.500", "s", "20.00", "ms", "not", "reached", "warm"]
    assert said[4:] == ["warm: one call in a process that runs already, imports and start-up apart"]


def test_a_whole_process_of_ours_stands_above_the_programs():
    own = this_search(8806, [0.4], proved=True, start_s=1.25, own_process_s=1.7)
    said = table(own, [CONCORDE, FAST, LKH])
    assert [line.split("  ")[0] for line in said[1:5]] == ["this search", "fast-tsp 0.2.2", "this search", "concorde"]
    assert cells(said[3])[2:] == ["8806", "yes", "1.700", "s", "1.250", "s", "1.700", "s", "process"]
    assert cells(said[4])[1:] == ["8806", "yes", "3.104", "s", "4.100", "ms", "3.104", "s", "process"]
    assert said[5:] == [
        "warm: one call in a process that runs already, imports and start-up apart",
        "process: a whole process from start to end, with reading its input",
        "concorde: its own clock says 3.050 s",
        "LKH: not found: build it from webhotel4.ruc.dk/~keld/research/LKH-3 and put it",
        "  on PATH",
    ]


def test_without_a_process_of_ours_programs_stand_alone():
    said = table(OWN, [CONCORDE])
    assert [cells(line)[-1] for line in said[1:3]] == ["warm", "process"]
    assert said[2].startswith("concorde ")


def test_no_line_is_longer_than_a_terminal_and_versions_give_way():
    long = FAST._replace(name="solver of tours", version="2026.11.22", cost=2**31)
    said = table(OWN, [long, LKH])
    assert max(map(len, said)) <= 80
    assert said[2].startswith("solver of tours  2147483648")
    assert len({len(line) for line in said[:3]}) == 1


def test_a_solver_that_finds_now_this_now_that_is_shown_by_its_worst():
    said = table(OWN, [FAST._replace(cost=8810, costs=(8806, 8810, 8806)), ELKAI._replace(costs=(9400, 9400))])
    assert said[5:] == ["fast-tsp: its cost is the worst of 3 repetitions; the best, 8806, was found in 2"]
    said = table(OWN, [FAST._replace(cost=11, costs=(11, 12))])
    assert said[-1] == "fast-tsp: its cost is the worst of 2 repetitions; the best, 12, was found in 1"


def test_a_search_without_times_shows_the_others_all_the_same():
    said = table(this_search(None, []), [FAST._replace(to_cost=None)])
    assert cells(said[1]) == ["this", "search", "no", "warm"]
    assert cells(said[2])[-3:] == ["12.00", "ms", "warm"]


def test_only_solvers_with_an_answer_have_a_row():
    said = table(OWN, [LKH])
    assert [line.startswith("LKH") for line in said] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""), (0.0, "0.000 us"), (12.3456e-6, "12.35 us"), (0.0009996, "1.000 ms"), (0.4049, "404.9 ms"),
        (0.99996, "1.000 s"), (9.9996, "10.00 s"), (99.996, "100.0 s"), (61.5, "61.50 s"), (12345.6, "12346 s"),
    ],
)  # fmt: skip
def test_a_time_has_four_digits_and_a_unit(seconds, text):
    assert duration(seconds) == text
