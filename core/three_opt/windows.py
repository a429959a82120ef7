"""Iterated local search of one tour by all teams, each in another window of it (`core.three_opt.kernels.windows`).

A round cuts the tour into windows of consecutive cities, or of cities in a rectangle, and improves them: the first
round by descents, the others by perturbations. After some rounds one team makes the moves that join cities of several
windows. The windows depend only on the seed and the round, so the tour is the same for any number of teams.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import UserError
from core.local_search.outcome import Outcome, mix_digests
from core.run.devices import ComputeDevice, Ranks
from core.run.stop import Stop
from core.three_opt.cells import FEWEST, cells_along, cells_in_strips, closed_curve, most_cells, partition
from core.three_opt.kernels.tour_array import MOST_LOGGED, TourControl, TourTotals
from core.three_opt.kernels.windows import WindowKicks, WindowMemory, Windows, descend_from, find_moves, improve_windows
from core.three_opt.search import CHAIN_LISTS, IteratedThreeOpt, check_range
from core.tours import TspInstance
from core.tours.distances import distance_bound

WINDOW = 1000
"""Usual number of cities of a window."""
KICKS = 1
"""Perturbations of a round for each city."""
ALONG, BETWEEN = 3, 4
"""Rounds from one with windows of consecutive cities to the next, and from moves between windows to the next ones."""
WINDOW_SEGMENT = 100
LONGEST = 1 << 22
"""Longest distance, so that fixed edges are of another order (`core.three_opt.kernels.tour_array.FIXED`)."""


class WindowedThreeOpt(IteratedThreeOpt):
    """Iterated local search of one tour in windows; an iteration is a round of all windows.

    Parameters
    ----------
    instance
        Cities with coordinates and the distances EUC_2D.
    window
        Number of cities of a window.
    kicks
        Perturbations of a round for each city.
    backend, communicator, lists, segment, seed, team_size
        See `core.three_opt.search.IteratedThreeOpt`.

    Raises
    ------
    UserError
        Too few cities, other distances, lengths that do not fit 31 bits, a setting out of range, or several ranks.
    """

    title = "iterated local search of tours in windows"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        instance: TspInstance,
        *,
        window: int = WINDOW,
        kicks: int = KICKS,
        lists: int = CHAIN_LISTS,
        segment: int = WINDOW_SEGMENT,
        seed: int = 0,
        team_size: int | None = None,
    ) -> None:
        if instance.coordinates is None or instance.edge_weight_type != "EUC_2D":
            raise UserError(f"{instance.name} has distances {instance.edge_weight_type}: windows take EUC_2D")
        if instance.n < FEWEST:
            raise UserError(f"{instance.name} has {instance.n} cities: windows take at least {FEWEST}")
        if distance_bound(instance.coordinates, "EUC_2D") > LONGEST:
            raise UserError(f"{instance.name} has distances of more than {LONGEST}, which windows do not take")
        if communicator.size > 1:
            raise UserError(f"windows on {communicator.size} ranks: expected 1")
        check_range("window", window, 2 * FEWEST)
        check_range("kicks", kicks, 1, 1 << 10)
        self.window, self.kicks = min(window, instance.n), kicks
        super().__init__(backend, communicator, instance, lists=lists, segment=segment, seed=seed, team_size=team_size)
        n, most = instance.n, most_cells(instance.n, self.window)
        points = instance.coordinates[self.order]
        self.ranks_by_axis = [np.argsort(np.argsort(axis, kind="stable"), kind="stable") for axis in points.T]
        self.teams = min(most, 64 * backend.capabilities.compute_units)
        size = self.window
        memory = WindowMemory(size=size, words=-(-size // 32), logged=2 * MOST_LOGGED, listed=size * self.lists)
        self.memory = backend.rows(memory, self.teams)
        numbers, words = np.zeros(n, np.int32), np.zeros(most + 1, np.int32)
        windows = Windows(words, words[1:], numbers, numbers, numbers, words[1:], np.zeros(most, np.uint64), 0)
        self.windows = backend.load(windows)
        self.has_move, self.queued = backend.upload(np.zeros(n, np.uint8)), backend.upload(numbers)
        self.decrease = backend.upload(np.zeros(1, np.int32))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"window": self.window, "kicks": self.kicks, "lists": self.lists, "segment": self.segment}

    @property
    def by_table(self) -> bool:
        return False

    @property
    def description(self) -> str:
        return f"iterated 3-opt by {self.lists} neighbours in windows of {self.window} cities"

    def place_of_best(self, outcome: Outcome) -> str:
        return f"round {outcome.found_at}"

    def evaluations(self, control: np.ndarray, totals: np.ndarray) -> int:
        return int(totals[0, TourTotals.evaluations])

    def evaluations_after(self, iterations: int) -> int:
        return int(self.backend.download(self.rows.totals)[TourTotals.evaluations])

    def start(self) -> None:
        """Start with the start tour, or along a closed curve, since windows shorten a long edge slowly."""
        assert self.instance.coordinates is not None
        curve = closed_curve(self.instance.coordinates[self.order]).astype(np.int32)
        tour = curve if self.initial is None else self.initial[0]
        self.write_tours(tour[None])
        self.number()
        self.write_control(self.instance.tour_length(self.order[tour]))

    def improve(self, count: int, stop: Stop) -> None:
        """Make ``count`` rounds, or fewer if the target is reached."""
        control = self.control()[0]
        totals = self.backend.download(self.rows.totals)
        for _ in range(count):
            if control[TourControl.best_length] <= stop.target:
                break
            self._improve_once(control, totals)
        self.backend.write(self.rows.control, control)
        self.backend.write(self.rows.totals, totals)

    def _improve_once(self, control: np.ndarray, totals: np.ndarray) -> None:
        """Make one round, and count it in the words of the walk."""
        round_number = int(control[TourControl.kicks])
        change, kicks, digest = self._improve_windows(round_number)
        if round_number % BETWEEN == BETWEEN - 1:
            change -= self._improve_between()
        control[TourControl.kicks] += 1
        if change < 0:
            control[TourControl.length] += change
            control[TourControl.best_length] = control[TourControl.length]
            control[TourControl.best_at] = control[TourControl.kicks]
        totals[TourTotals.evaluations] += np.uint64(kicks)
        pair = np.array([totals[TourTotals.digest], digest], np.uint64)
        totals[TourTotals.digest] = mix_digests(pair, np.array([round_number, control[TourControl.length]], np.uint64))

    def _improve_windows(self, round_number: int) -> tuple[int, int, int]:
        """Improve all windows; return the change of the length, the number of perturbations, and a digest."""
        backend, windows = self.backend, self.windows
        cut = partition(backend.download(self.rows.tour), self._cells(round_number))
        count = cut.ends.size
        for name in ("begin", "ends", "members", "slot", "paths"):
            words, buffer = getattr(cut, name), getattr(windows, name)
            backend.write(buffer, np.pad(words, (0, buffer.size - words.size)))
        windows.count = count
        each = self.kicks if round_number else 0
        rule = WindowKicks(round_number, each, int(round_number == 0), self.segment, self.seed)
        if count:
            teams = min(count, self.teams)
            backend.launch(improve_windows, teams, self.team_size, self.memory, windows, self.cities, rule)
        tour = cut.joined(backend.download(windows.paths))
        self.write_tours(tour[None])
        change = int(backend.read(windows.change, 0, count).sum())
        digest = mix_digests(backend.read(windows.digest, 0, count), np.arange(count, dtype=np.uint64))
        return change, each * int(cut.begin[-1]), digest

    def _cells(self, round_number: int) -> np.ndarray:
        """Return the cell of each position of the tour: of consecutive cities, or of the plane."""
        n, size = self.n, self.window
        words = np.random.Philox(key=self.seed, counter=round_number).random_raw(2)
        shift, first = int(words[0] % n), int(words[1] % size)
        if round_number % ALONG == 0:
            return cells_along(n, size, shift)
        ranks = self.ranks_by_axis if round_number % ALONG == 1 else self.ranks_by_axis[::-1]
        return cells_in_strips(ranks, size, shift, first)[self.backend.download(self.rows.tour)]

    def _improve_between(self) -> int:
        """Descend from all cities of the tour that have an improving move; return the decrease of the length."""
        backend = self.backend
        teams = min(self.n, 64 * backend.capabilities.compute_units)
        backend.launch(find_moves, teams, self.team_size, self.rows, self.cities, self.has_move)
        found = np.flatnonzero(backend.download(self.has_move)).astype(np.int32)
        if not found.size:
            return 0
        backend.write(self.queued, np.pad(found, (0, self.n - found.size)))
        backend.launch(descend_from, 1, self.team_size, self.rows, self.cities, self.queued, found.size, self.decrease)
        return int(backend.download(self.decrease)[0])
