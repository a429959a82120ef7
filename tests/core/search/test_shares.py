from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.shares import share, weighted_share

TOTALS = st.integers(0, 2**70)
WEIGHTS = st.lists(st.one_of(st.integers(0, 10**12), st.floats(0, 1e300)), min_size=1, max_size=40).filter(any)


def assert_contiguous(shares, total):
    assert [begin for begin, _ in shares] == [0, *(end for _, end in shares[:-1])]
    assert shares[-1][1] == total
    assert all(begin <= end for begin, end in shares)


@given(TOTALS, st.integers(1, 100))
def test_equal_shares_cover_everything_and_differ_by_at_most_one(total, size):
    shares = [share(total, rank, size) for rank in range(size)]
    assert_contiguous(shares, total)
    lengths = [end - begin for begin, end in shares]
    assert max(lengths) - min(lengths) <= 1


@given(TOTALS, WEIGHTS)
def test_weighted_shares_cover_everything_and_are_within_one_item_of_their_quota(total, weights):
    shares = [weighted_share(total, rank, weights) for rank in range(len(weights))]
    assert_contiguous(shares, total)
    whole = sum(map(Fraction, weights))
    for (begin, end), weight in zip(shares, weights, strict=True):
        assert abs(end - begin - total * Fraction(weight) / whole) < 1


def test_equal_weights_give_equal_shares():
    assert [weighted_share(10, rank, [0.1] * 4) for rank in range(4)] == [share(10, r, 4) for r in range(4)]


def test_a_rank_three_times_as_fast_gets_three_times_as_much():
    assert [weighted_share(1000, rank, [1.5, 0, 4.5]) for rank in range(3)] == [
        (0, 250),
        (250, 250),
        (250, 1000),
    ]


@pytest.mark.parametrize("weights", [[1, -1], [0, 0], [float("nan")], [1, float("inf")]])
def test_weights_that_are_no_speeds_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be finite"):
        weighted_share(10, 0, weights)


@pytest.mark.parametrize(("total", "rank", "size"), [(-1, 0, 1), (10, 2, 2), (10, -1, 2), (10, 0, 0)])
def test_a_share_that_cannot_be_is_refused(total, rank, size):
    with pytest.raises(ValueError, match="found -?[0-9]"):
        share(total, rank, size)
