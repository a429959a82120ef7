"""Of a baseline that was measured in several groups, the quietest counts, and the spread of all is said."""

import pytest
from msgspec.structs import replace

from reports.comparison.speedups import compare


def grouped(record, *groups):
    ends = [0, *(sum(groups[: place + 1]) for place in range(len(groups)))]
    begins = [begin for begin, size in zip(ends, groups, strict=False) for _ in range(size)]
    repetitions = [replace(one, group=begin or None) for one, begin in zip(record.repetitions, begins, strict=True)]
    return record.with_repetitions(tuple(repetitions), verified=True)


def test_the_quietest_group_is_the_baseline_and_the_spread_is_a_note(make_record):
    baseline = grouped(make_record((2.2, 2.3, 2.4, 2.0, 2.0, 2.1)), 3, 3)
    before, after = compare([baseline, make_record((0.5,) * 3, backend="threads")]).rows
    assert before.running.median.value == 2.0 and before.running.repetitions == 3
    assert after.speedup.value == 4.0
    assert before.labels == (
        "the quietest of several groups of repetitions, before and after the others; the slowest took up to 30 % longer",
    )


@pytest.mark.parametrize(
    ("slow", "said"), [(2.1, "up to 10 %"), (2.3, "up to 30 %"), (4.0, "up to 100 %"), (5.0, "over 100 %")]
)
def test_groups_share_a_label_by_a_bound_of_their_spread(make_record, slow, said):
    (row,) = compare([grouped(make_record((slow,) * 3 + (2.0,) * 3), 3, 3)]).rows
    assert row.labels[0].endswith(f"the slowest took {said} longer")


def test_a_group_of_too_few_repetitions_does_not_count(make_record):
    (row,) = compare([grouped(make_record((2.2, 2.3, 2.4, 1.0)), 3, 1)]).rows
    assert row.running.median.value == 2.3


def test_repetitions_of_one_group_and_of_other_devices_all_count(make_record):
    (alone,) = compare([grouped(make_record((2.2, 2.3, 2.4)), 3)]).rows
    assert alone.running.repetitions == 3 and not alone.labels
    (threads,) = compare([grouped(make_record((2.0, 2.0, 1.0, 1.0), backend="threads"), 2, 2)]).rows
    assert threads.running.repetitions == 4
