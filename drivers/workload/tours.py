"""Instances, verifiers and output files that the workloads of the travelling salesman share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import UserError
from drivers.options.declaration import AnyOptions
from drivers.options.output_files import reporting_write_errors
from drivers.workload.declaration import (
    PUBLISHED_OPTIMUM,
    SCORER,
    PreparedRun,
    RepetitionResult,
    Task,
    VerifierVerdict,
    Workload,
)
from drivers.workload.history import save_history


class TourWorkload(Workload[AnyOptions]):
    """A search for a shortest tour; its outcome has a ``tour``, a ``length`` and a history."""

    noun = "length"

    def verify(self, run: PreparedRun[AnyOptions], outcome: Any, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        yield tour_verdict(run.problem, result.outcome.solution, outcome.length)

    def save(self, run: PreparedRun[AnyOptions], outcome: Any) -> None:
        save_tour(self.name, run.options, run.problem, outcome.tour)
        save_history(self, run, outcome)


# --- instances ---


def available_instance(options: Any) -> Task:
    """Return the options' instance, else an available one."""
    from core import tours as tsp
    from core.instances.sources import default_instance

    if options.instance is not None:
        instance = tsp.load(options.instance, options.data, drop=options.drop)
        return Task(options, instance, instance.source)
    spec, reason = default_instance(options.data)
    return Task(options, tsp.load(spec, options.data, drop=options.drop), reason)


def small_instance(options: Any, chosen: str, generated: str, *, symmetric: bool) -> Task:
    """Return the instance of `--matrix` or `--instance`, else the chosen one if available, else a generated one.

    Raises `UserError` if both are given, or the file is no instance.
    """
    from core import tours as tsp
    from core.instances import sources

    if options.matrix is not None:
        from drivers.workload.matrix_files import load_matrix

        if options.instance is not None:
            raise UserError("--matrix and --instance: expected one of them")
        if options.drop:
            raise UserError("--drop changes nothing here: a matrix has no keys and sections")
        instance: Any = load_matrix(options.matrix, symmetric=symmetric)
    else:
        spec = options.instance or (chosen if sources.find(chosen, options.data) else generated)
        instance = tsp.load(spec, options.data, drop=options.drop, symmetric=symmetric)
    return Task(options, instance, instance.source)


# --- results ---


def instance_details(instance: Any) -> Mapping[str, Any]:
    return {"cities": instance.n, "optimum": instance.optimum}


def tour_verdict(instance: Any, tour: Any, length: int) -> VerifierVerdict:
    """Verdict of the plain scorer, which adds up a tour's distances."""
    scored = instance.tour_length(tour)
    return VerifierVerdict(SCORER, None if scored == length else f"the scorer finds length {scored}", scored)


def optimum_verdicts(instance: Any, length: int, *, exactly: bool) -> Iterator[VerifierVerdict]:
    """Verdict of the published optimum: no tour is shorter, and a proved one has its length."""
    optimum = instance.optimum
    if optimum is None:
        return
    if length != optimum if exactly else length < optimum:
        yield VerifierVerdict("", f"the optimum is known to be {optimum}")
    elif exactly:
        yield VerifierVerdict(PUBLISHED_OPTIMUM)


# --- files ---


def refuse_blank_drawing(options: Any, instance: Any) -> None:
    """Refuse `--svg` for an instance without coordinates."""
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")


def save_tour(workload: str, options: Any, instance: Any, tour: Any) -> None:
    """Write the best tour, if any, to the options' files, with the name of the program that found it.

    Raises `UserError` if the disk fails.
    """
    if tour is None:
        return
    if options.tour:
        from core.tours import tour_files

        with reporting_write_errors(options.tour):
            tour_files.write(options.tour, tour, name=instance.name, comment=f"found by onekernel, drivers.{workload}")
    if options.svg:
        from reports.plots.tour import draw_tour

        with reporting_write_errors(options.svg), open(options.svg, "w", encoding="utf-8") as file:
            file.write(draw_tour(instance.display, tour, instance.name))
