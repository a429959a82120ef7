"""Measurements of `python -m cluster check`: pairs, fits, medians, and reports of anomalies."""

from dataclasses import replace
from itertools import repeat
from pathlib import Path

import pytest

from cluster.measure.anomalies import find_anomalies
from cluster.measure.measurement import ClusterMeasurement, Link, Network, RankSpeed, Reduction
from cluster.measure.ping_pong import MOST_BETWEEN, MOST_WITHIN, SIZES, choose_pairs, fit_network
from cluster.measure.reductions import numbers_of_ranks

VERSIONS = {"python": "3.11.2", "numpy": "2.1.0", "mpi": "Open MPI 5.0.11", "sources": "0123456789ab"}


def rank(number, host, rate):
    device = ("AMD EPYC", "cpu", 1, 2)
    return RankSpeed(number, host, *device, rate, "ppp 73-73", 2 * rate, VERSIONS, {})


MEASURED = ClusterMeasurement(
    (
        Link(0, 1, True, 1e-6, 1e-10),
        Link(2, 3, True, 3e-6, 3e-10),
        Link(0, 2, False, 50e-6, 8e-9),
        Link(1, 3, False, 60e-6, 10e-9),
        Link(0, 3, False, 90e-6, 9e-9),
    ),
    (Reduction(2, 8, 2e-6), Reduction(4, 8, 120e-6)),
    (rank(0, "a", 1e6), rank(1, "a", 2e6), rank(2, "b", 4e6), rank(3, "b", 5e6)),
)


def test_messages_have_medians_within_a_host_and_between_hosts():
    assert MEASURED.network(same_host=True) == pytest.approx((2e-6, 2e-10))
    assert MEASURED.network(same_host=False) == Network(60e-6, 9e-9)
    assert replace(MEASURED, links=()).network(same_host=False) is None
    assert MEASURED.hosts == 2


# --- anomalies ---


SAME = {"python": "3.11.2", "numpy": "2.1.0"}


def ranked(number, host="a", rate=1e6, alone=1e6, cores=1, versions=SAME):
    return RankSpeed(number, host, "CPU", "cpu", cores, 4, rate, "ppp", alone, versions, {})


def said(ranks, conditions=()):
    read = zip(ranks, conditions or repeat({}), strict=False)
    return list(find_anomalies([replace(rank, conditions=conditions) for rank, conditions in read]))


GOOD = [ranked(0), ranked(1), ranked(2, "b"), ranked(3, "b")]


def test_nothing_is_said_of_equal_ranks():
    assert said(GOOD) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            [ranked(3, "b", rate=5e5, alone=5e5)],
            "rank 3 (b): slow, from 50 % of the median speed of all ranks with cpu",
        ),
        (
            [ranked(k, cores=4, alone=1.2e6) for k in (0, 1)],
            "a is oversubscribed: 2 ranks want 8 cores of 4; a rank alone",
        ),
        ([ranked(k, rate=5e5) for k in (0, 1)], "ranks of a slow each other down: a rank alone is 2 times as fast"),
        ([ranked(3, "b", versions=SAME | {"numpy": "1.26"})], "numpy: found 1.26 on rank 3 (b), elsewhere 2.1.0"),
    ],
)
def test_an_anomaly_is_a_line(changed, message):
    ranks = {one.rank: one for one in (*GOOD, *changed)}
    (line,) = said(ranks.values())
    assert line.startswith(message)


def test_throttled_devices_are_named():
    conditions = [{"cpu_mhz_mean": mhz} for mhz in (3000.0, 3000.0, 3100.0, 1200.0)]
    assert said(GOOD, conditions) == ["rank 3: CPU runs at 1200 MHz, elsewhere at 3000"]
    conditions = [{}, {"throttled_by": ["temperature"]}, {"throttled_by": []}, {}]
    assert said(GOOD, conditions) == ["rank 1 (a): its GPU is throttled by temperature"]


def test_of_many_ranks_some_are_named():
    ranks = [ranked(number, "a" if number < 12 else "b", alone=1e6 if number < 12 else 4e5) for number in range(20)]
    assert said(ranks)[0].startswith("ranks 12, 13, 14, 15 and 4 more (b): slow, from 40 %")


MEASURING = Path(__file__).with_name("measuring.py")


def test_neighbours_on_each_host_and_first_ranks_of_hosts_are_paired():
    assert choose_pairs(["a"]) == []
    assert choose_pairs(["a", "a", "b", "b"]) == [(0, 1), (2, 3), (0, 2)]
    assert choose_pairs(["a", "b", "a", "c"]) == [(0, 2), (0, 1), (0, 3), (1, 3)]


@pytest.mark.parametrize("hosts", [["a"] * 64, [f"{number // 4}" for number in range(400)]])
def test_of_many_ranks_only_some_pairs_are_measured(hosts):
    pairs = choose_pairs(hosts)
    within = [pair for pair in pairs if hosts[pair[0]] == hosts[pair[1]]]
    assert len(pairs) == len(set(pairs))
    assert len(within) == MOST_WITHIN and len(pairs) - len(within) in (0, MOST_BETWEEN)
    assert max(max(pair) for pair in within) > 0.8 * len(hosts)


def test_alpha_and_beta_are_found_again_in_exact_times():
    times = [50e-6 + 8e-9 * size for size in SIZES]
    assert fit_network(SIZES, times) == pytest.approx((50e-6, 8e-9))


def test_neither_alpha_nor_beta_falls_below_zero():
    assert fit_network((0, 1000), (2e-6, 1e-6)) == pytest.approx((1.2e-6, 0.0))
    assert fit_network((1, 10, 100), (1e-9, 2e-8, 3e-7)).alpha_s == 0.0


def test_reductions_are_measured_over_powers_of_two_and_all_ranks():
    assert [numbers_of_ranks(size) for size in (2, 3, 8, 13)] == [[2], [2, 3], [2, 4, 8], [2, 4, 8, 13]]


@pytest.mark.slow
def test_three_ranks_on_two_hosts_are_measured(mpirun):
    done = mpirun(3, MEASURING)
    assert (done.returncode, done.stdout) == (0, "measured\n"), done.stderr
