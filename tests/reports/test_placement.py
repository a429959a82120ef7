"""Runs of a cell: which records belong there."""

import pytest

from reports.papers.paper import Column, Exhibit, ExhibitRow, Paper, PublishedColumn, Series
from reports.papers.placement import run_choice

THREADS = {"device_kind": "cores", "backend": "threads", "details": {"cores_per_rank": 2}}
JOBLIB = THREADS | {"backend": "joblib"}
RANKS = {"device_kind": "core", "backend": "cpu", "ranks": 2}


def choice(row, series, **exhibit):
    series = Series(name="s", **series)
    paper = Paper("p", "", "", "", {}, {"s": series}, ())
    column = Column("head", series="s")
    return run_choice(paper, Exhibit(name="table 1", title="", rows=(row,), columns=(column,), **exhibit), row, column)


@pytest.fixture
def has(make_record):
    """True if a record, of these changes, is a run of a choice."""
    return lambda choice, **changes: choice.has(make_record(**changes))


@pytest.mark.parametrize(
    ("series", "belonging"),
    [
        ({"kinds": ("core", "cores", "gpu")}, [THREADS, JOBLIB]),
        ({"kinds": ("cores",), "backends": ("joblib",)}, [JOBLIB]),
        ({"kinds": ("core",), "ranks": 0}, [RANKS]),
        ({"kinds": ("core",)}, []),
    ],
    ids=["threads", "joblib", "ranks", "one core"],
)
def test_a_row_of_two_cores_has_threads_or_ranks_as_its_series_says(has, series, belonging):
    row = ExhibitRow(name="2 threads", processors="cores:2")
    chosen = choice(row, series, workload="ihc", options={"instance": "kroA100"})
    assert [one for one in (THREADS, JOBLIB, RANKS) if has(chosen, **one)] == belonging


def test_a_series_of_one_core_is_the_base_of_a_row_with_more(has):
    row = ExhibitRow(name="2 threads", processors="cores:2")
    base = choice(row, {"kinds": ("core",)}, workload="ihc", options={"instance": "kroA100"})
    assert base.processors == "" and has(base) and not has(base, **RANKS)


def test_a_generated_knapsack_has_options_and_the_name_of_its_records(has):
    """`drivers.knapsack` takes options and no name, and a record has the name and no options."""
    row = ExhibitRow(name="capacity 500", instance="paper:1500:500:seed=0", options={"items": 1500, "capacity": 500})
    chosen = choice(row, {"kinds": ("core",)}, workload="knapsack")
    assert chosen.instance == "" and chosen.options == {"items": 1500, "capacity": 500}
    found = [has(chosen, workload="knapsack", instance=f"paper:1500:{n}:seed=0") for n in (500, 5000)]
    assert found == [True, False]


def test_options_of_a_column_keep_an_amount_that_scales_change(has):
    row = ExhibitRow(name="kroA100")
    series, scale = Series(name="s", kinds=("core",)), {"amount": {"climbers": 100_000}}
    paper = Paper("p", "", "", "", {}, {"s": series}, ())
    pinned, free = Column("a", series="s", options={"climbers": 200_000}), Column("b", series="s")
    exhibit = Exhibit(name="table 1", title="", workload="ihc", rows=(row,), columns=(pinned, free), **scale)
    for column, found in ((pinned, [False, True]), (free, [True, True])):
        chosen = run_choice(paper, exhibit, row, column)
        assert [has(chosen, parameters={"climbers": n}) for n in (100_000, 200_000)] == found


def test_a_run_with_a_setting_that_its_series_does_not_request_belongs_to_another(has):
    started = {"execution": {"start": "order"}, "details": {"options": {"start": "order"}}}
    row, made = ExhibitRow(name="kroA100"), {"workload": "ihc", "options": {"instance": "kroA100"}}
    for options, found in (({}, [True, False]), ({"start": "order"}, [False, True])):
        chosen = choice(row, {"kinds": ("core",), "options": options}, **made)
        assert [has(chosen), has(chosen, **started)] == found


def test_a_published_column_has_no_runs():
    row, column = ExhibitRow(name="kroA100"), Column("paper", published="k ms")
    exhibit = Exhibit(name="table 1", title="", published=(PublishedColumn("ms", "k"),), rows=(row,), columns=(column,))
    assert run_choice(Paper("p", "", "", "", {}, {}, ()), exhibit, row, column) is None
