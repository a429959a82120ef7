"""The thesis' mapping of exact search (`xavier2022`, chapter 2): a lane for every item."""

from __future__ import annotations

import numpy as np

from core.exact.item_search import MOST_LENGTH, ItemSearch
from core.exact.kernels.published_search import Distances, WorklistItems, search_items
from core.run.devices import ComputeDevice, DeviceLimits, Ranks

DEPTH = 7
"""Cities in an item, of eleven cities or more: the nodes "at the tree depth of 6" below the root, city 0.

The text leaves open whether city 0 counts. With six cities the largest item of gr17 has 4.7 times as many nodes
(296,710 over 63,056, counted with the optimum as incumbent), and all lanes wait for it.
"""
TEAM_SIZE, FEWEST_LANES = 64, 32
"""Lanes of a team of a wide device; fewer where a compute unit would get none."""
MOST_OF_A_CORE = 64
"""Largest number of items that a core takes at a time."""
STEPS_BETWEEN_CHECKS = 1 << 14
"""Steps after which a lane of a wide device reads the incumbent: a few hundredths of a second."""
CORE_STEPS_BETWEEN_CHECKS = 1 << 20
SLICE_SECONDS = 0.5
"""Approximate duration in seconds of a launch over several ranks, or on cores."""
LAUNCH_SECONDS = 60.0
"""The same on a wide device alone.

The thesis makes one launch. Every launch waits for its largest item: those of eleven launches of eil22 have 4.9 times
the steps of the largest one. An interrupt waits for the end of a launch.
"""


class PublishedSearch(ItemSearch):
    """The search of `core.exact.kernels.published_search`.

    A team of a wide device takes an item for each of its lanes, and the next ones when all its lanes are done. A device
    with a lane on each core has no such teams: a lane there goes from item to item. An item has ``depth`` cities, 1 to
    n - 4, by default `DEPTH`, or as many as there can be. With ``unrolled`` the last three, two and one cities have
    separate functions. See `Enumeration` for the others.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        distances: np.ndarray,
        *,
        bounded: bool,
        depth: int | None,
        unrolled: bool,
    ) -> None:
        self.backend = backend
        self.n = n = len(distances)
        self.bounded = bounded
        self.unrolled = unrolled
        self.chosen_depth = depth or min(DEPTH, n - 4)
        self.number(self.chosen_depth)
        capabilities = backend.capabilities
        is_wide = capabilities.lanes_resident > 1
        self.team_size = team_size(self.items, capabilities) if is_wide else 1
        most_teams = capabilities.compute_units * max(1, capabilities.lanes_resident // self.team_size)
        self.teams = min(most_teams, -(-self.items // self.team_size))
        self.ticket = backend.allocate(1, np.uint64)
        self.patience = STEPS_BETWEEN_CHECKS if is_wide else CORE_STEPS_BETWEEN_CHECKS
        self.is_wide = is_wide
        self.most_slice = self.items
        self.agreed: tuple[Ranks, bool] | None = None
        self.agree(communicator)
        # No tour below the limit has a longer edge, and 30 edges of this length have a sum of 31 bits.
        lengths = np.minimum(distances, MOST_LENGTH).astype(np.int32)
        shortest = (lengths + np.diag(np.full(n, MOST_LENGTH, np.int32))).min(axis=1)
        self.distances = backend.load(Distances(lengths, shortest, n))
        self.make_room(self.teams * self.team_size)
        if bounded:
            self.root_bound = int(shortest.sum())

    def agree(self, ranks: Ranks) -> None:
        if self.agreed != (ranks, self.is_kept):
            self.agreed = ranks, self.is_kept
            resident = self.backend.capabilities.compute_units * self.backend.capabilities.lanes_resident
            is_single_rank = self.is_wide and ranks.size == 1 and not self.is_kept
            self.slice_seconds = LAUNCH_SECONDS if is_single_rank else SLICE_SECONDS
            self.least_slice = min(resident, -(-self.items // ranks.size))
            self.first_slice = self.least_slice
        if self.speed and self.slice_seconds == LAUNCH_SECONDS:
            # The speed of the last search is known: one launch, if that is short enough.
            self.first_slice = self.most_slice

    def launch(self, begin: int, end: int, counting: bool) -> None:
        self.backend.write(self.ticket, np.array([begin], np.uint64))
        count = end - begin
        chunk = self.team_size if self.is_wide else max(1, min(MOST_OF_A_CORE, count // self.teams))
        shape = max(1, min(self.teams, -(-count // chunk))), self.team_size
        items = WorklistItems(self.ticket, end, chunk, self.depth, self.patience)
        constants = self.bounded, counting, self.unrolled
        self.backend.launch(search_items, *shape, self.distances, items, self.shared, self.best, *constants)


def team_size(items: int, capabilities: DeviceLimits) -> int:
    """Return the lanes of a team, few enough that every compute unit gets a team if possible."""
    lanes = min(TEAM_SIZE, capabilities.max_team_size)
    while lanes > FEWEST_LANES and items < lanes * capabilities.compute_units:
        lanes //= 2
    return lanes
