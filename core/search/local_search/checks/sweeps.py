"""Whole neighbourhoods of two solutions, so that a move that few solutions meet is tried too.

One solution is random, and one lies near a local optimum: searches spend most of their time there.
"""

from __future__ import annotations

import time

import numpy as np

from core.search.local_search.checks.move_sequences import MoveSequence, SequencePoint

BLOCK = 16
"""Neighbours of consecutive indices in a sample: they are listed together."""
STEPS, SAMPLE = 64, 256
"""Steps of the descent at most, and neighbours from which each step takes the best."""
OWN_STEPS, OWN_SAMPLE = 8, 16
"""The same where plain Python makes every neighbour."""
ROWS, CHUNK = 256, 1 << 20
"""Neighbours that are made and scored between two looks at the clock, and their elements, at most."""
NEAR_OPTIMUM = ", near a local optimum"


def sweep_neighbourhoods(course: MoveSequence, most: int, seconds: float) -> list[SequencePoint]:
    """Make a station at the course's first solution, and one where a descent from there ends.

    Parameters
    ----------
    course
        Course of the neighbourhood.
    most
        Number of neighbours to try at each; a larger neighbourhood is sampled.
    seconds
        Processor seconds for the scorer. Neighbours that are not rescored by then are not tried.

    """
    if course.size < 1:
        return []
    random = np.random.default_rng([course.seed, most])
    first = score_neighbours(course, course.start, "", most, random, time.process_time() + seconds / 2)
    end = time.process_time() + seconds / 2
    return [first, score_neighbours(course, descend(course, random, end), NEAR_OPTIMUM, most, random, end)]


def score_neighbours(
    course: MoveSequence, solution: np.ndarray, where: str, most: int, random: np.random.Generator, end: float
) -> SequencePoint:
    """Stand at a solution and rescore its neighbours, in a random order, until the processor's clock shows ``end``."""
    station = course.stand(solution, random.permutation(sample_indices(course.size, most, random)), where)
    step = OWN_SAMPLE if station.mover is not None else max(1, min(ROWS, CHUNK // course.problem.encoding.n))
    for first in range(0, len(station.indices), step):
        if time.process_time() > end:
            break
        course.rescore(station, np.arange(first, min(first + step, len(station.indices))))
    return station


def descend(course: MoveSequence, random: np.random.Generator, end: float) -> np.ndarray:
    """Descend by the best of some neighbours at each step; return the solution where none of them is better."""
    solution = course.start
    steps, sample = (OWN_STEPS, OWN_SAMPLE) if course.make_mover is not None else (STEPS, SAMPLE)
    for _ in range(steps):
        if time.process_time() > end:
            break
        station = course.stand(solution, sample_indices(course.size, sample, random))
        added = course.added(station, station.moves)
        best = int(np.argmin(added))
        if added[best] >= 0:
            break
        solution = course.neighbours(station, station.moves[best : best + 1])[0]
    return solution


def sample_indices(size: int, most: int, random: np.random.Generator) -> np.ndarray:
    """All indices of a neighbourhood in their order, or those of some blocks: (at most ``most``,) int64."""
    if size <= most:
        return np.arange(size)
    wide = min(BLOCK, most)
    blocks = np.sort(random.choice(size // wide, most // wide, replace=False))
    offset = random.integers(size % wide + 1)
    return (offset + wide * blocks[:, None] + np.arange(wide)).reshape(-1)
