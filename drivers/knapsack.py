"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`), on any backend and over any number of ranks.

onekernel knapsack                                                   a first run of some seconds
onekernel knapsack --items 1500 --capacity 100000 --seed 1           the paper's generator
onekernel knapsack --class strongly-correlated --items 500           one of Pisinger's classes
onekernel knapsack --instance knapPI_1_50_1000.csv --verify          a file, verified in NumPy
onekernel knapsack --items 100 --method bb                           the paper's baseline: branch and bound
onekernel knapsack --items 10000 --class uncorrelated                an expanding core, proved optimal
onekernel knapsack --items 1500 --capacity 500 --mapping published   the paper's mapping, by diagonals
mpirun -n 2 onekernel knapsack --items 200 --capacity 100000         the same table on 2 ranks
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import UserError
from core.tables.knapsack.problem import CLASSES, PAPER, Knapsack
from drivers.options.declaration import CHECKS, RESULTS, OptionGroup, option
from drivers.options.dynamic_programming import DpOptions
from drivers.options.output_files import OutputFile, reporting_write_errors
from drivers.options.values import NAME, natural, number, positive
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.declaration import INSTANCE_FILE, SCORER, RepetitionResult, Task, VerifierVerdict
from drivers.workload.dynamic_programming import DpWorkload

if TYPE_CHECKING:
    from core.run.stop import Stop
    from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
    from core.tables.knapsack.expanding_core import KnapsackCore
    from core.tables.knapsack.search import KnapsackSearch, Selection
    from drivers.workload.declaration import PreparedRun, SearchPlace

    AnyKnapsackSearch = KnapsackSearch | KnapsackBranchAndBound | KnapsackCore
    KnapsackRun = PreparedRun["KnapsackOptions", Knapsack, AnyKnapsackSearch]

METHODS = ("dp", "bb", "core")
TABLE_OPTIONS = "cores", "trace", "mapping", "device_memory", "spill", "profile"
"""Options that mean a table, without ``--method``."""
ITEMS, CAPACITY = 1500, 100_000
MOST_VERIFIED_CELLS = 200_000_000
"""Most cells for which NumPy always computes the value again, in half a second."""
CORE_CLASSES = tuple(kind for kind in CLASSES if kind not in (PAPER, "inverse-strongly-correlated"))
CORE_CELLS = 10**8
"""Larger tables of these classes always took longer on one core than an expanding core."""
GENERATED = OptionGroup("generated instances, from --seed")
SEARCH = OptionGroup("search", decides="work")
"""Branch and bound may find another of several best selections, so the method decides the work."""


@dataclass(frozen=True)
class KnapsackOptions(DpOptions, takes="Knapsack", hidden=()):
    """Options of the knapsack problem; those of the instance or the search are None by default.

    `--instance` takes files, and names of generated instances. The parts of such a name are options too.
    """

    instance: str | None = option(
        None,
        "instance file; FILE:2: its second; FILE:weight-value: weights first; or the name of a generated one, such as "
        "paper:1500:50000:seed=0 (default: generated)",
        NAME,
        "NAME",
    )
    items: int | None = GENERATED.option(None, f"number of items ({ITEMS})", positive, "N")
    capacity: int | None = GENERATED.option(
        None, f"capacity ({CAPACITY}; for Pisinger's classes half of the total weight)", natural, "C"
    )
    kind: str | None = GENERATED.option(
        None,
        f"class of weights and values: the paper's, below 30%% of the capacity, or one of Pisinger's ({CLASSES[0]})",
        choices=CLASSES,
        spelled="--class",
    )
    method: str | None = SEARCH.option(
        None,
        "dynamic programming (dp), the paper's baseline: branch and bound on one core (bb), or an expanding core on "
        "one lane (core); default: an expanding core for most of Pisinger's classes, from 100 million cells on, where "
        "no cores, no ranks and nothing of a table is asked for, else dynamic programming",
        decides="search",
        choices=METHODS,
    )
    nodes: int | None = SEARCH.option(None, "with --method bb: largest number of nodes", positive, "N")
    seconds: float | None = SEARCH.option(None, "with --method bb: time limit in seconds", number, "S")
    verify: bool = CHECKS.option(
        False,
        f"verify the value in NumPy (always done up to {MOST_VERIFIED_CELLS:,} cells), of a larger table by an "
        "expanding core on one core",
        bool,
    )
    output: OutputFile | None = RESULTS.option(
        None, "save the indices of the chosen items, from 0, one per line", OutputFile, "FILE"
    )

    @property
    def keeps_checkpoints(self) -> bool:
        return self.method == "bb"

    @property
    def bounded(self) -> bool:
        return self.method in ("bb", "core")

    def refuse_idle(self) -> None:
        super().refuse_idle()
        self.refuse_without(self.method == "bb", "--method bb", "nodes", "seconds")
        if self.bounded and self.published:
            raise UserError(
                f"--mapping published changes nothing here: expected without --method {self.method}, which has no table"
            )
        if self.bounded and (not self.trace or self.device_memory or self.spill):
            raise UserError(
                f"--no-trace, --device-memory and --spill change nothing here: expected without --method {self.method}"
            )
        if self.output is not None and not self.trace:
            raise UserError("--output needs --trace: without it there is a value and no selection")

    def settled(self, instance: Knapsack, ranks: int) -> KnapsackOptions:
        """Return these options with a method: for this number of ranks an expanding core or a table by default."""
        if self.method is not None:
            return self
        is_faster = self.kind in CORE_CLASSES and instance.n * (instance.capacity + 1) >= CORE_CELLS
        as_given = (getattr(self, name) == getattr(KnapsackOptions, name) for name in TABLE_OPTIONS)
        return replace(self, method="core" if is_faster and ranks == 1 and all(as_given) else "dp")

    def chosen_instance(self) -> Knapsack:
        """Return the instance of a file, or a generated one.

        Raises `UserError` for a generator's option without effect, or a missing file.
        """
        from core.tables.knapsack import problem as knapsack

        if self.instance is not None:
            for name in ("items", "capacity", "kind", "seed", "seeds"):
                if getattr(self, name):
                    option = "class" if name == "kind" else name
                    raise UserError(f"--{option} changes nothing here: --instance names a file, and nothing is random")
            return knapsack.load(self.instance, self.data)
        kind = self.kind or knapsack.PAPER
        capacity = CAPACITY if self.capacity is None and kind == knapsack.PAPER else self.capacity
        return knapsack.generate(kind, self.items or ITEMS, capacity, self.seed)


CELLS = "cells of the table, one for an item and a capacity; with bb nodes"
STATES = "states that an expanding core keeps, summed over its items"
GAVE_UP = "the search reached its limit, --nodes or --seconds; this is its incumbent"


def value_mismatch(outcome: Selection, best: int, finds: str) -> str | None:
    """Return the objection if another value is the largest; an incumbent may be smaller."""
    wrong = best < outcome.value or (best > outcome.value and outcome.optimal)
    return f"{finds} value {best}" if wrong else None


def value_by_core(instance: Knapsack) -> int:
    """Return the largest value by an expanding core on one core."""
    import backends
    from cluster import Solo
    from core.tables.knapsack.expanding_core import KnapsackCore

    with closing(backends.create("cpu")) as device:
        return int(KnapsackCore(device, Solo(), instance).run().value)


class KnapsackWorkload(DpWorkload[KnapsackOptions, Knapsack, "AnyKnapsackSearch", "Selection"]):
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
        is_small = instance.n * (instance.capacity + 1) <= MOST_VERIFIED_CELLS
        if is_small or (options.verify and options.method == "core"):
            best = run.once("again", instance.best_value)
            yield VerifierVerdict("NumPy", value_mismatch(outcome, best, "NumPy finds"))
        elif options.verify:
            best = run.once("again", lambda: value_by_core(instance))
            yield VerifierVerdict("an expanding core", value_mismatch(outcome, best, "an expanding core finds"))

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
