"""Verdicts on claims and sentences about our figures: made from cells."""

import pandas
import pytest
from msgspec.structs import replace

from reports.papers.paper import Check
from reports.papers.verdicts import FAILS, HOLDS, NO_CELLS, NOT_RUN, UNDECIDED, UNTESTED, verdict
from tests.reports.made_up_hills import TABLE

ROWS = ("small", "large", "huge")


def frame(source="ours", **columns):
    """Cells of columns, a value for each row, or its interval's low end, value, high end; None for no cell."""
    rows = [
        (row, key, *((None, one, None) if isinstance(one, int | float) else one), source)
        for key, values in columns.items()
        for row, one in zip(ROWS, values, strict=False)
        if one is not None
    ]
    cells = pandas.DataFrame(rows, columns=["row", "column", "low", "value", "high", "source"])
    return cells.assign(figure=[f"{value:g}" for value in cells["value"]])


def found(cells, *checks, **changes):
    return verdict(replace(TABLE, checks=checks, **changes), cells)


@pytest.mark.parametrize(
    ("check", "holding", "failing"),
    [
        ({"rule": "above", "value": 2}, [3, 4], [3, 2]),
        ({"rule": "below", "value": 2}, [1, 1.5], [1, 2]),
        ({"rule": "above", "than": "core", "value": 2}, [3, 5], [3, 4]),
        ({"rule": "below", "than": "core"}, [0.5, 1], [0.5, 2]),
        ({"rule": "grows"}, [1, 9, 2], [2, 9, 1]),
        ({"rule": "falls"}, [2, 9, 1], [1, 9, 2]),
        ({"rule": "reaches", "value": 5}, [1, 5], [1, 4]),
        ({"rule": "reaches", "than": "core"}, [1, 2], [1, 1.9]),
        ({"rule": "near", "than": "core", "value": 2}, [2, 1], [2.1, 1]),
        ({"rule": "above", "value": 2, "rows": ("large",)}, [1, 3], [3, 1]),
        ({"rule": "above", "value": 2, "share": 0.5}, [1, 3], [1, 1]),
    ],
)
def test_a_rule_holds_fails_or_has_no_cells(check, holding, failing):
    one = Check("gain", **check)
    core = {"core": [1, 2]} if "than" in check else {}
    assert found(frame(gain=holding, **core), one).verdict == HOLDS
    assert found(frame(gain=failing, **core), one).verdict == FAILS
    without = found(frame(cores=[1, 2]), one)
    assert (without.verdict, without.reason) == (UNTESTED, NO_CELLS)


@pytest.mark.parametrize(
    ("check", "columns", "expected"),
    [
        (Check("gain", "above"), {"gain": [(1.1, 1.2, 1.3)]}, HOLDS),
        (Check("gain", "above"), {"gain": [(0.9, 1.2, 1.3)]}, UNDECIDED),
        (Check("gain", "above"), {"gain": [(0.7, 0.8, 0.9)]}, FAILS),
        (Check("gain", "above"), {"gain": [(0.995, 1.001, 1.008)]}, FAILS),
        (Check("gain", "above", share=0.5), {"gain": [(0.9, 1.2, 1.3), 2]}, HOLDS),
        (Check("gain", "below", than="core"), {"gain": [(1, 2, 3)], "core": [(2, 4, 5)]}, UNDECIDED),
        (Check("gain", "below", than="core"), {"gain": [(1, 2, 3)], "core": [(4, 4, 5)]}, HOLDS),
        (Check("gain", "grows"), {"gain": [(1, 2, 3), (2, 4, 5)]}, UNDECIDED),
        (Check("gain", "grows"), {"gain": [(1, 2, 3), (4, 4, 5)]}, HOLDS),
        (Check("gain", "falls"), {"gain": [(1, 2, 3), (4, 4, 5)]}, FAILS),
    ],
)
def test_intervals_that_contain_both_results_decide_nothing_but_that_values_are_equal(check, columns, expected):
    one = found(frame(**columns), check)
    assert one.verdict == expected


def test_a_claim_holds_if_all_checks_do():
    above, absent = Check("gain", "above"), Check("native", "above")
    assert found(frame(gain=[2]), above, absent).verdict == UNTESTED
    assert found(frame(gain=[0.5]), above, absent).verdict == FAILS


def test_without_runs_or_checks_a_claim_is_not_tested():
    assert found(frame(source="paper", gain=[2]), Check("gain", "above")).verdict == NOT_RUN
    nothing = found(frame(gain=[2]), untested="nothing to compare")
    assert (nothing.verdict, nothing.reason) == (UNTESTED, "nothing to compare")


def test_a_missing_run_has_the_reason_of_the_plan():
    missing = {("table 1", "small", "gain"): "no GPU here", ("table 2", "small", "gain"): "another"}
    one = verdict(replace(TABLE, checks=(Check("gain", "above"),)), frame(cores=[1]), missing)
    assert one.reason == "no GPU here"


def test_the_reason_is_that_of_the_run_that_the_check_lacks():
    """Of the base of a ratio, of the column that another is compared with, and of the check's rows alone."""
    base = {("table 1", "small", "core"): "no time for one core"}
    assert verdict(replace(TABLE, checks=(Check("gain", "above"),)), frame(cores=[1]), base).reason == base.popitem()[1]
    other = {("table 1", "small", "cores"): "no cores"}
    one = Check("gain", "above", than="cores")
    assert verdict(replace(TABLE, checks=(one,)), frame(gain=[2]), other).reason == "no cores"
    elsewhere = replace(TABLE, checks=(Check("gain", "above", rows=("large",)),))
    missing = {("table 1", "small", "gain"): "no GPU here"}
    assert verdict(elsewhere, frame(gain=[2]), missing).reason == NO_CELLS


def test_sentences_have_the_figures_of_cells():
    cells = frame(gain=[2, 40, 10], core=[5])
    answer = "{gain.min} ({gain.min_row}), {gain.max} ({gain.max_row}), {gain.first}, {gain.last}, {gain[large]}"
    one = found(cells, Check("gain", "above"), answer=answer, holds="It is {core[small]}.", fails="No.")
    assert one.answer == "2 (small), 40 (large), 2, 10, 40" and one.sentence == "It is 5."
    assert found(cells, Check("gain", "below"), fails="No, {gain.last}.").sentence == "No, 10."
    range_of_one = found(cells, Check("gain", "above"), answer="×{core.min} to ×{core.max} of {core.min} to {gain.min}")
    assert range_of_one.answer == "×5 of 5 to 2"
    for end, text in (("; so", "×5; so"), (".", "×5."), (".5", "×5 to ×5.5")):
        assert found(cells, Check("gain", "above"), answer=f"×{{core.min}} to ×{{core.max}}{end}").answer == text


@pytest.mark.parametrize("template", ["{core[huge]}", "{native.min}"])
def test_a_reference_without_a_cell_gives_no_sentence(template):
    one = found(frame(gain=[2], core=[5]), Check("gain", "above"), answer=f"ours {template}", holds=template)
    assert (one.verdict, one.answer, one.sentence) == (HOLDS, "", "")
