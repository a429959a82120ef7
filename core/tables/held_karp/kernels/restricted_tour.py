"""The shortest of the tours in which city i stays ahead of city j whenever i + k <= j in a start tour.

E. Balas, N. Simonetti, "Linear time dynamic-programming algorithms for new classes of restricted TSPs: a computational
study", INFORMS Journal on Computing 13(1), 2001. Cities are named by their position in the start tour; position 0
stays first. A state in layer p is a set of p visited cities and the last of them. If m is the smallest position not
visited, all visited positions are below m + k, so k - 1 bits encode the set: (k + 1) 2^(k - 2) states, equal for every
layer. States of one set are neighbours, by ascending position of the last city. The predecessors of a state are all
states of one set, the set without the last city.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.lang import *

FAR = 0x3FFFFFFF
"""Length of a path to an unreachable state; twice this fits 31 bits."""
FIRST_BITS = 20
"""Bits of the first predecessor in a link; the number of predecessors is above."""


class LayerStep(NamedArray):
    """Layers of a step."""

    next: i32
    """Next layer."""
    begin: i32
    """First layer with choices in memory."""
    end: i32
    """Last such layer plus 1."""


class LayerNetwork(NamedTuple):
    """The states of a layer, equal for every layer, and their predecessors in the previous layer.

    Attributes
    ----------
    links : ndarray, shape (states,), uint32
        Number of the first predecessor, in `FIRST_BITS` bits; above them, the number of predecessors.
    lasts : ndarray, shape (states,), uint8
        In layer p the last city is at position p + lasts - k of the start tour.
    transitions
        Number of transitions from one layer to the next.
    """

    k: int
    links: np.ndarray
    lasts: np.ndarray
    transitions: int

    @property
    def states(self) -> int:
        """Number of states of a layer: (k + 1) 2^(k - 2)."""
        return len(self.links)


def states_of(k: int) -> int:
    return (k + 1) << (k - 2)


def network(k: int) -> LayerNetwork:
    """List the states of a layer by set of cities, then by the position of the last city.

    Positions here are relative to m, the first position not visited. Bit b of a set means that position b + 1 is
    visited. All positions below 0 are visited, and none from k on. The last city is in the set, or below 0 if the
    highest position in the set is less than k beyond it.
    """
    sets = np.arange(1 << (k - 1), dtype=np.int64)
    highest = np.array([int(s).bit_length() for s in sets])
    highest[0] = -1
    positions = np.arange(-k, k)
    below = (positions < 0) & (highest[:, None] - positions < k)
    within = (positions > 0) & ((sets[:, None] >> np.maximum(positions - 1, 0)) & 1 == 1)
    allowed = below | within
    counts = allowed.sum(axis=1)
    first = np.cumsum(counts) - counts
    own_set, column = np.nonzero(allowed)
    last_position = positions[column]
    # the set without the last city: one bit less, or, if the city is below m, positions relative to the city
    down = np.maximum(-last_position, 1)
    without = np.where(
        last_position > 0,
        sets[own_set] ^ (1 << np.maximum(last_position - 1, 0)),
        (sets[own_set] << down) | ((1 << (down - 1)) - 1),
    )
    links = (first[without] | counts[without] << FIRST_BITS).astype(np.uint32)
    lasts = (last_position - np.bitwise_count(sets[own_set]).astype(np.int64) + k).astype(np.uint8)
    return LayerNetwork(k, links, lasts, int(counts[without].sum()))


def band_of(distances: np.ndarray, tour: np.ndarray, k: int) -> np.ndarray:
    """Return the flat array `BandedTour.band` of distances near a tour."""
    n = len(tour)
    positions = np.arange(n)[:, None]
    neighbours = (positions + np.arange(3 * k - 1) - (2 * k - 1)) % n
    return np.clip(distances[tour[neighbours], tour[positions]], 0, FAR).astype(np.int32).reshape(-1)


@bundle
class BandedTour:
    """A start tour of ``n`` cities, and the states of every layer.

    Attributes
    ----------
    band : Array, n * (3 * k - 1)
        Row b, column c: distance to city b of the tour from the city c - (2 * k - 1) places further on, at most `FAR`.
    links : Array, states
        See `FIRST_BITS`.
    lasts : Array, states
        The last city of a state of layer p is at position p + ``lasts`` - k.
    """

    band: Array[i32]
    links: Array[u32]
    lasts: Array[u8]
    n: i32


@function
def settle(
    layer: i32, state: i32, place: i32, problem: BandedTour, previous: Array[i32], choices: Array[u8], k: Const[i32]
) -> i32:
    """Return the least length of a path to a state of a layer, from those to the layer before.

    Store its predecessor at ``place``, the first of several with that length.
    """
    least = FAR
    last_city = i32(problem.lasts[state])
    position = layer + last_city - k
    # positions outside the tour are unreachable, so their successors may read any distance
    if position > 0 and position < problem.n:
        row = position * (3 * k - 1) + 2 * k - 2 - last_city
        first = i32(problem.links[state] & ((1 << FIRST_BITS) - 1))
        count = i32(problem.links[state] >> FIRST_BITS)
        choice = 0
        for c in range(count):
            length = previous[first + c] + problem.band[row + i32(problem.lasts[first + c])]
            if length < least:
                least = length
                choice = c
        choices[place] = u8(choice)
    return least


@kernel
def layers_in_team(
    problem: BandedTour,
    lengths: Array[i32],
    begin: i32,
    end: i32,
    choices: Array[u8],
    k: Const[i32],
    states: Const[i32],
):
    """Compute layers ``begin`` to ``end`` - 1 by one team, which has two layers in shared memory.

    Parameters
    ----------
    lengths : Array, 2 * states
        Lengths of paths to the states of the even layers, then of the odd ones. In: those of layer ``begin`` - 1; out:
        those of layer ``end`` - 1.
    choices : Array, (end - begin) * states
    """
    shared = shared_array(2 * states, i32)
    current = (begin - 1 & 1) * states
    for s in range(lane(), states, team_size()):
        shared[current + s] = lengths[current + s]
    barrier()
    for layer in range(begin, end):
        following = states - current
        row = (layer - begin) * states
        for s in range(lane(), states, team_size()):
            least = settle(layer, s, row + s, problem, view(shared, current), choices, k)
            shared[following + s] = least
        barrier()
        current = following
    for s in range(lane(), states, team_size()):
        lengths[current + s] = shared[current + s]


@kernel
def layer_over_teams(
    ahead: i32,
    step: LayerStep,
    problem: BandedTour,
    lengths: Array[i32],
    choices: Array[u8],
    states: i32,
    k: Const[i32],
):
    """Compute the layer ``ahead`` layers after the next one by all teams; none after the last.

    The next layer is read from ``step``, so that one recorded launch serves every layer. Other parameters are as for
    `layers_in_team`.
    """
    layer = step.next + ahead
    if layer < step.end:
        following = (layer & 1) * states
        current = states - following
        row = (layer - step.begin) * states
        for s in range(team_rank() * team_size() + lane(), states, team_count() * team_size()):
            least = settle(layer, s, row + s, problem, view(lengths, current), choices, k)
            lengths[following + s] = least


@kernel
def advance(step: LayerStep, layers: i32):
    """Advance by ``layers``; one lane."""
    step.next = step.next + layers
