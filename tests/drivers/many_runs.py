"""Program of a rank: runs of several workloads in one process, and the handles that it holds before and after.

    mpirun -n 2 python tests/drivers/many_runs.py

Prints two lines of JSON on each rank: the hashes of each workload with the handles before and after; and MPI's handles
when the process begins and when all else has ended.
"""

import atexit
import gc
import json
import os
import threading
from pathlib import Path

import onekernel as ok
from cluster.mpi.failures.liveness import start_mpi
from core.qap.problem import Qap

BEFORE, BETWEEN = 1, 2
SMALL = Qap.load("taillard:5:seeds=1,2")
SHARED = {"backend": "cpu"}
WORK = {
    "neighbours": lambda: ok.minimize(SMALL, iterations=5, **SHARED),
    "climbers": lambda: ok.run("ihc", instance="uniform:12:seed=1", climbers=40, **SHARED),
    "ants": lambda: ok.run("aco", instance="uniform:9:seed=1", ants=6, iterations=3, **SHARED),
    "subtrees": lambda: ok.run("exact", instance="uniform:8:seed=1", **SHARED),
    "columns": lambda: ok.run("lcs", text=("ABCBDAB" * 9, "BDCABA" * 9), **SHARED),
}


def next_handles():
    """Number of MPI's next handle of each kind: the least free one."""
    from mpi4py import MPI

    window = MPI.Win.Create(None, comm=MPI.COMM_WORLD)
    handles = {
        "operations": MPI.Op.Create(lambda given, result, kind: None),
        "datatypes": MPI.BYTE.Create_contiguous(3),
        "groups": MPI.COMM_WORLD.Get_group(),
        "communicators": MPI.COMM_WORLD.Dup(),
        "windows": window,
    }
    numbers = {name: one.py2f() for name, one in handles.items()}
    for one in handles.values():
        one.Free()
    return numbers


def held():
    gc.collect()
    return {
        **next_handles(),
        "files": len(os.listdir("/proc/self/fd")),
        "segments": Path("/proc/self/maps").read_text().count("memfd"),
        "tasks": len(os.listdir("/proc/self/task")),
        "threads": threading.active_count(),
    }


def main():
    # Open MPI makes a separate communicator at the first reduction.
    start_mpi().COMM_WORLD.allreduce(1)
    begin = next_handles()
    # Exit handlers run in reverse order of registration.
    atexit.register(lambda: print(json.dumps({"begin": begin, "end": next_handles()}), flush=True))
    results = {}
    for name, act in WORK.items():
        hashes = [act().hash for _ in range(BEFORE)]
        before = held()
        hashes += [act().hash for _ in range(BETWEEN)]
        results[name] = {"hashes": hashes, "before": before, "after": held()}
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
