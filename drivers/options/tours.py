"""Options that the workloads of the travelling salesman share; their dataclasses declare the order of these fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from drivers.options.declaration import Options

if TYPE_CHECKING:
    from drivers.options.output_files import OutputFile


class InstanceOptions(Options):
    """Base of options with an instance of TSPLIB, and files of its best tour."""

    if TYPE_CHECKING:
        drop: tuple[str, ...]
        tour: OutputFile | None
        svg: OutputFile | None


class TourOptions(InstanceOptions):
    """Base of options with the history of the best tour too."""

    if TYPE_CHECKING:
        history: bool
        curve: OutputFile | None
        plot: OutputFile | None


AnyTour = TypeVar("AnyTour", bound=TourOptions)
