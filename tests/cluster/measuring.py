"""Program of a rank: measure messages, reductions and clocks as if there were two hosts; rank 0 writes a JSON file."""

import json
import sys
import time
from pathlib import Path

from cluster import clocks, communicator, pairs, reductions

HOSTS = ["a", "b", "a"]


def main() -> None:
    ranks = communicator()
    ahead = 3600 if HOSTS[ranks.rank] == "b" else 0
    links = pairs.measured(ranks.world, HOSTS)
    ranks.assemble()
    reduced = reductions.measured(ranks.world, HOSTS)
    ranks.assemble()
    offsets = clocks.offsets(ranks.world, HOSTS, lambda: time.time() + ahead)
    everyone = ranks.gather(links)
    if everyone is not None:
        said = {"links": [link for links in everyone for link in links], "reductions": reduced, "offsets": offsets}
        Path(sys.argv[1]).write_text(json.dumps(said))


main()
