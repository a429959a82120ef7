"""Launches that go through the layers of a restricted tour's network (`core.kernels.dp.restricted_tour`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.dp import restricted_tour as kernels
from core.kernels.dp.restricted_tour import FAR

LARGEST_INDEX = 2**31 - 1
STATES_PER_LANE, STATES_PER_LANE_OF_MANY = 1, 8
"""Of a layer, in one team of a wide device, alone or with as many rotations as compute units: with more, a layer takes
a team longer than a recorded launch over the whole device (fnl4461 on one H200: k = 10, 24 and 21 ms; k = 11, 55 and
33 ms, but 93 and 105 ms with 132 rotations)."""
LANES_ALONE, LANES_OF_MANY = 1024, 256
"""Largest teams when a device has fewer rotations than compute units, and when it has more."""
BLOCK = 32
"""Layers in a recorded sequence."""


class RotationLayers:
    """The layers of some rotations of a tour, on one device; made once, run for many tours.

    With ``tiling`` ``none`` every layer is a launch; with ``auto``, where it pays, one launch has a team for every
    rotation. ``room`` bytes keep the choices of one rotation; layers run in parts that fit. None: choices are not kept.
    """

    def __init__(
        self,
        backend: Any,
        net: kernels.LayerNetwork,
        problem: kernels.BandedTour,
        rotations: int,
        tiling: str,
        room: int | None = None,
    ) -> None:
        self.backend, self.net, self.problem, self.n = backend, net, problem, problem.n
        self.keep = room is not None
        states, limits = net.states, backend.capabilities
        # One team is one compute unit, but no launch between layers; and on cores a team is a plain loop anyway.
        per_lane = STATES_PER_LANE_OF_MANY if rotations >= limits.compute_units else STATES_PER_LANE
        small = limits.lanes_resident == 1 or states <= per_lane * min(LANES_ALONE, limits.max_team_size)
        self.in_teams = tiling == "auto" and small and 8 * states <= limits.shared_bytes
        most = LANES_ALONE if self.in_teams and rotations <= limits.compute_units else LANES_OF_MANY
        self.team_size = min(-(-states // 32) * 32, most, limits.max_team_size)
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
        """Go through all layers from these positions in the tour, (rotations,), i32.

        Return the length to each of the k states of the last layer that have all cities, from the lowest last position,
        (rotations, k), i32, and the choices of layers 2 to n, (n - 1, states), u8; no rows if they are not kept.
        """
        n, states, k, rotations = self.n, self.net.states, self.net.k, self.rotations
        lengths = np.full((2, rotations.count, states), FAR, np.int32)
        lengths[1, :, k - 1] = 0  # layer 1: position 0 alone
        self.backend.write(rotations.lengths, lengths)
        self.backend.write(rotations.turns, np.ascontiguousarray(turns, np.int32))
        kept = np.empty((n - 1 if self.keep else 0, states), np.uint8)
        for begin in range(2, n + 1, self.part):
            end = min(begin + self.part, n + 1)
            self._launch(begin, end)
            if self.keep:
                part = self.backend.download(self.choices)[: (end - begin) * states]
                kept[begin - 2 : end - 2] = part.reshape(-1, states)
        return self.backend.download(rotations.lengths).reshape(lengths.shape)[n & 1, :, :k], kept

    def _layers(self, begin: int, end: int) -> tuple[Any, ...]:
        net = self.net
        return self.problem, self.rotations, begin, end, self.choices, net.k, net.states, self.keep

    def _launch(self, begin: int, end: int) -> None:
        backend, net = self.backend, self.net
        if self.in_teams:
            backend.launch(kernels.layers_in_teams, self.teams, self.team_size, *self._layers(begin, end))
            return
        if self.sequence is None:
            given = self.step, self.problem, self.rotations, self.choices, net.states, net.k, self.keep
            with backend.record() as self.sequence:
                for ahead in range(BLOCK):
                    backend.launch(kernels.layer_over_teams, self.teams, self.team_size, ahead, *given)
                backend.launch(kernels.advance, 1, 1, self.step, BLOCK)
        step = np.zeros(3, np.int32)
        step[[kernels.NEXT, kernels.BEGIN, kernels.END]] = begin, begin, end
        backend.write(self.step, step)
        self.sequence.replay(-(-(end - begin) // BLOCK))
