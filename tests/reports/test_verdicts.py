"""Verdicts on claims and sentences about our figures: made from cells."""

import pandas
import pytest
from msgspec.structs import replace

from reports.papers.paper import Check
from reports.papers.verdicts import FAILS, HOLDS, NO_CELLS, NOT_RUN, UNTESTED, verdict
from tests.reports.made_up_hills import TABLE

ROWS = ("small", "large", "huge")


def frame(source="ours", **columns):
    """Cells of columns, a value for each row; None for no cell."""
    return pandas.DataFrame(
        [
            {"row": row, "column": key, "value": value, "figure": f"{value:g}", "source": source}
            for key, values in columns.items()
            for row, value in zip(ROWS, values, strict=False)
            if value is not None
        ],
        columns=["row", "column", "value", "figure", "source"],
    )


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


def test_a_claim_holds_if_all_checks_do():
    above, absent = Check("gain", "above"), Check("native", "above")
    assert found(frame(gain=[2]), above, absent).verdict == UNTESTED
    assert found(frame(gain=[0.5]), above, absent).verdict == FAILS
    assert found(frame(gain=[2]), above, absent, untested="there is no GPU").reason == "there is no GPU"


def test_without_runs_or_checks_a_claim_is_not_tested():
    assert found(frame(source="paper", gain=[2]), Check("gain", "above")).verdict == NOT_RUN
    nothing = found(frame(gain=[2]), untested="nothing to compare")
    assert (nothing.verdict, nothing.reason) == (UNTESTED, "nothing to compare")


def test_a_missing_run_has_the_reason_of_the_plan():
    missing = {("table 1", "small", "gain"): "no GPU here", ("table 2", "small", "gain"): "another"}
    one = verdict(replace(TABLE, checks=(Check("gain", "above"),)), frame(cores=[1]), missing)
    assert one.reason == "no GPU here"


def test_sentences_have_the_figures_of_cells():
    cells = frame(gain=[2, 40, 10], core=[5])
    answer = "{gain.min} ({gain.min_row}), {gain.max} ({gain.max_row}), {gain.first}, {gain.last}, {gain[large]}"
    one = found(cells, Check("gain", "above"), answer=answer, holds="It is {core[small]}.", fails="No.")
    assert one.answer == "2 (small), 40 (large), 2, 10, 40" and one.sentence == "It is 5."
    assert found(cells, Check("gain", "below"), fails="No, {gain.last}.").sentence == "No, 10."


@pytest.mark.parametrize("template", ["{core[huge]}", "{native.min}"])
def test_a_reference_without_a_cell_gives_no_sentence(template):
    one = found(frame(gain=[2], core=[5]), Check("gain", "above"), answer=f"ours {template}", holds=template)
    assert (one.verdict, one.answer, one.sentence) == (HOLDS, "", "")
