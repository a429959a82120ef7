"""The first sentence of a report."""

import pytest

from reports.comparison.headline import headline
from reports.comparison.speedups import compare


@pytest.fixture
def said(make_record):
    """Headline of runs, each given by its times and other fields."""

    def make(*runs):
        return headline(compare([make_record(times=times, **changes) for times, changes in runs]))

    return make


CUDA = {"backend": "cuda"}
THREADS = {"backend": "threads"}


def test_the_fastest_is_named_with_both_times(said):
    text = said(([2.0], {}), ([1.0], THREADS), ([0.1], CUDA))
    assert text == "cuda is 20.0x as fast as one core: 100 ms against 2.00 s."


def test_where_none_beats_one_core_it_is_said_with_the_next(said):
    text = said(([1.0], {}), ([4.0], CUDA), ([2.0], THREADS))
    assert text == (
        "None beats one core: cpu is the fastest with 1.00 s. The next is threads with 2.00 s, 0.500x as fast."
    )


@pytest.mark.parametrize(
    ("one_core", "threads"),
    [([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [0.9, 1.0, 1.1, 1.2, 1.3, 1.6]), ([1.0, 1.3], [0.9, 1.1])],
)
def test_times_that_overlap_are_not_significant(said, one_core, threads):
    assert "not significantly faster than one core" in said((one_core, {}), (threads, THREADS))


def test_a_baseline_in_other_ways_that_is_faster_is_named(said):
    full, pruned = {"execution": {"scan": "full"}}, {"execution": {"scan": "pruned"}}
    text = said(([10.0], full), ([1.0], pruned), ([0.5], CUDA | full))
    assert text.startswith("cuda is 20.0x as fast as one core: 500 ms against 10.0 s. The fastest run on one core is")
    assert text.endswith("cpu (scan = pruned) with 1.00 s, and over that it is 2.00x.")


def test_a_fast_way_on_one_core_is_not_beaten_by_a_slow_way_elsewhere(said):
    full, pruned = {"execution": {"scan": "full"}}, {"execution": {"scan": "pruned"}}
    assert said(([10.0], full), ([1.0], pruned), ([2.0], CUDA | full)).startswith("None beats one core")


def test_a_simulated_run_is_never_the_fastest(said):
    simulated = CUDA | {"details": {"simulated": True}}
    assert said(([1.0], {}), ([0.1], simulated)) == "Only one core ran: cpu took 1.00 s."
    assert said(([0.1], simulated)) == "All runs are simulated, so no time is that of a device."


def test_without_one_core_there_is_no_ratio(said):
    assert said(([1.0], CUDA)) == ("The fastest is cuda with 1.00 s; there is no run on one core to compare with.")


def test_a_run_by_another_algorithm_than_those_on_one_core_has_no_ratio(said):
    text = said(
        ([1.0], {"execution": {"evaluation": "incremental"}}), ([0.1], CUDA | {"execution": {"evaluation": "linear"}})
    )
    assert text.endswith(" with 100 ms, and its algorithm did not run on one core: no ratio.")


def test_a_ratio_over_a_busy_core_says_that_it_is_doubtful(said):
    text = said(([25.5, 30.2, 35.1], {}), ([0.025], CUDA))
    assert text.startswith("cuda is 1,208x as fast as one core: 25.0 ms against 30.2 s. Doubtful, its baseline: spread")
    assert text.endswith("(from the shortest to the longest time): 32 %.")
    assert "Doubtful" not in said(([30.0, 30.2, 30.4], {}), ([0.025], CUDA))
