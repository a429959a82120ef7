"""Program of a rank: calls that fail on one rank, each caught on all ranks and followed by a good call.

    mpirun -n 2 python tests/drivers/failing_ranks.py FOLDER

The folder has an empty folder `lost`, and a file `bad` that is neither a record nor a checkpoint. Every rank prints the
hash of the good calls.
"""

import shutil
import sys
from functools import partial
from pathlib import Path

import onekernel as ok
from backends.cpu.single_core import CpuBackend
from cluster import default_communicator

RANKS = default_communicator()
LAST = RANKS.size - 1
SHARED = {"backend": "cpu", "progress": False}
GOOD = {"instance": "taillard:9:seeds=1,2", "iterations": 60, "walks": 4, **SHARED}
ALLOCATE = CpuBackend.allocate


class Unreadable(ok.Qap):
    def __setstate__(self, state):
        raise ValueError(f"problem of rank {RANKS.rank}")


def fails(rank, error, *_):
    if RANKS.rank == rank:
        raise error


def calls(folder):
    """Yield a part of an error and the call that raises it."""
    qap, none, lost, bad = partial(ok.run, "qap", **GOOD), folder / "none" / "x", folder / "lost", folder / "bad"
    yield "none.dat: found no such file", partial(qap, instance="none.dat")
    yield "--initial none.txt: no such file", partial(qap, initial="none.txt")
    for driver, name in {"qap": "curve", "ihc": "tour", "aco": "svg", "exact": "checkpoint", "lcs": "record"}.items():
        yield f"--{name} {none}: cannot write", partial(ok.run, driver, **{name: str(none)}, **SHARED)
    yield f"{bad}:1: expected a run record", partial(qap, record=bad)
    yield f"--checkpoint {bad}: found a checkpoint", partial(qap, checkpoint=bad)
    yield f"{bad}: expected a checkpoint", partial(qap, checkpoint=bad, resume=True)
    yield f"{lost}/r: cannot write", partial(qap, record=lost / "r", callback=lambda _: shutil.rmtree(lost, True))
    for rank in (0, LAST):
        for call in (qap, partial(ok.run, "ihc", instance="uniform:12:seed=1", **SHARED)):
            error = ValueError(f"callback of rank {rank}")
            yield repr(error), partial(call, callback=partial(fails, rank, error))
    yield "ValueError('problem of rank 1')", partial(ok.minimize, Unreadable(GOOD["instance"]), iterations=9, **SHARED)
    for error in (MemoryError("full"), KeyboardInterrupt(), SystemExit(3), FileNotFoundError(2, "no", "file")):
        CpuBackend.allocate = partial(fails, LAST, error) if RANKS.rank == LAST else ALLOCATE
        yield repr(error), qap


if __name__ == "__main__":
    hashes = set()
    for said, call in calls(Path(sys.argv[1])):
        try:
            hashes.add(call().cost)
        except BaseException as error:
            assert said in repr(error)
        CpuBackend.allocate = ALLOCATE
        hashes.add(ok.run("qap", **GOOD).hash)
    print(*hashes, flush=True)
