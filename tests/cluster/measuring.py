"""Program of a rank: measure messages, reductions, clocks and compute rates as if there were two hosts.

Ranks 0 and 2 claim to be on one host, rank 1 on another with a clock an hour ahead. A step of ten units takes rank 0
one millisecond and the others three, on a clock on which messages take a microsecond: busy cores change no rate.
"""

import time

from cluster import default_communicator
from cluster.measure import clock_offsets, compute_rates, ping_pong, reductions

HOSTS = ["a", "b", "a"]
SIZES = (8, 64, 1024, 16384, 131072, 1 << 20)


class Clock:
    """A clock that advances by a microsecond when it is read, and by the seconds of a step."""

    def __init__(self):
        self.seconds = 0.0

    def perf_counter(self):
        self.seconds += 1e-6
        return self.seconds

    def make_step(self, seconds):
        self.seconds += seconds


def main():
    ranks = default_communicator()
    ahead = 3600 if HOSTS[ranks.rank] == "b" else 0
    everyone = ranks.gather(ping_pong.measure_links(ranks.world, HOSTS))
    reduced = reductions.measure_reductions(ranks.world, HOSTS)
    ranks.assemble()
    offsets = clock_offsets.measure_clock_offsets(ranks.world, HOSTS, lambda: time.time() + ahead)
    ranks.assemble()
    clock = reductions.time = Clock()
    step_s = 0.003 if ranks.rank else 0.001
    paces = compute_rates.measure_compute_rates(ranks.world, lambda: clock.make_step(step_s), 10, HOSTS)
    if everyone is None:
        return
    links = [link for links in everyone for link in links]
    assert [(link.source, link.target, link.same_host) for link in links] == [(0, 2, True), (0, 1, False)]
    assert all(0 < link.alpha_s + SIZES[-1] * link.beta_s_per_byte < 1 for link in links)
    assert [(one.ranks, one.hosts, one.bytes) for one in reduced[: len(SIZES)]] == [(2, 2, size) for size in SIZES]
    assert {one.ranks for one in reduced} == {2, 3}
    assert all(0 < one.low_s <= one.seconds <= one.high_s and one.calls >= 5 for one in reduced)
    assert [round(offset) for offset in offsets] == [0, 3600, 0]
    assert [(pace.ranks, pace.hosts) for pace in paces] == [(1, 1), (2, 2), (3, 2)]
    # Ranks that synchronise after every step are as slow as the slowest.
    assert [round(pace.unit_s * 1e6) for pace in paces] == [100, 300, 300]
    assert [pace.steps for pace in paces] == [3 * 15 * 26, 3 * 15 * 8, 3 * 15 * 8]
    print("measured")


main()
