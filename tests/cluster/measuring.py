"""Program of a rank: measure messages, reductions, clocks and paces as if there were two hosts.

Rank 0 writes a JSON file. A step takes rank 0 a millisecond and the others three, of ten units each.
"""

import json
import sys
import time
from pathlib import Path

from cluster import clocks, communicator, paces, pairs, reductions

HOSTS = ["a", "b", "a"]


def main():
    ranks = communicator()
    ahead = 3600 if HOSTS[ranks.rank] == "b" else 0
    links = pairs.measured(ranks.world, HOSTS)
    ranks.assemble()
    reduced = reductions.measured(ranks.world, HOSTS)
    ranks.assemble()
    offsets = clocks.offsets(ranks.world, HOSTS, lambda: time.time() + ahead)
    ranks.assemble()
    step_s = 0.003 if ranks.rank else 0.001
    found = paces.measured(ranks.world, lambda: time.sleep(step_s), 10, HOSTS)
    everyone = ranks.gather(links)
    if everyone is not None:
        said = {"links": [link for links in everyone for link in links], "reductions": reduced, "offsets": offsets}
        Path(sys.argv[1]).write_text(json.dumps(said | {"paces": [one._asdict() for one in found]}))


main()
