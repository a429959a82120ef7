"""Options that the workloads of the travelling salesman share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from drivers.options.declaration import HistoryOptions, Options
from drivers.options.output_files import OutputFile


@dataclass(frozen=True)
class InstanceOptions(Options):
    """Base of options with an instance of TSPLIB, and files of its best tour."""

    drop: tuple[str, ...] = ()
    tour: OutputFile | None = None
    svg: OutputFile | None = None


@dataclass(frozen=True)
class TourOptions(HistoryOptions, InstanceOptions):
    """Base of options with the history of the best tour too."""


@dataclass(frozen=True)
class MatrixOptions(InstanceOptions):
    """Base of options with a matrix of distances as another form of an instance."""

    matrix: str | None = None

    @property
    def names_instance(self) -> bool:
        return bool(self.instance or self.matrix)


AnyTour = TypeVar("AnyTour", bound=TourOptions)
