"""Items that are left, as intervals, against sets."""

from hypothesis import given
from hypothesis import strategies as st

from cluster import Solo
from core.search.intervals import Intervals

PAIRS = st.lists(st.integers(0, 40), min_size=2, max_size=2).map(sorted).map(tuple)


def disjoint(pairs):
    """Pairs that do not overlap, as `Intervals` has them."""
    items = sorted({k for begin, end in pairs for k in range(begin, end)})
    return Intervals([(k, k + 1) for k in items])


def items(intervals):
    return [k for begin, end in intervals.pairs for k in range(begin, end)]


@given(st.lists(PAIRS, max_size=6), PAIRS)
def test_a_part_is_that_of_the_items_in_order(pairs, places):
    left = disjoint(pairs)
    assert left.count == len(items(left))
    assert items(left.part(*places)) == items(left)[slice(*places)]


@given(st.lists(PAIRS, max_size=6), st.lists(PAIRS, max_size=6))
def test_what_is_left_has_no_item_with_a_place_that_was_taken(pairs, taken):
    left, places = disjoint(pairs), disjoint(taken).part(0, 40)
    places = Intervals([(begin, min(end, left.count)) for begin, end in places.pairs if begin < left.count])
    expected = [item for place, item in enumerate(items(left)) if place not in set(items(places))]
    assert items(left.less(places)) == expected
    assert items(left.less_taken(Solo(), places.pairs)) == expected
