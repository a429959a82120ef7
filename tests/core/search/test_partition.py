"""Shares of items for ranks, equal and by speed; items that are left, as intervals, against sets."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster import Solo
from core.search.partition import Intervals, equal_part, have_equal_devices, parts_by_speed

TOTALS = st.integers(0, 2**70)
SPEEDS = st.lists(st.one_of(st.integers(0, 10**12), st.floats(0, 1e300)), min_size=1, max_size=40).filter(any)


def assert_contiguous(shares, total):
    assert [begin for begin, _ in shares] == [0, *(end for _, end in shares[:-1])]
    assert shares[-1][1] == total
    assert all(begin <= end for begin, end in shares)


@given(TOTALS, st.integers(1, 100))
def test_equal_shares_cover_everything_and_differ_by_at_most_one(total, size):
    shares = [equal_part(total, rank, size) for rank in range(size)]
    assert_contiguous(shares, total)
    lengths = [end - begin for begin, end in shares]
    assert max(lengths) - min(lengths) <= 1


@given(TOTALS, SPEEDS)
def test_parts_by_speed_are_all_items_and_none_is_below_its_quota(total, speeds):
    parts = parts_by_speed(total, speeds)
    assert sum(parts) == total
    whole = sum(map(Fraction, speeds))
    for part, speed in zip(parts, speeds, strict=True):
        assert part >= total * Fraction(speed) // whole
        assert speed or not part


@given(st.integers(0, 12), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_no_other_parts_are_done_sooner(total, speeds):
    def end(parts):
        return max(Fraction(part, speed) for part, speed in zip(parts, speeds, strict=True))

    others = (one for one in itertools.product(range(total + 1), repeat=len(speeds)) if sum(one) == total)
    assert end(parts_by_speed(total, speeds)) == min(map(end, others))


@pytest.mark.parametrize("others", [("cpu", "A", 1), ("cpu", "B", 1), ("threads", "A", 1), ("cpu", "A", 2)], ids=str)
def test_ranks_are_alike_whose_devices_are_of_one_kind(others):
    backend = SimpleNamespace(name="cpu", device=SimpleNamespace(name="A"), capabilities=1)
    ranks = SimpleNamespace(size=2, is_silent=False, gather=lambda own: [own, others], bcast=lambda found: found)
    assert have_equal_devices(backend, ranks) == (others == ("cpu", "A", 1))


def test_a_rank_alone_or_in_a_rehearsal_is_alike_and_asks_nobody():
    assert have_equal_devices(None, SimpleNamespace(size=1, is_silent=False))
    assert have_equal_devices(None, SimpleNamespace(size=4, is_silent=True))


# --- intervals ---

PAIRS = st.lists(st.integers(0, 40), min_size=2, max_size=2).map(sorted).map(tuple)


def disjoint(pairs):
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
def test_what_is_left_has_no_item_with_a_place_that_was_taken(pairs, positions):
    left, places = disjoint(pairs), disjoint(positions).part(0, 40)
    places = Intervals([(begin, min(end, left.count)) for begin, end in places.pairs if begin < left.count])
    expected = [item for place, item in enumerate(items(left)) if place not in set(items(places))]
    assert items(left.less(places)) == expected
    assert items(left.less_taken(Solo(), places.pairs)) == expected
