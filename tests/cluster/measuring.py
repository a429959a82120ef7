"""Program of a rank: measure messages and reductions as if there were two hosts.

Ranks 0 and 2 claim to be on one host, rank 1 on another.
"""

from cluster import default_communicator
from cluster.measure import ping_pong, reductions

HOSTS = ["a", "b", "a"]
SIZES = (8, 64, 1024, 16384, 131072, 1 << 20)


def main():
    ranks = default_communicator()
    everyone = ranks.gather(ping_pong.measure_links(ranks.world, HOSTS))
    reduced = reductions.measure_reductions(ranks.world)
    if everyone is None:
        return
    links = [link for links in everyone for link in links]
    assert [(link.source, link.target, link.same_host) for link in links] == [(0, 2, True), (0, 1, False)]
    assert all(0 < link.alpha_s + SIZES[-1] * link.beta_s_per_byte < 1 for link in links)
    assert [(one.ranks, one.bytes) for one in reduced[: len(SIZES)]] == [(2, size) for size in SIZES]
    assert {one.ranks for one in reduced} == {2, 3}
    assert all(0 < one.seconds < 1 for one in reduced)
    print("measured")


main()
