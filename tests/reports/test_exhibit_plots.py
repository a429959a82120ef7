"""Pictures of exhibits: grey for published figures, a colour for each kind of device, intervals, and a legend."""

import pytest
from msgspec.structs import replace

from reports.papers.cells import exhibit_frame, runs_of
from reports.papers.paper import Plot
from reports.plots import exhibits, style
from reports.plots.rates import COLOURS
from tests.reports.made_up_hills import PAPER, TABLE, hills

pytest.importorskip("matplotlib")
HEADS = {column.key: column.head.replace("{device}", "a device") for column in TABLE.columns}


@pytest.fixture
def drawn(make_measured, tmp_path, monkeypatch):
    """Draw a table and return the figure; None without a picture."""

    def draw(plot, records=None, exhibit=TABLE):
        figures = []
        monkeypatch.setattr(style, "save", lambda figure, path, **more: figures.append(figure))
        changed = replace(exhibit, plot=plot)
        runs = runs_of(PAPER, hills(make_measured) if records is None else records)
        exhibits.draw(changed, exhibit_frame(PAPER, changed, runs), HEADS, tmp_path / "picture")
        return figures[0] if figures else None

    return draw


def legend(figure):
    (key,) = figure.legends
    return [text.get_text() for text in key.get_texts()]


def test_bars_have_the_colour_of_their_device_and_intervals_of_ours_alone(drawn):
    figure = drawn(Plot(("paper", "core", "cores", "gpu"), "seconds"))
    (axes,) = figure.axes
    colours = [bars[0].get_facecolor() for bars in axes.containers if hasattr(bars, "patches")]
    from matplotlib.colors import to_rgba

    assert colours == [
        to_rgba(exhibits.GREYS[0]),
        *(to_rgba(COLOURS[kind]) for kind in ("one core", "all cores", "GPU")),
    ]
    assert legend(figure) == ["paper: core", "one core: a device", "2 cores: a device", "H200: a device as published"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["small", "large"], "rows with a run of ours"
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "seconds"


def test_bars_of_similar_lengths_begin_at_0(drawn):
    (axes,) = drawn(Plot(("gain",), "times as fast as one core")).axes
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0


def test_a_heading_without_a_name_has_its_device_in_the_legend(drawn, monkeypatch):
    monkeypatch.setitem(HEADS, "gain", "×")
    assert legend(drawn(Plot(("gain",), "times as fast as one core"))) == ["H200 ×"]


def test_lines_run_over_the_places_of_rows_and_show_all_published_figures(drawn):
    (axes,) = drawn(Plot(("paper", "core"), "seconds", kind="lines", x_axis="cities")).axes
    published, ours = (lines[0].get_xdata().tolist() for lines in axes.containers)
    assert (published, ours) == ([10, 100, 1000], [10, 100])
    assert axes.get_xlabel() == "cities"


def test_a_column_of_several_kinds_of_devices_has_a_colour_of_its_own(drawn, make_measured):
    records = hills(make_measured)
    (axes,) = drawn(Plot(("gpu",), "seconds", kind="points"), [*records[:2], *records[3:]]).axes
    assert axes.containers[0][0].get_color() == exhibits.SEVERAL


def test_a_panel_has_two_rows_of_its_own(drawn):
    def panels_of(*names):
        rows = tuple(replace(row, panel=name) for row, name in zip(TABLE.rows, names, strict=True))
        panels = tuple(dict.fromkeys(names))
        return drawn(Plot(("core", "gpu"), "seconds", panels=panels), None, replace(TABLE, rows=rows))

    figure = panels_of("few", "few", "many", "many")
    assert [axes.get_title() for axes in figure.axes] == ["few"]
    assert len(legend(figure)) == 2
    assert panels_of("few", "many", "many", "many") is None


def test_without_two_rows_or_a_run_of_ours_there_is_no_picture(drawn, make_measured):
    assert drawn(Plot(("paper",), "seconds")) is None
    assert drawn(Plot(("paper", "core"), "seconds"), []) is None
    assert drawn(Plot(("core",), "seconds"), hills(make_measured)[:1]) is None
    assert drawn(None) is None
