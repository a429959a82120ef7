"""History of a search: its rows in a record, and the files of `--curve` and `--plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from core.errors import UserError
from drivers.options.declaration import Options
from drivers.options.output_files import reporting_write_errors
from drivers.workload.declaration import AnyOutcome, AnyProblem, AnySearch, PreparedRun, WorkloadDeclaration

if TYPE_CHECKING:
    from drivers.options.local_search import SearchOptions
    from drivers.options.tours import TourOptions

MOST_ROWS = 10_000
"""Rows of a history in a record; `--curve` writes all."""

CURVE_POINTS = 200
"""Points of an ant colony's convergence in a record."""

T = TypeVar("T")
AnyHistory = TypeVar("AnyHistory", bound="TourOptions | SearchOptions")


class HistoryWorkload(WorkloadDeclaration[AnyHistory, AnyProblem, AnySearch, AnyOutcome]):
    """A workload of searches with a history, kept on request."""

    def save(self, run: PreparedRun[AnyHistory, AnyProblem, AnySearch], outcome: AnyOutcome) -> None:
        curve, plot, rows = run.options.curve, run.options.plot, outcome.history
        if curve and rows is not None:
            with reporting_write_errors(curve), open(curve, "w", encoding="ascii") as file:
                file.write("iteration,evaluations,seconds,best_cost\n")
                file.writelines(f"{step},{count},{seconds:.9f},{cost}\n" for step, count, seconds, cost in rows)
        if plot and rows is not None:
            from reports.plots.history import draw_history, save_figure

            optimum = run.problem.optimum
            figure = draw_history(
                rows,
                run.search.unit,
                f"{run.problem.name}: best {self.noun} {self.in_words(outcome.cost)}",
                noun=self.noun,
                in_words=self.in_words,
                known={self.best_known: optimum} if optimum is not None else {},
                evaluations=outcome.evaluations,
            )
            with reporting_write_errors(plot):
                save_figure(figure, plot)


def refuse_clocked_records(options: Options, expected: str) -> None:
    """Refuse repetitions in one record of a run with a limit of seconds; ``expected`` names the other limits."""
    if options.record and options.repeats > 1:
        raise UserError(
            f"--record with --seconds and --repeats {options.repeats}: a time limit ends each repetition at another "
            f"iteration, but repetitions of a record must do equal work; expected {expected} instead of --seconds"
        )


def improvement_points(curve: Sequence[int], most: int = CURVE_POINTS) -> list[list[int]]:
    """Return the points [iteration, best so far] of improvements, at most ``most``, evenly chosen."""
    points: list[list[int]] = []
    for iteration, length in enumerate(curve):
        if not points or length < points[-1][1]:
            points.append([iteration, length])
    return thin_rows(points, most)


def thin_rows(rows: list[T], most: int) -> list[T]:
    """Return at most ``most`` rows, evenly chosen, with the first and the last."""
    if len(rows) <= most:
        return rows
    return [rows[i * (len(rows) - 1) // (most - 1)] for i in range(most)]
