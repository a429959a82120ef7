"""The picture of one search: two panels of steps, which hold the numbers of its history."""

import pytest

from reports.plots.history import draw_history, save_figure
from tests.reports.pictures import illegible

HISTORY = [[0, 0, 0.5, 900], [3, 40, 0.6, 700], [9, 100, 0.8, 650]]
LONG = [[0, 0, 0.001, 90_000], [5, 60, 0.4, 4_000], [900, 9_000, 3.0, 100]]


@pytest.fixture(autouse=True)
def drawn():
    pytest.importorskip("matplotlib")


def lines(axes):
    return {line.get_label(): tuple(map(list, line.get_data())) for line in axes.get_lines()}


def test_panels_hold_the_history_over_evaluations_and_over_seconds():
    figure = draw_history(HISTORY[1:], "moves", "a search", noun="length", evaluations=130)
    left, right = figure.axes
    assert lines(left) == {"best length": ([40, 100, 130], [700, 650, 650])}
    assert lines(right) == {"best length": ([0.6, 0.8], [700, 650])}
    assert {line.get_drawstyle() for axes in figure.axes for line in axes.get_lines()} == {"steps-post"}
    assert (left.get_xlabel(), right.get_xlabel(), left.get_ylabel()) == ("moves", "seconds", "best length")
    assert figure.get_suptitle() == "a search"
    assert {axes.get_xscale() for axes in figure.axes} == {"linear"}


def test_what_spreads_far_is_logarithmic_and_a_start_that_cost_nothing_is_shown():
    figure = draw_history(LONG, "moves", "a search")
    left, right = figure.axes
    assert illegible(figure) == []
    assert {axes.get_xscale() for axes in figure.axes} | {left.get_yscale()} == {"log"}
    assert lines(left)["best cost"] == ([1, 60, 9_000], [90_000, 4_000, 100])
    assert lines(right)["best cost"] == ([0.001, 0.4, 3.0], [90_000, 4_000, 100])


def test_costs_below_zero_stay_on_a_linear_axis():
    figure = draw_history([[0, 1, 0.1, 40], [2, 3, 0.2, -1]], "moves", "a search")
    assert figure.axes[0].get_yscale() == "linear"


def test_what_is_known_is_a_line_with_its_name():
    figure = draw_history(
        HISTORY, "moves", "a search", known={"optimum": 640}, in_words=lambda cost: f"{cost / 10:.1f}"
    )
    for axes in figure.axes:
        assert lines(axes)["optimum 64.0"][1] == [640, 640]
    shown = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert shown == ["best cost", "optimum 64.0"]
    formatter = figure.axes[0].yaxis.get_major_formatter()
    assert formatter(650.0, 0) == "65.0"


def test_equal_pictures_are_equal_files(tmp_path):
    for name in ("one.svg", "other.svg"):
        save_figure(draw_history(HISTORY, "moves", "a search"), str(tmp_path / name))
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert ">a search</text>" in (tmp_path / "one.svg").read_text()
