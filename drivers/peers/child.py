"""The process of a package: it reads what to solve, solves it and writes the answers with their times.

python -m drivers.peers.child REQUEST RESULT        paths of two files: a pickled `PeerRequest`, and where `Timings` go
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from drivers.peers.peer import PeerError
from drivers.peers.warm_timing import answer_request


def main(argv: Sequence[str]) -> int:
    """Answer a request, which the process that started this one has just written."""
    request, result = map(Path, argv)
    timings = answer_request(pickle.loads(request.read_bytes()))
    result.write_bytes(pickle.dumps(timings))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PeerError as error:
        sys.exit(str(error))
