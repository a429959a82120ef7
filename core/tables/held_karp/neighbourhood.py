"""Balas and Simonetti's neighbourhood of a tour: its best tour, by layers on one device, and its trace."""

from __future__ import annotations

import numpy as np

from core.errors import UserError
from core.granted_cores import memory_bytes
from core.run.devices import ComputeDevice, RecordedLaunches
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, TableStrategy
from core.tables.held_karp.kernels import restricted_tour as kernels

LARGEST_INDEX = 2**31 - 1
LANES_OF_ONE, LANES_OF_MANY = 1024, 256
"""Largest teams: of one team that computes all layers, and of several that share a layer.

A team that has more states than lanes takes longer for a layer than a recorded launch over the whole device (fnl4461 on
one H200: k = 10, 24 and 21 ms; k = 11, 55 and 33 ms).
"""
BLOCK = 32
"""Layers in a recorded sequence."""
LEAST_K, MOST_K = 2, 14


def check_k(k: int, n: int, name: str) -> None:
    """Refuse a k for ``n`` cities that is too small or needs too much memory."""
    if k < LEAST_K:
        raise UserError(f"k = {k}: at least {LEAST_K}, since with 1 no city may move")
    if k > MOST_K:
        raise UserError(f"k = {k}: at most {MOST_K} with layers of {kernels.states_of(MOST_K):,} states")
    needed = (n - 1) * kernels.states_of(k)
    memory = memory_bytes()
    if needed > memory // 2:
        raise UserError(
            f"{name} has {n} cities: k = {k} keeps {needed:,} bytes of choices, and half of this machine's "
            f"memory is {memory // 2:,} bytes: a smaller k takes less"
        )


class TourNeighbourhood(TableStrategy):
    """The neighbourhood of a tour on one device.

    Choices take ``room`` bytes of the device, by default half of its memory; layers are computed in parts that fit.
    """

    def __init__(
        self, backend: ComputeDevice, distances: np.ndarray, tour: np.ndarray, k: int, room: int | None = None
    ) -> None:
        self.backend, self.distances, self.tour, self.n = backend, distances, tour, len(distances)
        self.k = max(LEAST_K, min(k, self.n - 1))
        self.net = net = kernels.network(self.k)
        self.work = (self.n - 1) * net.transitions
        band = kernels.band_of(distances, tour, self.k)
        self.problem = backend.load(kernels.BandedTour(band, net.links, net.lasts, self.n))
        states, limits = net.states, backend.capabilities
        # One team is one compute unit, but no launch between layers; and on cores a team is a plain loop anyway.
        fits = limits.lanes_resident == 1 or states <= min(LANES_OF_ONE, limits.max_team_size)
        self.in_team = fits and 8 * states <= limits.shared_bytes
        most_lanes = LANES_OF_ONE if self.in_team else LANES_OF_MANY
        self.team_size = min(-(-states // 32) * 32, most_lanes, limits.max_team_size)
        most_teams = limits.compute_units * max(1, limits.lanes_resident // self.team_size)
        self.teams = min(-(-states // self.team_size), most_teams)
        if room is None:
            room = backend.device.memory_bytes // 2 or 1 << 30  # simulated devices report no memory
        self.part = max(1, min(self.n - 1, min(LARGEST_INDEX, room) // states))
        self.lengths, self.step = (backend.allocate(size, np.int32) for size in (2 * states, 3))
        self.choices = backend.allocate(self.part * states, np.uint8)
        self.sequence: RecordedLaunches | None = None
        if self.in_team:
            self.team_size = backend.largest_team(kernels.layers_in_team, self.team_size, *self._layers(2, 2))

    def warm_up(self, trace: bool) -> None:
        self.compute_layers()

    def compute(self, run: TableRun) -> TableAnswer:
        """Search on the first rank; the tour is always traced."""
        return TableAnswer(*run.ranks.on_first(self.shortest))

    def shortest(self) -> tuple[int, np.ndarray]:
        """Return the least length in the neighbourhood, and the tour that has it, (n,), from its first city."""
        last, choices = self.compute_layers()
        ends = self.tour[(self.n - self.k + np.arange(self.k)) % self.n]  # those of negative positions are not reached
        return_lengths = self.distances[ends, self.tour[0]].astype(np.int64)
        lengths = np.where(last < kernels.FAR, last + return_lengths if self.n > 1 else last, kernels.FAR)
        state = int(lengths.argmin())
        positions = np.zeros(self.n, np.int64)
        first = (self.net.links & ((1 << kernels.FIRST_BITS) - 1)).astype(np.int64)
        for layer in range(self.n, 1, -1):
            positions[layer - 1] = layer + int(self.net.lasts[state]) - self.k
            state = int(first[state]) + int(choices[layer - 2, state])
        return int(lengths.min()), self.tour[positions]

    def compute_layers(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute all layers.

        Return the lengths to the k states of the last layer that have all cities, from the lowest last position, (k,),
        i32, and the choices of layers 2 to n, (n - 1, states), u8.
        """
        n, states, k = self.n, self.net.states, self.k
        lengths = np.full((2, states), kernels.FAR, np.int32)
        lengths[1, k - 1] = 0  # layer 1: position 0 alone
        self.backend.write(self.lengths, lengths)
        choices = np.empty((n - 1, states), np.uint8)
        for begin in range(2, n + 1, self.part):
            end = min(begin + self.part, n + 1)
            self._launch(begin, end)
            part = self.backend.download(self.choices)[: (end - begin) * states]
            choices[begin - 2 : end - 2] = part.reshape(-1, states)
        return self.backend.download(self.lengths).reshape(lengths.shape)[n & 1, :k], choices

    def _layers(self, begin: int, end: int) -> tuple[object, ...]:
        return self.problem, self.lengths, begin, end, self.choices, self.k, self.net.states

    def _launch(self, begin: int, end: int) -> None:
        backend = self.backend
        if self.in_team:
            backend.launch(kernels.layers_in_team, 1, self.team_size, *self._layers(begin, end))
            return
        if self.sequence is None:
            arguments = self.step, self.problem, self.lengths, self.choices, self.net.states, self.k
            with backend.record() as self.sequence:
                for ahead in range(BLOCK):
                    backend.launch(kernels.layer_over_teams, self.teams, self.team_size, ahead, *arguments)
                backend.launch(kernels.advance, 1, 1, self.step, BLOCK)
        step = np.zeros(3, np.int32)
        step[[kernels.LayerStep.next, kernels.LayerStep.begin, kernels.LayerStep.end]] = begin, begin, end
        backend.write(self.step, step)
        self.sequence.replay(-(-(end - begin) // BLOCK))
