"""The generic engine of the paper (`oconnell2014`): any recurrence with cells in waves, or in tiles of a `Grid`."""

from __future__ import annotations

from typing import Generic, TypeVar

from core.errors import UserError
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import CountCallback
from core.tables.engine.published import PublishedWaves
from core.tables.engine.recurrences import Grid, WaveResult, Waves
from core.tables.engine.tiles import GridTiles

ProblemT = TypeVar("ProblemT", bound=Waves | Grid)


class WaveEngine(Generic[ProblemT]):
    """Computes a problem on one device.

    `Waves` have the paper's mapping, a launch per wave, and all cells go to the host (`core.tables.engine.published`).
    A `Grid` has a launch per diagonal of tiles, with choices packed (`core.tables.engine.tiles`).

    Parameters
    ----------
    backend, communicator
        Device and ranks. A launch per wave over several ranks would wait for the network at each, so they are refused.
    room, folder
        See `core.tables.engine.decisions.DecisionRows`. Cells of waves go to the folder.
    shape
        Lanes of a team; of tiles also bands of as many rows in a tile, and a tile's columns.

    Raises
    ------
    UserError
        More than one rank; more waves, or more cells in a few of them, than fit 32-bit indices or the device; data
        that are no bundle.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        problem: ProblemT,
        room: int | None = None,
        folder: str | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        if communicator.size > 1:
            mapping = "native" if isinstance(problem, Grid) else "published"
            raise UserError(
                f"--mapping {mapping} computes a table on one device here: found {communicator.size} ranks, expected 1"
            )
        self.problem = problem
        self.mapping: GridTiles | PublishedWaves
        if isinstance(problem, Grid):
            self.mapping = GridTiles(backend, problem, room, folder, shape)
        else:
            self.mapping = PublishedWaves(backend, problem, folder, shape)

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
