"""Curves over ranks, and the laws of Amdahl and Gustafson fitted to them."""

import xml.etree.ElementTree as ElementTree

import pytest

from reports.comparison import scaling
from reports.comparison.speedups import compare
from reports.plots import scaling as plots_scaling

MANY = {"cpu_model": "Test CPU", "cores": 16, "host_count": 1}


@pytest.fixture
def strong_of(make_record):
    def make(times, **changes):
        fields = {"environment": MANY} | changes
        runs = [make_record(ranks=ranks, times=[time] * 3, **fields) for ranks, time in times.items()]
        return scaling.strong(compare(runs))

    return make


@pytest.fixture
def weak_runs(make_record):
    def run(ranks, time):
        own = {"parameters": {"climbers": 100 * ranks}, "hash": f"0123456789abcde{16 - ranks:x}"}
        return make_record([time] * 3, ranks=ranks, environment=MANY, **own)

    return lambda times: [run(ranks, time) for ranks, time in times.items()]


def amdahl(serial, ranks):
    return serial + (1 - serial) / ranks


@pytest.mark.parametrize("serial", [0.0, 0.05, 1.0])
def test_times_by_amdahls_law_give_its_serial_part_back(strong_of, serial):
    (curve,) = strong_of({ranks: 8 * amdahl(serial, ranks) for ranks in (1, 2, 4, 8, 16)})
    assert curve.serial == pytest.approx(serial, abs=1e-12)
    assert curve.largest_deviation == pytest.approx(0.0, abs=1e-12)
    assert [point.speedup.value for point in curve.points] == pytest.approx(
        [1 / amdahl(serial, ranks) for ranks in (1, 2, 4, 8, 16)]
    )


def test_the_fit_is_the_best_of_all_serial_parts(strong_of):
    times = {1: 10.0, 2: 5.7, 4: 2.9, 8: 2.2}
    (curve,) = strong_of(times)

    def squares(serial):
        return sum((time / 10 - amdahl(serial, ranks)) ** 2 for ranks, time in times.items())

    best = min((step / 10_000 for step in range(10_001)), key=squares)
    assert curve.serial == pytest.approx(best, abs=1e-4)


def test_ranks_that_share_cores_are_shown_and_not_fitted(strong_of):
    crowded = {"cpu_model": "Test CPU", "cores": 4, "host_count": 1}
    (curve,) = strong_of({1: 8.0, 2: 4.0, 4: 2.0, 8: 16.0}, environment=crowded)
    assert curve.serial == pytest.approx(0.0)
    assert [row[3] for row in curve.table().rows] == ["100 %", "100 %", "100 %", "6.2 %"]
    assert [row[4] for row in curve.table().rows] == ["", "", "", "ranks share cores: not fitted"]


def test_two_numbers_of_ranks_make_no_curve_and_too_few_cores_no_fit(strong_of, make_record):
    assert strong_of({1: 8.0, 2: 4.0}) == []
    assert strong_of({2: 8.0, 4: 4.0, 8: 2.0}) == []
    (curve,) = strong_of({1: 8.0, 2: 4.0, 4: 5.0}, environment={"cores": 2, "host_count": 1})
    assert curve.serial is None
    assert "no fit of Amdahl's law" in curve.fit()


@pytest.mark.parametrize(
    ("times", "said"),
    [({1: 1.0, 2: 2.0, 4: 3.0}, "cost more"), ({1: 9.0, 2: 4.0, 4: 1.5}, "exceeds the number of ranks")],
)
def test_what_no_serial_part_explains_is_said(strong_of, times, said):
    (curve,) = strong_of(times)
    assert "Amdahl's law does not describe it" in curve.fit() and said in curve.fit()
    assert 0 < curve.predicted(4) <= 4


def test_runs_of_other_ways_or_devices_make_other_curves(make_record):
    runs = [
        make_record(ranks=ranks, times=[8.0 / ranks] * 3, execution={"scan": scan}, environment=MANY)
        for scan in ("full", "pruned")
        for ranks in (1, 2, 4)
    ]
    curves = scaling.strong(compare(runs))
    assert [(curve.name, len(curve.points)) for curve in curves] == [("cpu", 3), ("cpu (scan = pruned)", 3)]


def test_times_by_gustafsons_law_give_its_serial_part_back(weak_runs):
    times = {ranks: 2.0 * ranks / (ranks - 0.1 * (ranks - 1)) for ranks in (1, 2, 4, 8)}
    (curve,) = scaling.weak(weak_runs(times))
    assert curve.serial == pytest.approx(0.1)
    assert [point.efficiency for point in curve.points] == pytest.approx([2.0 / time for time in times.values()])
    assert curve.predicted(8) == pytest.approx(7.3)


def test_grown_work_is_no_row_beside_other_work(make_record, weak_runs, section_of):
    section = section_of([make_record(environment=MANY), *weak_runs({1: 1.0, 2: 1.1, 4: 1.3})])
    assert [row.record.parameters for row in section.comparison.rows] == [{"climbers": 100}]
    assert [len(curve.points) for curve in section.weak] == [3]


def test_other_work_beside_grown_work_is_compared_without_it(make_record, weak_runs, section_of):
    other = [make_record(ranks=ranks, parameters={"climbers": 70}, hash="ab" * 8) for ranks in (1, 2)]
    section = section_of([*other, *weak_runs({1: 1.0, 2: 1.1, 4: 1.3})])
    assert [row.record.parameters for row in section.comparison.rows] == [{"climbers": 70}] * 2
    assert [len(curve.points) for curve in section.weak] == [3]


def test_a_report_of_grown_work_alone_shows_its_curve(weak_runs, report_of):
    text = report_of(weak_runs({1: 1.0, 2: 1.1, 4: 1.3}))
    assert "| 4 | 1.30 s [1.30 s, 1.30 s] | 3.08x [3.08, 3.08] | 77 % |" in text
    assert "Gustafson 1988" in text and "Amdahl" not in text


def test_the_plot_has_the_ideal_line_the_points_and_the_law(make_record, weak_runs, section_of, tmp_path, legible):
    times = {ranks: 8 * amdahl(0.1, ranks) for ranks in (1, 2, 4, 32)}
    own = {"environment": MANY, "parameters": {"climbers": 70}}
    runs = [make_record([time] * 3, ranks=ranks, **own) for ranks, time in times.items()]
    section = section_of([*runs, *weak_runs({1: 1.0, 2: 1.1, 4: 1.3})])
    (svg,) = plots_scaling.scaling(section, tmp_path, "scaling")
    text = svg.read_text()
    ElementTree.fromstring(text)
    for word in ("ideal", "Amdahl: serial part 10 %", "ranks share cores", "Gustafson: serial part", "weak scaling"):
        assert word in text
    assert plots_scaling.scaling(section_of([make_record()]), tmp_path, "none") == []
