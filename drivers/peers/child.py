"""The process of a package: it reads what to solve, solves it and writes the answers with their times.

python -m drivers.peers.child REQUEST RESULT        paths of two files: a pickled request, and where the answers go

It runs in the package's own environment, which has NumPy and none of the suite's other requirements.

A request is (solve, minimal problem, problem, limits in seconds, seed). The answers are the seconds of the import and
of the minimal run and, for each limit, (median seconds, `PeerAnswer`).
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from drivers.peers.peer import PeerAnswer, PeerError, median_run


def main(argv: Sequence[str]) -> int:
    request, result = map(Path, argv)
    solve, minimal, problem, limits, seed = pickle.loads(request.read_bytes())

    def timed(subject: object, limit: float) -> tuple[float, PeerAnswer]:
        began = time.perf_counter()
        answer = solve(subject, limit, seed)
        return time.perf_counter() - began, answer

    startup_s, _ = timed(minimal, limits[0])
    result.write_bytes(pickle.dumps((startup_s, [median_run(partial(timed, problem, limit)) for limit in limits])))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PeerError as error:
        sys.exit(str(error))
