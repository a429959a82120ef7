"""Ticks of logarithmic axes, and the measure by which other tests find pictures that cannot be read."""

import pytest

from reports.plots.style import WIDTH, logarithmic, report_settings, tick_text
from tests.reports.pictures import illegible


@pytest.fixture
def panels():
    """The narrowest panels that pictures have."""
    figure = pytest.importorskip("matplotlib.figure")
    with report_settings():
        yield figure.Figure(figsize=(WIDTH, 2.4), layout="constrained").subplots(1, 2)


@pytest.fixture
def axes(panels):
    panels[1].set_axis_off()
    return panels[0]


@pytest.mark.parametrize("spread", [1.0, 1.2, 4.9, 5.2, 99, 1e12])
def test_logarithmic_axes_have_two_ticks_at_least_and_none_overlap(panels, spread):
    for axes, start in zip(panels, (3.1e-4, 98_765.0), strict=True):
        values = [start, start * spread]
        axes.plot(values, values)
        for which, limits in (("x", axes.get_xlim), ("y", axes.get_ylim)):
            logarithmic(axes, which)
            low, high = limits()
            assert low <= values[0] <= values[1] <= high
    assert illegible(panels[0].figure) == []


def test_ticks_have_no_exponent_and_stay_short():
    values = (0.001, 0.5, 10, 1000, 16_384, 20_000, 1e6, 2.5e9, 1e12, -4)
    words = ["0.001", "0.5", "10", "1,000", "16,384", "20k", "1M", "2.5G", "1T", "-4"]
    assert [tick_text(value) for value in values] == words


@pytest.mark.parametrize(("turn", "overlap"), [(0, True), (40, False)])
def test_labels_that_overlap_are_found_as_they_are_turned(axes, turn, overlap):
    names = [f"place {number}" for number in range(9)]
    axes.set_xticks(range(9), names, rotation=turn, ha="right" if turn else "center")
    axes.tick_params(axis="x", rotation=turn)
    for label in axes.get_xticklabels():
        label.set_rotation_mode("anchor")
    assert any("overlap" in one for one in illegible(axes.figure)) == overlap
