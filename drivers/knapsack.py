"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`), on any backend and over any number of ranks.

python -m drivers.knapsack                                                   a first run of some seconds
python -m drivers.knapsack --items 1500 --capacity 100000 --seed 1           the paper's generator
python -m drivers.knapsack --class strongly-correlated --items 500           one of Pisinger's classes
python -m drivers.knapsack --instance knapPI_1_50_1000.csv --verify          a file, verified in NumPy
python -m drivers.knapsack --items 100 --method bb                           the paper's baseline: branch and bound
python -m drivers.knapsack --items 10000 --class uncorrelated                an expanding core, proved optimal
python -m drivers.knapsack --items 1500 --capacity 500 --mapping published   the paper's mapping, by diagonals
mpirun -n 2 python -m drivers.knapsack --items 200 --capacity 100000         the same table on 2 ranks
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from drivers.options.knapsack import MOST_VERIFIED_CELLS, KnapsackOptions
from drivers.options.output_files import reporting_write_errors
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.declaration import INSTANCE_FILE, SCORER, RepetitionResult, Task, VerifierVerdict
from drivers.workload.dynamic_programming import DpWorkload

if TYPE_CHECKING:
    from core.run.stop import Stop
    from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
    from core.tables.knapsack.expanding_core import KnapsackCore
    from core.tables.knapsack.problem import Knapsack
    from core.tables.knapsack.search import KnapsackSearch, Selection
    from drivers.workload.declaration import PreparedRun, SearchPlace

    AnyKnapsackSearch = KnapsackSearch | KnapsackBranchAndBound | KnapsackCore
    KnapsackRun = PreparedRun[KnapsackOptions, Knapsack, AnyKnapsackSearch]

CELLS = "cells of the table, one for an item and a capacity; with bb nodes"
STATES = "states that an expanding core keeps, summed over its items"
GAVE_UP = "the search reached its limit, --nodes or --seconds; this is its incumbent"


def value_mismatch(outcome: Selection, best: int, finds: str) -> str | None:
    """Return the objection if another value is the largest; an incumbent may be smaller."""
    wrong = best < outcome.value or (best > outcome.value and outcome.optimal)
    return f"{finds} value {best}" if wrong else None


class KnapsackWorkload(DpWorkload[KnapsackOptions, "Knapsack", "AnyKnapsackSearch", "Selection"]):
    """A table of items and capacities, the paper's branch and bound, or an expanding core."""

    name = "knapsack"
    title = "the 0-1 knapsack problem, by dynamic programming"
    options = KnapsackOptions
    unit = "cells"
    doing = "items"
    noun = "value"
    maximises = True
    standard = ("--items", "1000", "--capacity", "1000000")
    best_core = ("an expanding core", "knapsack", "--method", "core")
    with_less_room = "--method core, without --mapping, has no table, and --no-trace no decisions"
    speeds = {"native": 2e9, "published": 1e8}

    def load(self, options: KnapsackOptions, ranks: int) -> Task[KnapsackOptions, Knapsack]:
        options.refuse_idle()
        instance = options.chosen_instance()
        return Task(options.settled(instance, ranks), instance, instance.source)

    def make_search(self, place: SearchPlace, problem: Knapsack, options: KnapsackOptions) -> AnyKnapsackSearch:
        if options.method == "core":
            from core.tables.knapsack.expanding_core import KnapsackCore

            return KnapsackCore(*place, problem)
        if options.bounded:
            from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound

            return KnapsackBranchAndBound(*place, problem, most_nodes=options.nodes)
        from core.tables.knapsack.search import KnapsackSearch

        room, folder = options.device_memory, options.spill
        search = KnapsackSearch(*place, problem, mapping=options.mapping, room=room, folder=folder)
        if options.trace:
            search.make_room()
        return search

    def stop(self, options: KnapsackOptions) -> Stop | None:
        from core.run.stop import Seconds

        return None if options.seconds is None else Seconds(options.seconds)

    def run_settings(self, options: KnapsackOptions) -> dict[str, object]:
        return {} if options.bounded else super().run_settings(options)

    def cells(self, options: KnapsackOptions, problem: Knapsack) -> int | None:
        return None if options.bounded else len(problem.useful_items()) * (problem.capacity + 1)

    def parameters(self, run: KnapsackRun) -> dict[str, object]:
        return {"method": run.options.method}

    def result(self, run: KnapsackRun, outcome: Selection) -> RepetitionResult:
        """Return the largest value; all cells of the table count, even unneeded ones."""
        options, instance = run.options, run.problem
        packed = streamed = ""
        if outcome.chosen is not None:
            packed = f", weight {outcome.weight} of {instance.capacity}, {int(outcome.chosen.sum())} items"
        if not options.bounded and options.trace:
            streamed = f", {outcome.streamed_bytes:,} bytes streamed"
        return RepetitionResult(
            outcome,
            f"{'value' if outcome.optimal else 'incumbent of value'} {outcome.value}{packed}{streamed}",
            gave_up="" if outcome.optimal else GAVE_UP,
            details={
                "evaluation_definition": STATES if options.method == "core" else CELLS,
                "items": instance.n,
                "capacity": instance.capacity,
                "weight": outcome.weight,
                "items_taken": None if outcome.chosen is None else int(outcome.chosen.sum()),
                "proved": outcome.optimal,
                "cells": outcome.cells,
                "streamed_bytes": outcome.streamed_bytes,
            },
        )

    def verify(self, run: KnapsackRun, outcome: Selection, result: RepetitionResult) -> Iterator[VerifierVerdict]:
        """Compare with the selection's scorer, the file's optimum, and NumPy if requested or quick."""
        options, instance = run.options, run.problem
        if outcome.chosen is not None:
            weight, value = instance.weight_and_value(outcome.chosen)
            wrong = [f"value {value}"] * (value != outcome.value) + [f"weight {weight}"] * (weight > instance.capacity)
            yield VerifierVerdict(SCORER, f"the scorer finds {' and '.join(wrong)}" if wrong else None, value)
        elif options.trace:
            yield VerifierVerdict(SCORER, "no selection was found")
        if instance.optimum is not None:
            yield VerifierVerdict(INSTANCE_FILE, value_mismatch(outcome, instance.optimum, "the file says"))
        if options.verify or instance.n * (instance.capacity + 1) <= MOST_VERIFIED_CELLS:
            best = run.once("again", instance.best_value)
            yield VerifierVerdict("NumPy", value_mismatch(outcome, best, "NumPy finds"))

    def save(self, run: KnapsackRun, outcome: Selection) -> None:
        path, chosen = run.options.output, outcome.chosen
        if path is not None and chosen is not None:
            with reporting_write_errors(path), open(path, "w", encoding="ascii") as file:
                file.writelines(f"{item}\n" for item in chosen.nonzero()[0].tolist())

    def progress_label(self, run: KnapsackRun) -> str:
        return "nodes" if run.options.method == "bb" else self.doing

    def on_one_core(self, options: KnapsackOptions) -> bool:
        return options.bounded


KNAPSACK = KnapsackWorkload()
main = driver(KNAPSACK, __doc__)

if __name__ == "__main__":
    exit_with(main)
