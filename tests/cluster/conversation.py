"""Program of a rank: put the words of a JSON file into every method of a communicator, print the answers."""

import json
import sys
from pathlib import Path

import numpy as np

from cluster import communicator


def main() -> None:
    words = json.loads(Path(sys.argv[1]).read_text())
    ranks = communicator()
    mine = words[ranks.rank]
    wrapped = ranks.sum(np.uint64(mine["summand"] % 2**64))
    table = ranks.sum(np.array(mine["table"], dtype=np.int32).reshape(2, -1))
    grid = np.arange(12, dtype=np.int16).reshape(3, 4).T if ranks.rank == 0 else None
    received = ranks.bcast(grid)
    passed = np.full((2, 3), 100 * ranks.rank + 7, np.uint16)  # along the ranks, each adds one to what it hears
    if ranks.rank > 0:
        ranks.receive(passed, ranks.rank - 1)
        passed += 1
    if ranks.rank < ranks.size - 1:
        ranks.send(passed, ranks.rank + 1)
    empty = ranks.bcast(np.zeros((0, 5)) if ranks.rank == 0 else None)
    heard = {
        "minloc": [ranks.minloc(value, index) for value, index in mine["pairs"]],
        "sum": ranks.sum(mine["summand"]),
        "wrapped": [int(wrapped), type(wrapped).__name__],
        "table": [table.tolist(), str(table.dtype)],
        "grid": [received.tolist(), str(received.dtype)],
        "empty": list(empty.shape),
        "passed": passed.tolist(),
        "joined": ranks.join(np.arange(3 * ranks.rank, dtype=np.uint16)).tolist(),
        "object": ranks.bcast({"from": mine["name"]}),
        "local_rank": ranks.local_rank,
        "mpi": "mpi4py" in sys.modules,
    }
    names = ranks.gather(mine["name"])
    everything = ranks.gather(heard)
    ranks.barrier()
    if ranks.rank == 0:
        print(json.dumps({"names": names, "heard": everything, "size": ranks.size}))
    else:
        assert names is None and everything is None


main()
