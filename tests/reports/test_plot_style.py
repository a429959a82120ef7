"""Ticks of logarithmic axes, and the measure by which other tests find pictures that cannot be read."""

import pytest

from reports.plots.style import PAGE_WIDTH, TEXT, log_ticks, logarithmic, pyplot, tick_text
from tests.reports.pictures import illegible


@pytest.fixture
def axes():
    pytest.importorskip("matplotlib")
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


@pytest.mark.parametrize(("base", "value"), [(2, 0.7), (10, 1e-6), (10, 1.0), (2, 12345.0)])
def test_a_single_value_has_two_ticks_around_it(axes, base, value):
    axes.plot([0, 1], [value, value])
    logarithmic(axes, "y", base=base)
    low, high = axes.get_ylim()
    assert len(axes.yaxis.get_majorticklocs()) >= 2
    assert low <= value <= high


def test_ticks_of_ranks_are_powers_of_two_and_ticks_have_no_exponent():
    assert log_ticks(1, 16, 2) == [1, 2, 4, 8, 16]
    assert [tick_text(value) for value in (0.001, 0.5, 10, 1000, 1e6)] == ["0.001", "0.5", "10", "1,000", "1,000,000"]


@pytest.mark.parametrize(("size", "shrunk", "printed"), [(TEXT - 1, 1, TEXT - 1), (TEXT + 1, 2, (TEXT + 1) / 2)])
def test_texts_that_are_small_at_the_printed_width_are_found(axes, size, shrunk, printed):
    axes.figure.set_size_inches(shrunk * PAGE_WIDTH, 4)
    axes.set_title("title", fontsize=size)
    found = f"'title' has {printed:.1f} points at the printed width, expected {TEXT} at least"
    assert found in illegible(axes.figure)


def test_an_axis_of_one_tick_is_found(axes):
    axes.plot([0, 1], [0.003, 0.078])
    axes.set_yscale("log")
    assert illegible(axes.figure) == ["the vertical axis has 1 tick labels, expected two at least"]


@pytest.mark.parametrize(("turn", "overlap"), [(0, True), (40, False)])
def test_labels_that_overlap_are_found_as_they_are_turned(axes, turn, overlap):
    names = [f"place {number}" for number in range(20)]
    axes.set_xticks(range(20), names, rotation=turn, ha="right" if turn else "center")
    axes.tick_params(axis="x", rotation=turn)
    for label in axes.get_xticklabels():
        label.set_rotation_mode("anchor")
    assert any("overlap" in one for one in illegible(axes.figure)) == overlap
