"""What is said of doubtful ranks, and nothing of good ones."""

import pytest

from cluster.cautions import cautions
from cluster.measured import Measured, RankSpeed

VERSIONS = {"python": "3.11.2", "numpy": "2.1.0"}


def rank(number, host="a", rate=1e6, alone=1e6, cores=1, offset=0.0, versions=VERSIONS):
    return RankSpeed(number, host, "CPU", "cpu", cores, 4, rate, "neighbours", "ppp", alone, offset, versions)


def said(ranks, conditions=()):
    return cautions(Measured("", "", (), (), (), tuple(ranks)), conditions)


GOOD = [rank(0), rank(1), rank(2, "b"), rank(3, "b")]


def test_nothing_is_said_of_equal_ranks():
    assert said(GOOD) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ([rank(3, "b", rate=5e5, alone=5e5)], "rank 3 (b): slow, from 50 % of the median speed of all ranks with cpu"),
        (
            [rank(k, cores=4, alone=1.2e6) for k in (0, 1)],
            "a is oversubscribed: 2 ranks want 8 cores of 4; a rank alone",
        ),
        ([rank(k, rate=5e5) for k in (0, 1)], "ranks of a are in each other's way: a rank alone is 2 times as fast"),
        ([rank(k, "b", offset=-90.0) for k in (2, 3)], "the clock of b is 90 s behind that of a"),
        ([rank(3, "b", versions=VERSIONS | {"numpy": "1.26"})], "numpy: found 1.26 on rank 3 (b), elsewhere 2.1.0"),
        ([rank(1, versions={"python": "3.11.2"})], "numpy: found none on rank 1 (a), elsewhere 2.1.0"),
    ],
)
def test_what_is_doubtful_is_said_in_a_line(changed, told):
    ranks = {one.rank: one for one in (*GOOD, *changed)}
    (line,) = said(ranks.values())
    assert line.startswith(told)


def test_throttled_devices_are_named():
    conditions = [{"cpu_mhz_mean": mhz} for mhz in (3000.0, 3000.0, 3100.0, 1200.0)]
    assert said(GOOD, conditions) == ["rank 3: CPU runs at 1200 MHz, elsewhere at 3000"]
    conditions = [{}, {"throttled_by": ["temperature"]}, {"throttled_by": []}, {}]
    assert said(GOOD, conditions) == ["rank 1 (a): its GPU is throttled by temperature"]


def test_of_many_ranks_some_are_named():
    ranks = [rank(number, "a" if number < 12 else "b", alone=1e6 if number < 12 else 4e5) for number in range(20)]
    assert said(ranks)[0].startswith("ranks 12, 13, 14, 15 and 4 more (b): slow, from 40 %")
