"""The generic engine of the paper (`oconnell2014`): any recurrence with cells in waves, by one of three mappings."""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from core.search.dp.engine.packed import PackedWaves
from core.search.dp.engine.published import PublishedWaves
from core.search.dp.engine.recurrences import Grid, WaveResult, Waves, upload_problem_data
from core.search.dp.engine.tiles import GridTiles
from core.search.protocol import CountCallback

OPTIONS = {
    "waves": ("--tiling none", "--tiling auto"),
    "tiles": ("--tiling tiles", "--tiling auto"),
    "published": ("--mapping published", "--mapping native"),
}
"""The option of each mapping, and the one that several ranks and checkpoints need."""
MAPPING_OF_TILING = {"none": "waves", "tiles": "tiles", "published": "published"}
"""The mapping of each tiling that a search leaves to the engine."""


class WaveEngine:
    """Computes a problem wave by wave on one device.

    Parameters
    ----------
    backend, communicator
        Device and ranks. A launch per wave over several ranks would wait for the network at each, so they are refused.
    problem : Waves
    mapping : {"waves", "tiles", "published"}, optional
        ``waves``: a launch per wave, choices packed (`core.search.dp.engine.packed`). ``tiles``: a launch per diagonal
        of tiles of a `Grid` (`core.search.dp.engine.tiles`). ``published``: the paper's, a launch per wave, and all
        cells go to the host (`core.search.dp.engine.published`). By default tiles for a `Grid`, else waves.
    room, folder
        See `core.search.dp.engine.decisions.DecisionRows`. With the published mapping cells go to the folder.
    shape : tuple of int, optional
        Lanes of a team; of tiles also bands of as many rows in a tile, and a tile's columns.

    Raises
    ------
    UserError
        More than one rank; more waves, or more cells in a few of them, than 32-bit indices or the device have room
        for; data that are no bundle.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        problem: Waves,
        mapping: str | None = None,
        room: int | None = None,
        folder: str | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        mapping = mapping or problem.mapping
        option, instead = OPTIONS[mapping]
        if communicator.size > 1:
            raise UserError(f"{option} computes a table on one device: expected {instead} on several ranks")
        self.backend = backend
        self.mapping: PackedWaves | GridTiles | PublishedWaves
        if mapping == "published":
            self.mapping = PublishedWaves(backend, problem, folder, shape)
        elif isinstance(problem, Grid) and mapping == "tiles":
            self.mapping = GridTiles(backend, problem, room, folder, shape)
        else:
            self.mapping = PackedWaves(backend, problem, room, folder, shape)

    @property
    def problem(self) -> Any:
        return self.mapping.problem

    def restate(self, problem: Waves) -> None:
        """Take another problem with the same function and waves that are no wider."""
        self.mapping.problem, self.mapping.data = problem, upload_problem_data(self.backend, problem)

    def make_room(self) -> None:
        if isinstance(self.mapping, PublishedWaves):
            self.mapping.make_room()

    def run(self, trace: bool = True, progress: CountCallback | None = None) -> WaveResult:
        """Compute all waves; ``progress(done, launches)`` is called from time to time."""
        mapping = self.mapping
        mapping.begin(trace)
        for number in range(mapping.launches):
            mapping.launch(number)
            if progress is not None and (number + 1) % mapping.report_every == 0:
                progress(number + 1, mapping.launches)
        return mapping.result()
