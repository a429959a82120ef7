"""Redistribution of subproblems between ranks: which rank gives how much to which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.exact.enumeration import PendingWork, plan_transfers


def holding(records, lanes=1, room=1000, speed=10):
    return PendingWork(records, lanes, room, speed)


def after(states, transfers):
    records = [one.records for one in states]
    for source, to, count in transfers:
        assert count > 0 and source != to
        records[source] -= count
        records[to] += count
    return records


@pytest.mark.parametrize(
    ("loads", "records"),
    [
        ([holding(8), holding(0)], [4, 4]),
        ([holding(0), holding(9), holding(0)], [3, 3, 3]),
        ([holding(12, speed=10), holding(0, speed=30)], [3, 9]),
        ([holding(8, speed=0), holding(0, speed=0)], [4, 4]),
        ([holding(8, speed=0), holding(0, speed=5), holding(1, speed=5)], [3, 3, 3]),
        ([holding(100, room=100), holding(0, room=3)], [97, 3]),
        ([holding(900_000, lanes=1000, room=10**6), holding(100, lanes=1000, room=10**6)], [450_050, 450_050]),
        ([holding(1, speed=1), holding(0, lanes=1000, speed=1000)], [0, 1]),
    ],
    ids=lambda value: None if isinstance(value[0], PendingWork) else "-".join(map(str, value)),
)
def test_many_records_go_where_there_are_few_or_where_they_are_explored_sooner(loads, records):
    assert after(loads, plan_transfers(loads)) == records


@given(
    st.lists(
        st.builds(PendingWork, st.integers(0, 500), st.integers(1, 64), st.integers(500, 2000), st.integers(0, 10**9)),
        min_size=1,
        max_size=9,
    )
)
def test_moves_keep_all_records_and_every_room(loads):
    transfers = plan_transfers(loads)
    records = after(loads, transfers)
    assert sum(records) == sum(one.records for one in loads)
    assert all(0 <= count <= one.room for count, one in zip(records, loads, strict=True))
    givers, takers = ({move[end] for move in transfers} for end in (0, 1))
    assert not givers & takers
