"""Options that the workloads of the travelling salesman share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from drivers.options.declaration import Options

if TYPE_CHECKING:
    from drivers.options.output_files import OutputFile


class InstanceOptions(Protocol):
    """Options that choose an instance of TSPLIB, and the files of its best tour."""

    @property
    def instance(self) -> str | None: ...
    @property
    def data(self) -> str | None: ...
    @property
    def drop(self) -> tuple[str, ...]: ...
    @property
    def tour(self) -> str | None: ...
    @property
    def svg(self) -> str | None: ...


class MatrixOptions(InstanceOptions, Protocol):
    """Options that may name a matrix instead of an instance."""

    @property
    def matrix(self) -> str | None: ...


class TourOptions(Options):
    """Base of the options of searches for a tour; their dataclasses declare the order of these fields."""

    if TYPE_CHECKING:
        drop: tuple[str, ...]
        tour: OutputFile | None
        svg: OutputFile | None
        history: bool
        curve: OutputFile | None
        plot: OutputFile | None


AnyTour = TypeVar("AnyTour", bound=TourOptions)
