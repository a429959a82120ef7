"""Equally many cores as ranks with threads: tables and sentences of a comparison."""

import pytest

from reports.pages.comparison_tables import tables

MACHINE = {"commit": "0123abc", "cpu_model": "Test CPU", "cores": 16, "host_count": 1, "host": "a"}
WORK = 32.0


@pytest.fixture
def mixed(make_record, section_of):
    """A section with one core's run and others: ranks, cores of each, and times."""

    def run(ranks, cores, times, environment):
        details = {"rank_cores": ["0"] * ranks}
        where = {"backend": "cpu"}
        if cores > 1:
            where = {"backend": "threads", "device": f"{cores} of 16 cores"}
            details["cores_per_rank"] = cores
        return make_record(times, ranks=ranks, environment=environment, details=details, **where)

    def make(*runs, environment=MACHINE):
        asked = (1, 1, [WORK] * 6), *runs
        return section_of([run(*one, environment=environment) for one in asked])

    return make


FOUR = ((4, 4, [2.5] * 6), (1, 16, [3.0] * 6), (16, 1, [4.0] * 6))


def test_a_row_for_each_mixture_and_how_the_fastest_stands_to_both_ends(mixed, report_of, is_golden):
    is_golden(report_of([row.record for row in mixed(*FOUR).comparison.rows]), "compare-mixed.md")


@pytest.mark.parametrize(("other", "said"), [([2.3, 3.4, 2.9, 2.2, 2.6, 3.3], True), ([3.0] * 6, False)])
def test_times_that_chance_explains_are_not_significant(mixed, other, said):
    (mixture,) = mixed((1, 16, [2.4, 2.6, 2.2, 2.8, 2.5, 2.3]), (16, 1, other)).mixed
    assert any("the difference is not significant" in sentence for sentence in mixture.verdicts()) == said


def test_only_rows_of_equally_many_cores_that_were_asked_for_stand_together(mixed, make_record, section_of):
    section = mixed((1, 4, [9.0] * 6), (2, 2, [8.0] * 6), (1, 8, [5.0] * 6), (16, 1, [4.0] * 6))
    assert [(one.cores, [row.record.ranks for row in one.rows]) for one in section.mixed] == [(4, [1, 2])]
    assert section_of([make_record(), make_record(backend="threads"), make_record(ranks=2)]).mixed == []


def test_threads_of_ranks_count_where_speed_ups_and_cores_are_compared(mixed):
    section = mixed(*FOUR)
    assert not [caution for caution in section.cautions if "speed-up above" in caution.text]
    too_fast = mixed((4, 4, [1.0] * 6))
    (too_many,) = [caution for caution in too_fast.cautions if "speed-up above" in caution.text]
    assert list(too_many.figures.values()) == ["32.0x on 16"]


def test_more_threads_than_cores_are_said_and_efficiency_is_that_of_the_cores(mixed):
    section = mixed((2, 4, [16.0] * 6), (8, 1, [32.0] * 6), environment=MACHINE | {"cores": 4})
    table = tables(section)["mixed 1"]
    assert table.caption.endswith(": 8 workers for 4 cores, divided among ranks")
    assert [row[4] for row in table.rows] == ["100 %", "50 %", "25 %"]
    oversubscribed = [caution.text for caution in section.cautions if "oversubscribed" in caution.text]
    assert oversubscribed == ["oversubscribed: 2 ranks of 4 cores on 4 cores", "oversubscribed: 8 ranks on 4 cores"]
