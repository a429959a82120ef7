"""Ticks of logarithmic axes, and the measure by which other tests find pictures that cannot be read."""

import pytest

from reports.plot_style import PAGE_WIDTH, TEXT, log_ticks, logarithmic, pyplot, tick_text
from tests.reports.pictures import illegible

pytest.importorskip("matplotlib")


@pytest.fixture
def axes():
    library = pyplot()
    figure, made = library.subplots(figsize=(PAGE_WIDTH, 4), layout="constrained")
    yield made
    library.close(figure)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0031, 0.078), [0.003, 0.01, 0.03]),  # one power of ten alone is within
        ((0.0073, 0.034), [0.007, 0.01, 0.02, 0.03]),
        ((200.0, 300.0), [200, 250, 300]),
        ((1.0, 1000.0), [1, 10, 100, 1000]),
        ((1e-9, 1e9), [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]),
    ],
)
def test_a_logarithmic_axis_has_two_ticks_at_least_and_seven_at_most(axes, values, ticks):
    axes.plot([0, 1], values)
    logarithmic(axes, "y")
    assert axes.yaxis.get_majorticklocs() == pytest.approx(ticks)
    assert illegible(axes.figure) == []


@pytest.mark.parametrize("base", [2, 10])
@pytest.mark.parametrize("value", [1e-6, 0.7, 1.0, 12345.0])
def test_a_single_value_has_two_ticks_around_it(axes, base, value):
    axes.plot([0, 1], [value, value])
    logarithmic(axes, "y", base=base)
    low, high = axes.get_ylim()
    assert len(axes.yaxis.get_majorticklocs()) >= 2
    assert low <= value <= high


def test_ticks_of_ranks_are_powers_of_two():
    assert log_ticks(1, 16, 2) == [1, 2, 4, 8, 16]


def test_ticks_have_no_exponent():
    assert [tick_text(value) for value in (0.001, 0.5, 10, 1000, 1e6)] == ["0.001", "0.5", "10", "1,000", "1,000,000"]


def test_small_texts_are_found(axes):
    axes.set_title("tiny", fontsize=TEXT - 1)
    assert illegible(axes.figure) == [
        f"'tiny' has {TEXT - 1:.1f} points at the printed width, expected {TEXT} at least"
    ]


def test_texts_that_shrink_with_a_wide_picture_are_found(axes):
    axes.figure.set_size_inches(2 * PAGE_WIDTH, 4)
    axes.set_title("wide", fontsize=TEXT + 1)
    assert any("'wide' has 4.5 points" in one for one in illegible(axes.figure))


def test_an_axis_of_one_tick_is_found(axes):
    axes.plot([0, 1], [0.003, 0.078])
    axes.set_yscale("log")
    assert illegible(axes.figure) == ["the vertical axis has 1 tick labels, expected two at least"]


@pytest.mark.parametrize(("turn", "overlap"), [(0, True), (40, False)])
def test_labels_that_overlap_are_found_as_they_are_turned(axes, turn, overlap):
    axes.set_xticks(
        range(20), [f"place {number}" for number in range(20)], rotation=turn, ha="right" if turn else "center"
    )
    axes.tick_params(axis="x", rotation=turn)
    for label in axes.get_xticklabels():
        label.set_rotation_mode("anchor")
    assert any("overlap" in one for one in illegible(axes.figure)) == overlap
