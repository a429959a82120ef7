"""What the next scan of a search would see: every neighbour's difference by the evaluation, and by rescoring."""

import numpy as np

from core.kernels.local_search import RUNNING, STOP
from core.search.local_search import Iterations, Target
from tests.core.search.local_search.reference import neighbours


def rescored(problem, name, solution):
    """Every neighbour written out and scored anew."""
    now = problem.cost(np.array(solution))
    return [problem.cost(np.array(one)) - now for one in neighbours(name, solution)]


def seen_after(search, iterations, start=None):
    """Walk so far, bring the kept state up to date, and read all differences.

    Returns
    -------
    by_delta, by_quick : list of int
        As `Hooks.delta` and, where the evaluation has it for this neighbourhood, `Hooks.quick` tell them.
    solution : tuple of int
        Where the walk stands.

    """
    search.run(Iterations(iterations) if iterations else Target(2**30), start)
    backend, encoding, size = search.backend, search.problem.encoding, search.sizes[0]
    control = backend.download(search.controls)
    control[STOP] = RUNNING
    backend.write(search.controls, control)
    search.launch_refresh()
    read = []
    for use_quick in (0, 1) if search.is_quick else (0,):
        found, forbidden = (backend.allocate(size, np.int32) for _ in range(2))
        backend.launch(search.kernels.fitness, search.teams, search.team_size, use_quick, 0, 0, size, search.controls,
                       search.memories, found, forbidden, search.solutions, encoding.n, encoding.choices,
                       *search.data)  # fmt: skip
        read.append(backend.download(found).tolist())
    return read[0], read[-1], tuple(backend.download(search.solutions)[: encoding.n].tolist())
