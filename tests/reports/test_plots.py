"""The speed-up chart as a file."""

import re
import xml.etree.ElementTree as ElementTree

from reports.plots import speedup_bars


def test_a_picture_shows_every_row_with_its_ratio(tmp_path, make_record, section_of, legible):
    runs = [make_record([2.0, 2.1, 2.2]), make_record([1.0, 1.05, 1.1], backend="threads"), make_record([1.4], ranks=4)]
    (svg,) = speedup_bars.speedups(section_of(runs), tmp_path)
    text = svg.read_text()
    ElementTree.fromstring(text)
    for word in ("cpu", "threads", "cpu, 4 ranks  [a b]", "2.00x (1.05 s)", "1.50x (1.40 s)", "see the notes"):
        assert word in text


def test_bars_are_as_long_as_their_ratios(tmp_path, make_record, section_of):
    comparison = section_of([make_record(times=[3.0]), make_record(backend="threads", times=[1.0])])
    text = speedup_bars.speedups(comparison, tmp_path)[0].read_text()
    bars = [
        [float(x) for x in re.findall(r"[ML] ([\d.]+) ", path)]
        for path in re.findall(r'<path d="([^"]*z)[^>]*style="fill: #(?:999999|0072b2)', text)
    ]
    widths = [max(bar) - min(bar) for bar in bars]
    assert len(widths) == 2
    assert abs(widths[1] / widths[0] - 3.0) < 0.01


def test_bars_of_one_device_are_told_apart_by_their_ways(tmp_path, make_record, section_of, legible):
    rows = [make_record(execution={"scan": scan}, evaluations=count) for scan, count in (("full", 9), ("pruned", 4))]
    rows.append(make_record(backend="threads", execution={"scan": "full"}, evaluations=9))
    drawn = speedup_bars.speedups(section_of(rows), tmp_path)[0].read_text()
    assert [drawn.count(f"scan = {scan}") for scan in ("full", "pruned")] == [0, 1]


def test_without_a_ratio_nothing_is_drawn(tmp_path, make_record, section_of):
    for runs in ([make_record(backend=name) for name in ("threads", "cuda")], [make_record()]):
        assert speedup_bars.speedups(section_of(runs), tmp_path) == []
    assert list(tmp_path.iterdir()) == []
