"""Options of the 0-1 knapsack problem, and their instance."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.errors import UserError
from core.tables.knapsack.problem import CLASSES, PAPER, Knapsack
from drivers.options.declaration import CHECKS, RESULTS, OptionGroup, option
from drivers.options.dynamic_programming import DpOptions
from drivers.options.output_files import OutputFile
from drivers.options.values import NAME, natural, number, positive

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
class KnapsackOptions(DpOptions, takes="Knapsack"):
    """Options of the knapsack problem; those of the instance or the search are None by default.

    `--instance` takes only files, since a generated instance has separate options.
    """

    instance: str | None = option(
        None, "instance file; FILE:2: its second; FILE:weight-value: weights first (default: generated)", NAME, "NAME"
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
    range: int | None = GENERATED.option(None, "largest random number in Pisinger's classes (1000)", positive, "R")
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
        False, f"verify the value in NumPy (always done up to {MOST_VERIFIED_CELLS:,} cells)", bool
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

    @property
    def sized(self) -> bool:
        return bool(self.items or self.capacity or self.kind or self.instance)

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
            for name in ("items", "capacity", "kind", "range", "seed", "seeds"):
                if getattr(self, name):
                    option = "class" if name == "kind" else name
                    raise UserError(f"--{option} changes nothing here: --instance names a file, and nothing is random")
            return knapsack.load(self.instance, self.data)
        kind = self.kind or knapsack.PAPER
        if self.range is not None and kind in (knapsack.PAPER, "similar-weights"):
            raise UserError(f"--range changes nothing here: the class {kind} has a fixed range")
        capacity = CAPACITY if self.capacity is None and kind == knapsack.PAPER else self.capacity
        return knapsack.generate(kind, self.items or ITEMS, capacity, self.seed, self.range or knapsack.RANGE)
