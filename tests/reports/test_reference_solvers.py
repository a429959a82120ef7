"""Reference solvers beside the proof on one core."""

import pytest

from reports.pages import comparison, overview
from reports.pages.reference_solvers import solver_table
from reports.rates import rate_sections

FAST = {"name": "fast-tsp", "version": "0.2.2", "cost": 21282, "proved": False, "solve_s": 1.0, "startup_s": 0.1}
FAST |= {"time_to_cost_s": 0.25, "time_limit_s": 1.0, "failure": ""}
SOLVERS = [
    FAST,
    {"name": "elkai", "version": "2.0.1", "cost": 21400, "solve_s": 3.0, "proved": True},
    {"name": "concorde", "failure": "not found"},
    {"name": "LKH", "failure": "failed: no answer within 60 s"},
    {"cost": "many", "solve_s": True},
]


def test_each_solver_that_started_has_a_row_below_this_search(make_measured):
    record = make_measured([0.5] * 6, details={"reference_solvers": SOLVERS})  # the proof, a first run, takes 250 ms
    assert solver_table([("", [record])]).rows == [
        ["this search, one core", "21,315", "0.16 % above", "125 ms", "125 ms", "", ""],
        ["fast-tsp 0.2.2", "21,282", "the optimum", "1.00 s", "250 ms", "100 ms", ""],
        ["elkai 2.0.1", "21,400", "0.55 % above", "3.00 s", "not reached", "", "yes"],
        ["LKH", "", "", "failed: no answer within 60 s", "", "", ""],
    ]
    rows = solver_table([("ihc", [record]), ("alone", [make_measured()]), ("ihc", [record])]).rows
    assert [row[0] for row in rows] == ["ihc"] * 8


@pytest.mark.parametrize(
    ("scope", "details", "cell"),
    [("result", {}, "yes"), ("result", {"proved": True}, "yes"), ("result", {"proved": False}, ""), ("climbs", {}, "")],
)
def test_a_search_of_all_solutions_is_a_proof_unless_it_gave_up(make_measured, scope, details, cell):
    record = make_measured(details={"reference_solvers": SOLVERS, **details}, hash_scope=scope)
    assert solver_table([("", [record])]).rows[0][-1] == cell


def test_only_the_first_seed_with_solvers_counts_and_without_any_there_is_no_table(make_measured):
    runs = [make_measured(seed=seed, details={"reference_solvers": SOLVERS[seed:]}) for seed in range(2)]
    assert len(solver_table([("", runs)]).rows) == 4
    assert solver_table([("a", []), ("b", [make_measured(details={"reference_solvers": "none"})])]) is None
    for page in (comparison, overview):
        assert "| elkai 2.0.1 | 21,400 |" in page.render(rate_sections(runs[:1]))
        assert "elkai" not in page.render(rate_sections([make_measured()]))
