"""Balas and Simonetti's neighbourhood of a tour: lengths of its best tours from several cities on, and their trace."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp import restricted_tour as kernels
from core.kernels.dp.restricted_tour import FAR, FIRST_BITS, BandedTour, LayerStep, band_of, network, states_of

LARGEST_INDEX = 2**31 - 1
STATES_PER_LANE, STATES_PER_LANE_OF_MANY = 1, 8
"""Most states per lane in one team of a wide device, alone or with as many rotations as compute units: with more, a
layer takes a team longer than a recorded launch over the whole device (fnl4461 on one H200: k = 10, 24 and 21 ms; k =
11, 55 and 33 ms, but 93 and 105 ms with 132 rotations)."""
LANES_ALONE, LANES_OF_MANY = 1024, 256
"""Largest teams when a device has fewer rotations than compute units, and when it has more."""
BLOCK = 32
"""Layers in a recorded sequence."""


class RotationLayers:
    """The layers of some rotations of a tour, on one device; made once, run for many tours.

    Every layer is a launch, or, if that is faster, one launch has a team for every rotation. Choices of one rotation
    are kept in ``room`` bytes, if given; layers run in parts that fit.
    """

    def __init__(
        self,
        backend: Any,
        net: kernels.LayerNetwork,
        problem: kernels.BandedTour,
        rotations: int,
        room: int | None = None,
    ) -> None:
        self.backend, self.net, self.problem, self.n = backend, net, problem, problem.n
        self.keep = room is not None
        states, limits = net.states, backend.capabilities
        # One team is one compute unit, but no launch between layers; and on cores a team is a plain loop anyway.
        per_lane = STATES_PER_LANE_OF_MANY if rotations >= limits.compute_units else STATES_PER_LANE
        fits = limits.lanes_resident == 1 or states <= per_lane * min(LANES_ALONE, limits.max_team_size)
        self.in_teams = fits and 8 * states <= limits.shared_bytes
        most_lanes = LANES_ALONE if self.in_teams and rotations <= limits.compute_units else LANES_OF_MANY
        self.team_size = min(-(-states // 32) * 32, most_lanes, limits.max_team_size)
        items = rotations if self.in_teams else -(-rotations * states // self.team_size)
        self.teams = min(items, limits.compute_units * max(1, limits.lanes_resident // self.team_size))
        self.part = max(1, min(self.n - 1, min(LARGEST_INDEX if room is None else room, LARGEST_INDEX) // states))
        turns, lengths = (backend.allocate(size, np.int32) for size in (rotations, 2 * rotations * states))
        self.rotations = kernels.Rotations(turns, lengths, rotations)
        self.choices = backend.allocate(self.part * states if self.keep else 1, np.uint8)
        self.step = backend.allocate(3, np.int32)
        self.sequence: Any = None
        if self.in_teams:
            self.team_size = backend.largest_team(kernels.layers_in_teams, self.team_size, *self._layers(2, 2))

    def run(self, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute all layers from these positions in the tour, (rotations,), i32.

        Return the lengths to the k states of the last layer that have all cities, from the lowest last position,
        (rotations, k), i32, and the choices of layers 2 to n, (n - 1, states), u8; no rows if they are not kept.
        """
        n, states, k, rotations = self.n, self.net.states, self.net.k, self.rotations
        lengths = np.full((2, rotations.count, states), FAR, np.int32)
        lengths[1, :, k - 1] = 0  # layer 1: position 0 alone
        self.backend.write(rotations.lengths, lengths)
        self.backend.write(rotations.turns, np.ascontiguousarray(turns, np.int32))
        choices = np.empty((n - 1 if self.keep else 0, states), np.uint8)
        for begin in range(2, n + 1, self.part):
            end = min(begin + self.part, n + 1)
            self._launch(begin, end)
            if self.keep:
                part = self.backend.download(self.choices)[: (end - begin) * states]
                choices[begin - 2 : end - 2] = part.reshape(-1, states)
        return self.backend.download(rotations.lengths).reshape(lengths.shape)[n & 1, :, :k], choices

    def _layers(self, begin: int, end: int) -> tuple[Any, ...]:
        net = self.net
        return self.problem, self.rotations, begin, end, self.choices, net.k, net.states, self.keep

    def _launch(self, begin: int, end: int) -> None:
        backend, net = self.backend, self.net
        if self.in_teams:
            backend.launch(kernels.layers_in_teams, self.teams, self.team_size, *self._layers(begin, end))
            return
        if self.sequence is None:
            arguments = self.step, self.problem, self.rotations, self.choices, net.states, net.k, self.keep
            with backend.record() as self.sequence:
                for ahead in range(BLOCK):
                    backend.launch(kernels.layer_over_teams, self.teams, self.team_size, ahead, *arguments)
                backend.launch(kernels.advance, 1, 1, self.step, BLOCK)
        step = np.zeros(3, np.int32)
        step[[LayerStep.next, LayerStep.begin, LayerStep.end]] = begin, begin, end
        backend.write(self.step, step)
        self.sequence.replay(-(-(end - begin) // BLOCK))


LEAST_K, MOST_K = 2, 14


@dataclass(frozen=True)
class RestrictedSettings:
    """Settings of a restricted search.

    Attributes
    ----------
    k
        City i stays ahead of city j if i + k <= j in the start tour; 2 to 14. From n - 1 on that restricts nothing, and
        the tour is a shortest one. Tracing keeps (n - 1) (k + 1) 2^(k - 2) bytes on the host: of 4,461 cities 2.6 MB
        with k = 8, 12.6 MB with 10, 59 MB with 12.
    improve
        Continue from the best tour until two passes, with starts halfway between each other's, find no shorter one.
    rotations
        Number of evenly spaced cities at which the same tour starts: neighbourhoods solved at once. Of equal lengths
        the first is taken.
    room
        Bytes of device memory for choices; None: half of the device's.
    """

    k: int
    improve: bool = False
    rotations: int = 1
    room: int | None = None

    def check(self, n: int, name: str) -> None:
        if not 1 <= self.rotations <= n:
            raise UserError(f"{self.rotations} rotations of {n} cities: expected 1 to {n}")
        if self.k < LEAST_K:
            raise UserError(f"k = {self.k}: at least {LEAST_K}, since with 1 no city may move")
        if self.k > MOST_K:
            raise UserError(f"k = {self.k}: at most {MOST_K} with layers of {states_of(MOST_K):,} states")
        needed = (n - 1) * states_of(self.k)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if needed > memory // 2:
            raise UserError(
                f"{name} has {n} cities: k = {self.k} keeps {needed:,} bytes of choices, and half of this machine's "
                f"memory is {memory // 2:,} bytes: a smaller k takes less"
            )


class TourNeighbourhood:
    """The neighbourhood of one tour after another on one device; refuses more rotations than its memory holds."""

    def __init__(self, backend: Any, distances: np.ndarray, settings: RestrictedSettings, rotations: int) -> None:
        self.backend, self.distances, self.n = backend, distances, len(distances)
        self.k = max(LEAST_K, min(settings.k, self.n - 1))
        self.net = net = network(self.k)
        self.transitions = (self.n - 1) * net.transitions
        half = backend.device.memory_bytes // 2 or 1 << 30  # simulated devices report no memory
        needed = 8 * rotations * net.states
        if needed > min(half, 2**33 - 1):
            raise UserError(f"{rotations} rotations with k = {self.k} need {needed:,} bytes of device memory")
        band = backend.allocate(self.n * (3 * self.k - 1), np.int32)
        self.problem = BandedTour(band, backend.upload(net.links), backend.upload(net.lasts), self.n)
        room = half if settings.room is None else settings.room
        self.tracing = RotationLayers(backend, net, self.problem, 1, room)
        self.measuring: RotationLayers | None = None
        if settings.rotations > 1 and rotations:
            self.measuring = RotationLayers(backend, net, self.problem, rotations)

    def warm_up(self, tour: np.ndarray) -> None:
        self.move_to(tour)
        for layers in (self.tracing, self.measuring):
            if layers is not None:
                layers.run(np.zeros(layers.rotations.count, np.int32))

    def move_to(self, tour: np.ndarray) -> None:
        self.tour = tour
        self.traced: dict[int, np.ndarray] = {}
        self.backend.write(self.problem.band, band_of(self.distances, tour, self.k))

    def shortest(self, turns: np.ndarray) -> tuple[int, int]:
        """Return the least length in the neighbourhoods from these positions, and its position's index."""
        if self.measuring is None:
            return self.trace(int(turns[0])), 0
        lengths = self._closed(turns, self.measuring.run(turns)[0]).min(axis=1)
        return int(lengths.min()), int(lengths.argmin())

    def shortest_tour(self, turn: int) -> np.ndarray:
        if turn not in self.traced:
            self.trace(turn)
        return self.traced[turn]

    def trace(self, turn: int) -> int:
        turns = np.array([turn], np.int32)
        last, choices = self.tracing.run(turns)
        lengths = self._closed(turns, last)[0]
        state = int(lengths.argmin())
        positions = np.zeros(self.n, np.int64)
        first = (self.net.links & ((1 << FIRST_BITS) - 1)).astype(np.int64)
        for layer in range(self.n, 1, -1):
            positions[layer - 1] = layer + int(self.net.lasts[state]) - self.k
            state = int(first[state]) + int(choices[layer - 2, state])
        self.traced[turn] = self.tour[(positions + turn) % self.n]
        return int(lengths.min())

    def _closed(self, turns: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the lengths of closed tours, (rotations, k), int64, from those of the last layer."""
        ends = self.n - self.k + np.arange(self.k)  # those below 0 are not reached
        home = self.tour[turns][:, None]
        return_lengths = self.distances[self.tour[(turns[:, None] + ends) % self.n], home].astype(np.int64)
        return np.where(last < FAR, last + return_lengths if self.n > 1 else last, FAR)
