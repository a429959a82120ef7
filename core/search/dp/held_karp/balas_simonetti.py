"""A good tour of many cities: the best of a neighbourhood of exponential size, found exactly by dynamic programming.

Balas and Simonetti's neighbourhood of a start tour: city i stays ahead of city j whenever i + k <= j. The tour is
optimal among those, and never reported as more. See `core.kernels.dp.restricted_tour`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.dp.restricted_tour import (
    BEGIN,
    END,
    FAR,
    FIRST_BITS,
    NEXT,
    BandedTour,
    LayerNetwork,
    Rotations,
    advance,
    band_of,
    layer_over_teams,
    layers_in_teams,
    network,
    states_of,
)
from core.kernels.two_opt import climbs as two_opt_climbs
from core.problems.tsp import tour_length
from core.problems.tsp.distance_matrices import square_matrix
from core.search.checkpoint import Checkpointer, seconds_before, take_checkpoint
from core.search.checkpoint_layout import Checkpoint, CheckpointArray, permutation_fault
from core.search.dp.engine.pauses import refuse_checkpoints
from core.search.hill_climbing.start_tours import greedy_tour, nearest_neighbour_tour
from core.search.protocol import Callback, ProgressMonitor, refuse_history
from core.search.stop import Stop

TILINGS = ("auto", "none")
LEAST_K, MOST_K = 2, 14
MOST_CITIES = 65_535
"""Tours are kept in 16 bits."""
LARGEST_INDEX = 2**31 - 1
HOST_CITIES = 300
"""Cities up to which a start tour is improved by NumPy."""
NOTHING = (1 << 64) - 1
STATES_PER_LANE, STATES_PER_LANE_OF_MANY = 1, 8
"""Of a layer, in one team of a wide device, alone or with as many rotations as compute units: with more, a layer takes
a team longer than a recorded launch over the whole device (fnl4461 on one H200: k = 10, 24 and 21 ms; k = 11, 55 and
33 ms, but 93 and 105 ms with 132 rotations)."""
LANES_ALONE, LANES_OF_MANY = 1024, 256
"""Largest teams when a device has fewer rotations than compute units, and when it has more."""
BLOCK = 32
"""Layers in a recorded sequence."""


class NeighbourhoodTour(NamedTuple):
    """A tour that is shortest in its neighbourhood.

    Attributes
    ----------
    length : int
    tour : ndarray, shape (n,), uint16
        From city 0, in the direction in which it was found.
    start_length : int
        Of the start tour; `length` is at most that.
    layers, states : int
        Of the network: cities, and states of a layer.
    cells : int
        Transitions between states, over all passes and rotations.
    passes : int
        Neighbourhoods searched one after the other.
    finished : bool
        Whether the stop criteria or the last pass in vain ended the search; False: its callback did.

    """

    length: int
    tour: np.ndarray
    start_length: int
    layers: int
    states: int
    cells: int
    passes: int
    finished: bool = True

    @property
    def cost(self) -> int:
        """The length."""
        return self.length

    @property
    def solution(self) -> np.ndarray:
        """The tour."""
        return self.tour

    @property
    def evaluations(self) -> int:
        """The transitions."""
        return self.cells

    @property
    def hash(self) -> str:
        """64 bits of the length and the tour."""
        return hashlib.blake2b(f"{self.length} {self.tour.tolist()}".encode(), digest_size=8).hexdigest()

    @property
    def history(self) -> None:
        """None: nothing is known before the end."""


class RotationLayers:
    """The layers of some rotations of a tour, on one device; made once, run for many tours.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    net
        Of `network`.
    band : Buffer
        Where `run` finds what `band_of` gives for the tour.
    n
        Cities.
    rotations
        Starts solved at once.
    keep
        Whether to keep the choices, for tracing; one rotation only.
    tiling
        ``none``: a launch for every layer; ``auto``: where it pays, one launch of a team for every rotation.
    room
        Bytes of device memory for choices; layers run in parts that fit.

    """

    def __init__(
        self, backend: Any, net: LayerNetwork, band: Any, n: int, rotations: int, keep: bool, tiling: str, room: int
    ) -> None:
        self.backend, self.net, self.n, self.keep = backend, net, n, keep
        states = net.states
        limits = backend.capabilities
        # One team is one compute unit, but no launch between layers; and on cores a team is a plain loop anyway.
        per_lane = STATES_PER_LANE_OF_MANY if rotations >= limits.compute_units else STATES_PER_LANE
        small = limits.lanes_resident == 1 or states <= per_lane * min(LANES_ALONE, limits.max_team_size)
        self.in_teams = tiling == "auto" and small and 8 * states <= limits.shared_bytes
        most = LANES_ALONE if self.in_teams and rotations <= limits.compute_units else LANES_OF_MANY
        self.team_size = min(-(-states // 32) * 32, most, limits.max_team_size)
        items = rotations if self.in_teams else -(-rotations * states // self.team_size)
        self.teams = min(items, limits.compute_units * max(1, limits.lanes_resident // self.team_size))
        self.part = max(1, min(n - 1, (min(room, LARGEST_INDEX) if keep else LARGEST_INDEX) // states))
        self.problem = BandedTour(band, backend.upload(net.links), backend.upload(net.lasts), n)
        turns, lengths = (backend.allocate(size, np.int32) for size in (rotations, 2 * rotations * states))
        self.rotations = Rotations(turns, lengths, rotations)
        self.choices = backend.allocate(self.part * states if keep else 1, np.uint8)
        self.step = backend.allocate(3, np.int32)
        self.sequence: Any = None
        if self.in_teams:
            self.team_size = backend.largest_team(layers_in_teams, self.team_size, *self._layers(2, 2))

    def run(self, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Go through all layers.

        Parameters
        ----------
        turns : ndarray, shape (rotations,), int32
            Where in the tour each rotation begins.

        Returns
        -------
        ndarray, shape (rotations, k), int32
            Length to each of the k states of the last layer that have all cities, from the lowest last position.
        ndarray, shape (n - 1, states), uint8
            Choices of layers 2 to n; no rows if they are not kept.

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
        """What `layers_in_teams` takes to go through layers ``begin`` to ``end`` - 1."""
        net = self.net
        return self.problem, self.rotations, begin, end, self.choices, net.k, net.states, self.keep

    def _launch(self, begin: int, end: int) -> None:
        """Queue layers ``begin`` to ``end`` - 1."""
        backend, net = self.backend, self.net
        tables = self.problem, self.rotations
        if self.in_teams:
            backend.launch(layers_in_teams, self.teams, self.team_size, *self._layers(begin, end))
            return
        if self.sequence is None:
            with backend.record() as self.sequence:
                for ahead in range(BLOCK):
                    backend.launch(
                        layer_over_teams, self.teams, self.team_size, ahead, self.step, *tables, self.choices,
                        net.states, net.k, self.keep,
                    )  # fmt: skip
                backend.launch(advance, 1, 1, self.step, BLOCK)
        step = np.zeros(3, np.int32)
        step[[NEXT, BEGIN, END]] = begin, begin, end
        backend.write(self.step, step)
        self.sequence.replay(-(-(end - begin) // BLOCK))


class BalasSimonettiSearch:
    """The best tour in the neighbourhood of a start tour, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`; every rank constructs and calls the same. Rotations are shared out over ranks.
    distances : ndarray, shape (n, n), integers
        From row to column, at least 0, symmetric or not; the diagonal is not read. At most 65,535 cities, or 46,340 if
        distances are symmetric and there is no ``start``.
    k
        City i stays ahead of city j if i + k <= j in the start tour; 2 to 14. From n - 1 on that asks nothing, and the
        tour is a shortest one. Tracing keeps (n - 1) (k + 1) 2^(k - 2) bytes on the host: of 4,461 cities 2.6 MB with
        k = 8, 12.6 MB with 10, 59 MB with 12.
    start : ndarray, shape (n,), optional
        Start tour. None: greedy edge matching and 2-opt, or, if distances are asymmetric, nearest neighbours.
    improve
        Go on from the tour found, until two passes, with starts halfway between each other's, find none shorter.
    rotations
        Cities at which the same tour is made to start, spread evenly: neighbourhoods solved at once. Of equal lengths
        that of the smallest number is taken.
    tiling
        ``none``: a launch for every layer; ``auto``: chosen by the number of states.
    room
        Bytes of device memory for choices; None: half of the device's.
    name
        Of the instance, for messages.

    Raises
    ------
    UserError
        A k that is too small or needs too much memory, distances or a start tour that are none, too long tours.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        k: int,
        start: np.ndarray | None = None,
        improve: bool = False,
        *,
        rotations: int = 1,
        tiling: str = "auto",
        room: int | None = None,
        name: str = "the instance",
    ) -> None:
        self.backend = backend
        self.communicator = communicator
        self.distances = nonnegative_integers(distances)
        self.name = name
        self.n = n = len(self.distances)
        if tiling not in TILINGS:
            raise UserError(f"tiling {tiling!r}; choose one of {', '.join(TILINGS)}")
        if not 1 <= rotations <= n:
            raise UserError(f"{rotations} rotations of {n} cities: expected 1 to {n}")
        check_k(k, n, name)
        self.k = max(LEAST_K, min(k, n - 1))
        self.improve = improve
        self.rotations = rotations
        self.start = self._start(start)
        self.start_length = tour_length(self.distances, self.start) if n > 1 else 0
        if self.start_length >= FAR:
            raise UserError(f"a start tour of length {self.start_length}: expected below {FAR}, or a coarser unit")
        self.net = network(self.k)
        rank, size = communicator.rank, communicator.size
        self.share = range(rotations * rank // size, rotations * (rank + 1) // size)
        half = backend.device.memory_bytes // 2 or 1 << 30  # simulated devices do not say
        needed = 8 * len(self.share) * self.net.states
        if needed > min(half, 2**33 - 1):
            raise UserError(f"{len(self.share)} rotations with k = {self.k} need {needed:,} bytes of device memory")
        self.band = backend.allocate(n * (3 * self.k - 1), np.int32)
        self.tracing = RotationLayers(backend, self.net, self.band, n, 1, True, tiling, half if room is None else room)
        self.measuring: RotationLayers | None = None
        if rotations > 1 and self.share:
            self.measuring = RotationLayers(backend, self.net, self.band, n, len(self.share), False, tiling, 0)

    work_unit = "transitions"

    @property
    def work(self) -> int:
        """Transitions between states in one pass, over all ranks; those of tracing a second time not counted."""
        return self.rotations * (self.n - 1) * self.net.transitions

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""
        with self.backend.warming_up():
            self.backend.write(self.band, band_of(self.distances, self.start, self.k))
            for sweep in (self.tracing, self.measuring):
                if sweep is not None:
                    sweep.run(np.zeros(sweep.rotations.count, np.int32))

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> NeighbourhoodTour:
        """Find the shortest tour of the neighbourhood.

        Parameters
        ----------
        stop
            Of a search that goes on from the tour found: passes (its iterations), the time, or a target, looked at
            between passes.
        history
            Refused: nobody keeps it.
        callback
            See `core.search.protocol.Callback`: its steps are passes.
        ranks
            Who searches together; as many as the communicator that the search was made with, which it is by default.
        checkpointer
            See `core.search.protocol.Search.run`. A state is the tour after a pass, so one pass alone has none.

        """
        stop = (stop or Stop()).only("the restricted search", "iterations", "seconds", "target")
        stop.check()
        refuse_history(history, "the restricted search")
        if not self.improve:
            refuse_checkpoints(checkpointer, "a single pass", "--improve, which makes several")
        monitor = ProgressMonitor(stop, callback, None if self.improve else 1, seconds_before(checkpointer))
        ranks = self.communicator if ranks is None else ranks
        tour, length = self.start, self.start_length
        passes = idle = 0
        state = take_checkpoint(checkpointer, partial(self._layout, most=stop.iterations))
        if state is not None:
            tour = state["tour"]
            length, passes, idle = (int(number) for number in state["numbers"])
        spread = np.arange(self.rotations) * self.n // self.rotations
        while True:
            turns = (spread + passes % 2 * (self.n // (2 * self.rotations))) % self.n
            found, better = self._pass(tour, length, turns, ranks)
            passes += 1
            idle = idle + 1 if better is None else 0
            if better is not None:
                tour, length = better, found
            if monitor.is_due():
                monitor.tell(passes, length, passes * self.work)
            if not self.improve or idle == 2 or passes == stop.iterations or length <= stop.target:
                break
            if ranks.bcast(monitor.is_over()):
                break
            if checkpointer is not None and ranks.sum(int(checkpointer.is_due())):
                numbers = np.array([length, passes, idle], np.int64)
                checkpointer.keep(ranks, {"tour": tour.astype(np.int64), "numbers": numbers})
        monitor.tell_end(passes, length, passes * self.work)
        interrupted = idle < 2 and self.improve and ranks.bcast(monitor.interrupted)
        cells = passes * self.work
        from_0 = np.roll(tour, -int(np.argmin(tour))).astype(np.uint16)
        return NeighbourhoodTour(
            length, from_0, self.start_length, self.n, self.net.states, cells, passes, not interrupted
        )

    def _layout(self, state: Checkpoint, most: int) -> Iterator[CheckpointArray]:
        """Declare the state after a pass; the run has at most ``most`` of them."""

        def right_length(numbers: np.ndarray) -> str | None:
            found = tour_length(self.distances, state["tour"])
            return None if numbers[0] == found else f"found length {numbers[0]}, expected {found}, which the tour has"

        yield CheckpointArray("tour", np.int64, (self.n,), [(0, self.n - 1)], permutation_fault)
        yield CheckpointArray("numbers", np.int64, (3,), [(0, self.start_length), (1, most - 1), (0, 1)], right_length)

    def _pass(self, tour: np.ndarray, length: int, turns: np.ndarray, ranks: Any) -> tuple[int, np.ndarray | None]:
        """Search the neighbourhood of each rotation: the least length, and a tour of it if it is below ``length``."""
        self.backend.write(self.band, band_of(self.distances, tour, self.k))
        mine = turns[self.share.start : self.share.stop]
        least, winner = NOTHING, NOTHING
        traced = None
        if self.measuring is not None:
            lengths = self._closed(tour, mine, self.measuring.run(mine)[0]).min(axis=1)
            least, winner = int(lengths.min()), self.share.start + int(lengths.argmin())
        elif self.share:
            traced = self._traced(tour, int(mine[0]))
            least, winner = traced[0], self.share.start
        least, winner = ranks.minloc(least, winner)
        if least >= length:
            return length, None
        found = np.zeros(self.n, np.int64)
        if winner in self.share:
            found = (traced or self._traced(tour, int(turns[winner])))[1]
        return least, ranks.sum(found)

    def _closed(self, tour: np.ndarray, turns: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Lengths of closed tours, (rotations, k), int64, from the lengths of the ways to the last layer's states."""
        ends = self.n - self.k + np.arange(self.k)  # those below 0 are not reached
        home = tour[turns][:, None]
        back = self.distances[tour[(turns[:, None] + ends) % self.n], home].astype(np.int64)
        return np.where(last < FAR, last + back if self.n > 1 else last, FAR)

    def _traced(self, tour: np.ndarray, turn: int) -> tuple[int, np.ndarray]:
        """Length and cities of a best tour in the neighbourhood of the tour from position ``turn`` on."""
        turns = np.array([turn], np.int32)
        last, choices = self.tracing.run(turns)
        lengths = self._closed(tour, turns, last)[0]
        state = int(lengths.argmin())
        positions = np.zeros(self.n, np.int64)
        first = (self.net.links & ((1 << FIRST_BITS) - 1)).astype(np.int64)
        for layer in range(self.n, 1, -1):
            positions[layer - 1] = layer + int(self.net.lasts[state]) - self.k
            state = int(first[state]) + int(choices[layer - 2, state])
        return int(lengths.min()), tour[(positions + turn) % self.n]

    def _start(self, given: np.ndarray | None) -> np.ndarray:
        """The start tour, checked, or one that every rank finds alike."""
        if given is None:
            return np.asarray(start_tour(self.backend, self.distances, self.name))
        from core.problems.permutations import check_tour

        try:
            return check_tour(given, self.n)
        except ValueError as error:
            raise UserError(f"start tour: {error}") from error


def nonnegative_integers(distances: np.ndarray) -> np.ndarray:
    """Return the distances in their own type of integers; raise `UserError` if they are of another kind."""
    array = square_matrix(distances, check_cities)
    if array.dtype.kind not in "iu":
        raise UserError(f"distances of {array.dtype}: expected integers")
    negative = array < 0
    np.fill_diagonal(negative, False)
    if negative.any():
        i, j = np.argwhere(negative)[0]
        raise UserError(f"distance {array[i, j]} from {i} to {j}: expected at least 0")
    return array


def check_cities(n: int) -> None:
    """Raise `UserError` unless so many cities have numbers of 16 bits."""
    if n > MOST_CITIES:
        raise UserError(f"{n} cities: at most {MOST_CITIES}")


def check_k(k: int, n: int, name: str) -> None:
    """Raise `UserError` unless there is such a neighbourhood and this machine has memory for its choices."""
    if k < LEAST_K:
        raise UserError(f"k = {k}: at least {LEAST_K}, since with 1 no city may move")
    if k > MOST_K:
        raise UserError(f"k = {k}: at most {MOST_K} with layers of {states_of(MOST_K):,} states")
    kept = (n - 1) * states_of(k)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if kept > memory // 2:
        raise UserError(
            f"{name} has {n} cities: k = {k} keeps {kept:,} bytes of choices, and half of this machine's memory is "
            f"{memory // 2:,} bytes: a smaller k takes less"
        )


def check_start(n: int, longest: int, name: str) -> None:
    """Raise `UserError` if 2-opt finds no start tour: its indices and lengths have 31 bits."""
    if n > two_opt_climbs.MOST_CITIES:
        raise UserError(f"{name} has {n} cities: 2-opt improves a start tour of at most {two_opt_climbs.MOST_CITIES}")
    if n * longest >= 2**31:
        raise UserError(f"{name}: distances up to {longest}: tours of {n} cities do not fit 31 bits")


def start_tour(backend: Any, distances: np.ndarray, name: str = "the instance") -> np.ndarray:
    """A tour to start from: greedy edge matching and 2-opt, or nearest neighbours if distances are asymmetric.

    int64, the same on every backend.
    """
    from core.problems.tsp.small_tours import greedy_edge_tour
    from core.search.hill_climbing.scans import scan_for

    n = len(distances)
    if n < 4:
        return np.arange(n)
    lengths = distances.copy()
    np.fill_diagonal(lengths, 0)
    if not np.array_equal(lengths, lengths.T):
        return nearest_neighbour_tour(lengths)
    check_start(n, int(lengths.max()), name)
    if n <= HOST_CITIES:
        return greedy_tour(lengths)
    greedy = greedy_edge_tour(lengths)
    scan = scan_for("pruned", backend, lengths.astype(np.uint16 if lengths.max() < 2**16 else np.uint32))
    ticket, best, totals = (
        np.zeros(1, np.uint32),
        np.full(1, NOTHING, np.uint64),
        np.zeros(two_opt_climbs.TOTALS, np.uint64),
    )
    climbs = backend.load(two_opt_climbs.CountedClimbs(n, greedy.astype(np.uint16), 1, ticket, 0, best, totals))
    scan.launch(climbs)
    return np.asarray(backend.download(climbs.tours), np.int64)
