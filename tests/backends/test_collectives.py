"""Collectives of devices on ranks that share memory, on ranks that do not, and on both."""

import json
from pathlib import Path

import pytest

from backends.collectives import left_border_transfers
from core.ranks import Transfer

MEETING = Path(__file__).with_name("meeting.py")
SIZE = 1000


@pytest.mark.parametrize(
    ("ranks", "backends", "hosts"),
    [
        (2, "opencl", 1),
        (3, "cpu,threads", 2),
        pytest.param(2, "joblib", 1, marks=pytest.mark.slow),
        pytest.param(3, "cpu,opencl", 2, marks=pytest.mark.slow),
        pytest.param(7, "cpu", 3, marks=pytest.mark.long),
        pytest.param(5, "threads,cpu,python", 1, marks=pytest.mark.long),
    ],
)
def test_all_ranks_see_what_the_others_have_written(mpirun, ranks, backends, hosts):
    done = mpirun(ranks, MEETING, backends, hosts)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    places = [(rank % hosts, -rank if "opencl" in backends.split(",")[rank % len(backends.split(","))] else 1)
              for rank in range(ranks)]  # fmt: skip
    whole = sum(5 + k for k in range(SIZE))
    for rank, (at_once, recorded, groups, was_silent, has_sent) in enumerate(said):
        assert groups == [places.index(place) for place in places]
        assert was_silent and has_sent
        for heard, times in ((at_once, 1), (recorded, 2)):
            assert heard["whole"] == times * whole
            seen, first, end = heard["nearby"]
            assert seen == times * sum(9 + k for k in range(first, end))
            sums = [ranks * k - 7 * sum(range(ranks)) for k in range(5)]
            assert heard["own"] == [-7 * rank, *sums[1:4], 4 - 7 * rank]
            assert heard["key"] == 100 - (ranks - 1)
            assert heard["passed"] == [rank, 0, 0, rank]


def test_a_rank_takes_from_its_left_what_it_reads_and_has_not():
    bounds = [0, 10, 14, 20, 20, 30]
    assert [*left_border_transfers(bounds, range(5), 8)] == [
        Transfer(0, 1, 2, 8),
        Transfer(0, 2, 6, 4),
        Transfer(1, 2, 10, 4),
        Transfer(1, 4, 12, 2),
        Transfer(2, 4, 14, 6),
    ]
    assert [*left_border_transfers(bounds, [0, 1, 0, 3, 1], 8)] == [
        Transfer(0, 1, 2, 8),
        Transfer(1, 2, 10, 4),
        Transfer(2, 4, 14, 6),
    ]
