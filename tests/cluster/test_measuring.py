"""Measurements between ranks: chosen pairs, and fits of their times."""

from pathlib import Path

import pytest

from cluster.measure.ping_pong import MOST_BETWEEN, MOST_WITHIN, SIZES, choose_pairs, fit_network
from cluster.measure.reductions import numbers_of_ranks

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
