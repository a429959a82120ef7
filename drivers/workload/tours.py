"""Instances, verifiers and output files that the workloads of the travelling salesman share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.options.output_files import reporting_write_errors
from drivers.options.tours import AnyTour, InstanceOptions, MatrixOptions
from drivers.workload.declaration import (
    PUBLISHED_OPTIMUM,
    SCORER,
    AnyOutcome,
    AnySearch,
    PreparedRun,
    RepetitionResult,
    VerifierVerdict,
)
from drivers.workload.history import HistoryWorkload

if TYPE_CHECKING:
    import numpy as np

    from core.run.protocol import SearchResult
    from core.tours import TspInstance


THREE_OPT_TO_COST = ("iterated 3-opt", "tsp", "--algorithm", "3opt", "--walks", "1", "--target", "{cost}")
"""The best one-core algorithm for tours, until a cost."""


class TourWorkload(HistoryWorkload[AnyTour, "TspInstance", AnySearch, AnyOutcome]):
    """A search for a shortest tour, the ``solution`` of its outcome, with a history."""

    noun = "length"

    def run_settings(self, options: AnyTour) -> dict[str, object]:
        return {"history": options.keeps_history}

    def verify(
        self, run: PreparedRun[AnyTour, TspInstance, AnySearch], outcome: AnyOutcome, result: RepetitionResult
    ) -> Iterator[VerifierVerdict]:
        yield tour_verdict(run.problem, result.outcome)

    def save(self, run: PreparedRun[AnyTour, TspInstance, AnySearch], outcome: AnyOutcome) -> None:
        save_tour(self.name, run.options, run.problem, outcome.solution)
        super().save(run, outcome)


# --- instances ---


def available_instance(options: InstanceOptions) -> tuple[TspInstance, str]:
    """Return the options' instance, else an available one, and its origin.

    Raises `UserError` for `--svg` with an instance without coordinates.
    """
    from core import tours as tsp
    from core.instances.sources import default_instance

    spec, source = default_instance(options.data) if options.instance is None else (options.instance, None)
    instance = tsp.load(spec, options.data, drop=options.drop)
    refuse_blank_drawing(options, instance)
    return instance, source or instance.source


def small_instance(options: MatrixOptions, chosen: str, generated: str, *, symmetric: bool) -> TspInstance:
    """Return the instance of `--matrix` or `--instance`, else the chosen one if available, else a generated one.

    Raises `UserError` if both are given, the file is no instance, or `--svg` cannot draw it.
    """
    from core import tours as tsp
    from core.instances import sources

    if options.matrix is not None:
        from drivers.workload.matrix_files import load_matrix

        if options.instance is not None:
            raise UserError("--matrix and --instance: expected one of them")
        if options.drop:
            raise UserError("--drop changes nothing here: a matrix has no keys and sections")
        instance: TspInstance = load_matrix(options.matrix, symmetric=symmetric)
    else:
        spec = options.instance or (chosen if sources.find(chosen, options.data) else generated)
        instance = tsp.load(spec, options.data, drop=options.drop, symmetric=symmetric)
    refuse_blank_drawing(options, instance)
    return instance


def refuse_blank_drawing(options: InstanceOptions, instance: TspInstance) -> None:
    """Refuse `--svg` for an instance without coordinates."""
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")


# --- results ---


def tour_verdict(instance: TspInstance, outcome: SearchResult) -> VerifierVerdict:
    """Verdict of the plain scorer, which adds up a tour's distances."""
    assert outcome.solution is not None
    scored = instance.tour_length(outcome.solution)
    return VerifierVerdict(SCORER, None if scored == outcome.cost else f"the scorer finds length {scored}", scored)


def optimum_verdicts(instance: TspInstance, length: int, *, exactly: bool) -> Iterator[VerifierVerdict]:
    """Verdict of the published optimum: no tour is shorter, and a proved one has its length."""
    optimum = instance.optimum
    if optimum is None:
        return
    if length != optimum if exactly else length < optimum:
        yield VerifierVerdict("", f"the optimum is known to be {optimum}")
    elif exactly:
        yield VerifierVerdict(PUBLISHED_OPTIMUM)


# --- files ---


def save_tour(workload: str, options: InstanceOptions, instance: TspInstance, tour: np.ndarray | None) -> None:
    """Write the best tour, if any, to the options' files, with the name of the program that found it.

    Raises `UserError` if the disk fails.
    """
    if tour is None:
        return
    if options.tour:
        from core.tours import tour_files

        with reporting_write_errors(options.tour):
            tour_files.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, drivers.{workload}")
    if options.svg and instance.display is not None:
        from reports.plots.tour import draw_tour

        with reporting_write_errors(options.svg), open(options.svg, "w", encoding="utf-8") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
