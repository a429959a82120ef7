"""Start-up as a part of a time: bounded by what is outside kernels, measured by two lengths."""

from dataclasses import replace

import pytest

from reports.papers.measures import MEASURES, ExhibitCell
from reports.records.schema import Repetition
from reports.statistics.startup import iteration_slope, ratio_of_slopes, startup_share
from tests.reports.test_exhibits import filled


def samples_of(kernel, *times):
    return tuple(Repetition(0.0, 0.0, kernel, time) for time in times)


@pytest.fixture
def timed(make_run):
    def make(iterations, kernel, *times, **changes):
        asked = {"iterations": iterations} | changes.pop("parameters", {})
        return make_run(parameters=asked, repetitions=samples_of(kernel, *times), **changes)

    return make


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"tenure": 9}},
        {"execution": {"mapping": "published"}},
        {"backend": "cuda"},
        {"seed": 1},
        {"ranks": 2},
    ],
)
def test_a_partner_differs_in_its_length_alone(timed, change):
    long, other = timed(100, 0.5, 1.0), timed(50, 0.5, 0.75, **change)
    assert iteration_slope(long, [other]) is None and startup_share(long, [other]) == 0.5


def test_times_that_do_not_surely_grow_have_no_slope(timed):
    long = timed(100, 0.5, 0.9, 1.0, 1.1)
    assert iteration_slope(long, [timed(50, 0.5, 0.7, 0.8, 0.95)]) is None
    slope = iteration_slope(long, [timed(50, 0.5, 0.7, 0.75, 0.8)])
    assert (slope.low, slope.value, slope.high) == pytest.approx((0.002, 0.005, 0.008))
    ratio = ratio_of_slopes(replace(slope, value=0.05, low=0.04, high=0.06), slope)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((5.0, 10.0, 30.0))


# --- in cells ---


def cell_of(records, backend="cuda", number="2"):
    """Text of the only cell of a backend, and its notes and values."""
    (datum,) = (one for one in filled("luong2013", number, records).ours if one.row.record.backend == backend)
    return datum


def test_a_short_run_has_no_ratio_and_a_note_says_why(timed):
    core, gpu = timed(100, 1.0, 1.0, 1.0, 1.0), timed(100, 0.06, 0.1, 0.1, 0.1, backend="cuda")
    cell = cell_of([core, gpu])
    assert cell.words == ("100 ms [100 ms, 100 ms], kernel 60.0 ms", "no ratio (start-up up to 40 %)")
    assert "speedup" not in cell.values
    (note,) = cell.notes
    assert note.startswith("100 iterations, not 10,000: seconds do not compare with the paper's, nor does a ratio")
    core, gpu = timed(100, 0.5, 1.0, 1.0, 1.0), timed(100, 0.1, 0.1, 0.1, 0.1, backend="cuda")
    assert cell_of([core, gpu]).words[1] == "no ratio (the baseline's start-up up to 50 %)"


def test_a_run_that_is_long_enough_or_has_the_papers_amount_has_its_ratio(timed):
    for iterations, kernel in ((100, 0.096), (10_000, 0.06)):
        core, gpu = timed(iterations, 1.0, 1.0, 1.0, 1.0), timed(iterations, kernel, 0.1, 0.1, 0.1, backend="cuda")
        assert cell_of([core, gpu]).values["speedup"] == 10.0
    assert any(note.endswith(", ratios do") for note in cell_of([timed(100, 1.0, 1.0, 1.0, 1.0)], "cpu").notes)


def test_runs_of_two_lengths_have_a_ratio_of_slopes_and_the_longer_one_stands_in_the_cell(timed):
    core = [timed(100, 1.0, 1.0, 1.0, 1.0), timed(25, 0.25, 0.25, 0.25, 0.25)]
    gpu = [timed(100, 0.02, 0.1, 0.1, 0.1, backend="cuda"), timed(25, 0.005, 0.07, 0.07, 0.07, backend="cuda")]
    cell = cell_of([*core, *gpu])
    assert cell.row.record.parameters["iterations"] == 100
    assert cell.words[1] == "×25.0 [25.0, 25.0] by slopes" and cell.values["speedup"] == pytest.approx(25.0)


def test_where_a_paper_prints_no_iterations_a_short_run_has_no_time_of_one(make_ants):
    def ants(strategy, kernel, *times, **parameters):
        return make_ants(strategy, backend="cuda", parameters=parameters, repetitions=samples_of(kernel, *times))

    coarse, fine = ants("coarse", 2.0, 2.0, 2.0, 2.0), ants("fine", 0.2, 1.0, 1.0, 1.0)
    words = {one.column: one.words for one in filled("menezes2019", "II", [coarse, fine]).ours}
    assert words["coarse, 1,024 ants"] == ("100 ms [100 ms, 100 ms] an iteration",)
    seconds = "1.00 s [1.00 s, 1.00 s], kernel 200 ms for 20 iterations"
    assert words["fine, 1,024 ants"] == ("no ratio (start-up up to 80 %)", seconds)
    pair = ants("coarse", 0.5, 0.5, 0.5, 0.5, iterations=5), ants("fine", 0.05, 0.7, 0.7, 0.7, iterations=5)
    words = {one.column: one.words for one in filled("menezes2019", "II", [coarse, fine, *pair]).ours}
    seconds = "20.0 ms [20.0 ms, 20.0 ms] an iteration, by slope"
    assert words["fine, 1,024 ants"] == ("5.00x [5.00, 5.00] by slopes", seconds)


def test_the_kernel_time_beside_the_time_of_an_iteration_is_that_of_an_iteration(make_ants):
    def coarse(iterations, *times):
        return make_ants(
            "coarse", backend="cuda", parameters={"iterations": iterations}, repetitions=samples_of(*times)
        )

    (long,) = filled("menezes2019", "II", [coarse(20, 1.0, 2.0), coarse(5, 0.25, 0.5)]).ours
    assert long.words == ("100 ms an iteration, kernel 50.0 ms",)


def test_a_kernel_time_stands_beside_a_time_that_is_mostly_something_else(timed):
    for kernel, said in ((0.79, True), (0.81, False), (0.0, False)):
        (row,) = (one.row for one in filled("luong2013", "2", [timed(10_000, kernel, 1.0)]).ours)
        assert (f", kernel {kernel * 1000:.0f} ms" in MEASURES["seconds"].words(ExhibitCell(row))) == said
