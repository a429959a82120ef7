"""Whole neighbourhoods of two solutions of a move sequence, rescored: a random one, and one near a local optimum.

Rare moves are among them.
"""

from __future__ import annotations

import time

import numpy as np

from core.local_search.checks.move_sequences import MoveSequence, SequencePoint

BLOCK = 16
"""Neighbours of consecutive indices in a sample: they are listed together."""
STEPS, SAMPLE = 64, 256
"""Steps of the descent at most, and neighbours from which each step takes the best."""
OWN_STEPS, OWN_SAMPLE = 8, 16
"""The same where plain Python makes every neighbour."""
ROWS, CHUNK = 256, 1 << 20
"""Largest numbers of neighbours that are made and scored between two reads of the clock, and of their elements."""
NEAR_OPTIMUM = ", near a local optimum"


def sweep_neighbourhoods(sequence: MoveSequence, most: int, seconds: float) -> list[SequencePoint]:
    """Return the sequence's first point, and one where a descent from there ends, with rescored neighbours.

    Parameters
    ----------
    most
        Number of neighbours to try at each; a larger neighbourhood is sampled.
    seconds
        Processor seconds for the scorer. Neighbours that are not rescored by then are not tried.
    """
    if sequence.size < 1:
        return []
    random = np.random.default_rng([sequence.seed, most])
    first = score_neighbours(sequence, sequence.start, "", most, random, time.process_time() + seconds / 2)
    end = time.process_time() + seconds / 2
    return [first, score_neighbours(sequence, descend(sequence, random, end), NEAR_OPTIMUM, most, random, end)]


def score_neighbours(
    sequence: MoveSequence, solution: np.ndarray, where: str, most: int, random: np.random.Generator, end: float
) -> SequencePoint:
    """Rescore the neighbours of a solution, in a random order, until the processor's clock shows ``end``."""
    point = sequence.point_at(solution, random.permutation(sample_indices(sequence.size, most, random)), where)
    step = OWN_SAMPLE if point.mover is not None else max(1, min(ROWS, CHUNK // sequence.problem.encoding.n))
    for first in range(0, len(point.indices), step):
        if time.process_time() > end:
            break
        sequence.rescore(point, np.arange(first, min(first + step, len(point.indices))))
    return point


def descend(sequence: MoveSequence, random: np.random.Generator, end: float) -> np.ndarray:
    """Descend by the best of some neighbours at each step; return the solution where none of them is better."""
    solution = sequence.start
    steps, sample = (OWN_STEPS, OWN_SAMPLE) if sequence.make_mover is not None else (STEPS, SAMPLE)
    for _ in range(steps):
        if time.process_time() > end:
            break
        point = sequence.point_at(solution, sample_indices(sequence.size, sample, random))
        added = sequence.added(point, point.moves)
        best = int(np.argmin(added))
        if added[best] >= 0:
            break
        solution = sequence.neighbours(point, point.moves[best : best + 1])[0]
    return solution


def sample_indices(size: int, most: int, random: np.random.Generator) -> np.ndarray:
    """Return all indices of a neighbourhood in their order, or those of some blocks: (at most ``most``,) int64."""
    if size <= most:
        return np.arange(size)
    wide = min(BLOCK, most)
    blocks = np.sort(random.choice(size // wide, most // wide, replace=False))
    return (random.integers(size % wide + 1) + wide * blocks[:, None] + np.arange(wide)).reshape(-1)
