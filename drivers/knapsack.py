"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`), on any backend and over any number of ranks.

python -m drivers.knapsack                                                   a first run, in seconds
python -m drivers.knapsack --items 1500 --capacity 100000 --seed 1           the paper's generator
python -m drivers.knapsack --class strongly-correlated --items 500           one of Pisinger's classes
python -m drivers.knapsack --instance knapPI_1_50_1000.csv --verify          a file, checked independently
python -m drivers.knapsack --items 100 --method bb                           the paper's yardstick: branch and bound
mpirun -n 2 python -m drivers.knapsack --items 200 --capacity 100000         the same table, computed by 2 ranks
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from drivers.dp_options import add_dp_options, refuse_idle_options
from drivers.options import add_common_options, agreed_ranks, natural, number, positive, run_driver
from drivers.profile import add_profile_option, detail
from drivers.repetitions import Repetitions, Times, chosen_device, prepared

if TYPE_CHECKING:
    from drivers.knapsack_peer import Peer
    from drivers.progress import Advance

METHODS = ("dp", "bb")
ITEMS, CAPACITY = 1500, 100_000
COUNTED_AGAIN = 200_000_000
"""Cells up to which NumPy computes the value again without being asked; it takes half a second."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks("python -m drivers.knapsack", options)
    instance = ranks.bcast(settled(options, ranks.size) if ranks.rank == 0 else None)
    sized = bool(options.items or options.capacity or options.kind or options.instance)
    profile = detail(options, ranks, "knapsack", argv, sized)
    gpus = gpus_here() if options.backend == "auto" else 0
    leads = ranks.local_rank in (0, gpus)
    search = prepared(ranks, lambda known: build(options, ranks, instance, gpus, known), leads)
    try:
        Packings(options, ranks, instance, search, profile).repeat()
    finally:
        search.backend.close()
    return 0


# --- from the command line to a search ---


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; an option of the instance or the search that is not given is None."""
    from cluster.command_line import RankParser
    from core.problems.knapsack import CLASSES
    from core.search.dp.knapsack import TILINGS

    parser = RankParser(
        prog="python -m drivers.knapsack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    # `--instance` takes files alone here, since a generated instance has options of its own.
    add_common_options(parser, backend="auto", generator="knapPI_1_50_1000.csv", chosen="none: one is generated")
    group = parser.add_argument_group("generated instances, by --seed")
    group.add_argument("--items", type=positive, metavar="N", help=f"how many items ({ITEMS})")
    group.add_argument(
        "--capacity",
        type=natural,
        metavar="C",
        help=f"the capacity ({CAPACITY}; half of the weight of all items for Pisinger's classes)",
    )
    group.add_argument(
        "--class",
        dest="kind",
        choices=CLASSES,
        help=f"the paper's weights and values, below 30%% of the capacity, or Pisinger's ({CLASSES[0]})",
    )
    group.add_argument("--range", type=positive, metavar="R", help="largest number that Pisinger's classes draw (1000)")
    group = parser.add_argument_group("search")
    group.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[0],
        help="dynamic programming, or the paper's yardstick, branch and bound on one core (%(default)s)",
    )
    group.add_argument("--nodes", type=positive, metavar="N", help="with --method bb: give up after so many nodes")
    group.add_argument("--seconds", type=number, metavar="S", help="with --method bb: give up after so many seconds")
    add_dp_options(parser, TILINGS)
    group = parser.add_argument_group("checks and comparison")
    group.add_argument(
        "--verify",
        action="store_true",
        help=f"compute the value again in NumPy (done up to {COUNTED_AGAIN:,} cells in any case)",
    )
    group.add_argument(
        "--peers", action="store_true", help="run OR-tools, if it is installed, on the same instance, --repeats times"
    )
    add_profile_option(parser)
    parser.add_argument_group("results").add_argument(
        "--output", metavar="FILE", help="save the numbers of the items taken, from 0, one a line"
    )
    return parser.parse_args(argv)


def settled(options: argparse.Namespace, ranks: int) -> Any:
    """The instance.

    Raises
    ------
    UserError
        Options that would change nothing or exclude each other, or a file that cannot be written at the end; other
        mistakes are the instance's or the search's to find.

    """
    from core.errors import UserError
    from core.problems import knapsack

    refuse_idle_options(options)
    bounded = options.method == "bb"
    for name in ("nodes", "seconds"):
        if getattr(options, name) is not None and not bounded:
            raise UserError(f"--{name} changes nothing here: expected with --method bb")
    if bounded and (not options.trace or options.tiling != "auto" or options.device_memory or options.spill):
        raise UserError("--no-trace, --tiling, --device-memory and --spill change nothing here: expected without bb")
    if options.peers and ranks > 1:
        raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks take the peers' cores")
    if options.output is not None:
        if not options.trace:
            raise UserError("--output needs --trace: without it there is a value and no selection")
        folder = os.path.dirname(options.output) or "."
        if os.path.isdir(options.output) or not os.access(folder, os.W_OK):
            raise UserError(f"--output {options.output}: cannot write there")
    if options.instance is not None:
        for name in ("items", "capacity", "kind", "range", "seed"):
            if getattr(options, name):
                said = "class" if name == "kind" else name
                raise UserError(f"--{said} changes nothing here: --instance names a file, and nothing is random")
        return knapsack.load(options.instance, options.data)
    kind = options.kind or knapsack.PAPER
    if options.range is not None and kind in (knapsack.PAPER, "similar-weights"):
        raise UserError(f"--range changes nothing here: the class {kind} has numbers of its own")
    capacity = CAPACITY if options.capacity is None and kind == knapsack.PAPER else options.capacity
    return knapsack.generate(kind, options.items or ITEMS, capacity, options.seed, options.range or knapsack.RANGE)


def build(options: argparse.Namespace, ranks: Any, instance: Any, gpus: int, known: dict[str, str]) -> Any:
    """The search on this rank's device, compiled and warm, without a word to other ranks."""
    from drivers.automatic import automatic_device, one_core

    if options.backend != "auto":
        backend = chosen_device(options, ranks)
    elif options.method == "bb":
        backend = one_core()
    else:
        backend = automatic_device(options, ranks, gpus)
    backend.known = dict(known)
    search: Any
    if options.method == "bb":
        from core.search.dp.knapsack_bound import BoundSearch

        search = BoundSearch(backend, ranks, instance, most_nodes=options.nodes, most_seconds=options.seconds)
    else:
        from core.search.dp.knapsack import KnapsackSearch

        search = KnapsackSearch(
            backend, ranks, instance, tiling=options.tiling, room=options.device_memory, folder=options.spill
        )
    search.warm_up()
    return search


# --- running ---


class Packings(Repetitions):
    """Repetitions of the whole search, with its tracing."""

    workload = "knapsack"
    hash_covers = "answer"

    def __init__(
        self, options: argparse.Namespace, ranks: Any, instance: Any, search: Any, profile: dict[str, Any]
    ) -> None:
        super().__init__(options, ranks, instance, search)
        self.profile = profile
        self.bounded = options.method == "bb"
        self.doing = "nodes" if self.bounded else "items"
        self.peer: Peer | None = None
        self.counted_again: int | None = None
        self.verdict = ""
        self.value = 0
        self.seconds: list[float] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`; of several best selections branch and bound may find another, so the method decides."""
        return {name: getattr(self.options, name) for name in ("method", "trace", "nodes", "seconds")}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`."""
        options = self.options
        return {
            "tiling": None if self.bounded else options.tiling,
            "device_memory": options.device_memory,
            "spill": options.spill is not None,
        }

    @property
    def units(self) -> int | None:
        """Items that can be taken; nobody knows the number of nodes."""
        return None if self.bounded else len(self.search.items)

    def repeat(self) -> None:
        """Make the repetitions, and show OR-tools beside them."""
        super().repeat()
        if self.peer is not None:
            self.show_peer(self.peer)

    def run(self, advance: Advance | None) -> Any:
        """Search once."""
        if self.bounded:
            return self.search.run(None if advance is None else nodes_shown(advance))
        told = None if advance is None else items_shown(advance, self.instance.capacity + 1)
        return self.search.run(trace=self.options.trace, progress=told)

    # --- checks ---

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the selection, and ask all others who know the value: nobody may disagree.

        The incumbent of a search that gave up is no result, whatever its value.
        """
        options, instance = self.options, self.instance
        if options.peers and self.peer is None:
            from drivers.knapsack_peer import ortools

            self.peer = ortools(instance, options.repeats)
        small = instance.n * (instance.capacity + 1) <= COUNTED_AGAIN
        if self.counted_again is None and (options.verify or small):
            self.counted_again = instance.best_value()
        objections = list(self.objections(outcome))
        confirmed = ["selection confirmed by the scorer"] if outcome.chosen is not None else []
        if self.confirmed_by and outcome.optimal:
            confirmed.append(f"value confirmed by {' and by '.join(self.confirmed_by)}")
        if objections:
            self.verdict = f"NOT CONFIRMED: {'; '.join(objections)}"
        elif not outcome.optimal:
            self.verdict = "NOT PROVED: the search gave up, as --nodes or --seconds says, and this is its incumbent"
        else:
            self.verdict = ", ".join(confirmed) or "value not confirmed: nobody was asked (--trace, --verify, --peers)"
        return outcome.chosen, bool(confirmed) and outcome.optimal and not objections

    def objections(self, outcome: Any) -> Iterator[str]:
        """Yield what speaks against a result."""
        instance = self.instance
        if outcome.chosen is not None:
            weight, value = instance.weight_and_value(outcome.chosen)
            if value != outcome.value:
                yield f"the scorer finds value {value}"
            if weight > instance.capacity:
                yield f"the scorer finds weight {weight}"
        elif self.options.trace:
            yield "no selection was found"
        for name, value in self.known_values():
            if value < outcome.value or (value > outcome.value and outcome.optimal):
                yield f"{name} {'finds' if name != 'the file' else 'says'} value {value}"

    def known_values(self) -> list[tuple[str, int]]:
        """Who knows the largest value without the search, and what it is."""
        peer = self.peer
        known = [
            ("the file", self.instance.optimum),
            ("NumPy", self.counted_again),
            (peer.name if peer else "", peer.value if peer and peer.proved else None),
        ]
        return [(name, value) for name, value in known if value is not None]

    @property
    def confirmed_by(self) -> list[str]:
        """Who knows the largest value, in words."""
        return [name for name, _ in self.known_values()]

    # --- results ---

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        self.seconds.append(times.running_s)
        self.value = outcome.value
        packed = ""
        if outcome.chosen is not None:
            packed = f"weight {outcome.weight} of {self.instance.capacity}, {int(outcome.chosen.sum())} items, "
        if self.bounded:
            work = f"{outcome.nodes:,} nodes, {rate(outcome.nodes, times.running_s):,.0f} nodes/s, "
        else:
            work = f"{outcome.cells:,} cells, {rate(outcome.cells, times.running_s):,.0f} cells/s, "
            work += f"{outcome.streamed_bytes:,} bytes streamed, " if self.options.trace else ""
        found = f"{'value' if outcome.optimal else 'incumbent of value'} {outcome.value}"
        print(
            f"{self.instance.name}: {found}, {packed}{work}"
            f"{times.running_s:.6f} s (compile {times.compile_s:.3f}, transfer {times.transfer_s:.6f}, "
            f"kernel {times.kernel_s:.6f}), {self.hashed(outcome.digest)}, {self.verdict}",
            flush=True,
        )

    def show_peer(self, peer: Peer) -> None:
        """Two lines on standard output, or why there is one."""
        if peer.value is None or not self.seconds:
            print(f"{peer.name}: {peer.trouble or 'nothing to compare with: all repetitions are recorded'}", flush=True)
            return
        own_s = statistics.median(self.seconds)
        proved = "" if peer.proved else " (not proved within its time)"
        print(f"{peer.name} {peer.version}: value {peer.value}{proved}, {peer.solve_s:.6f} s on one core")
        print(f"this search: value {self.value}, {own_s:.6f} s, {peer.solve_s / own_s:.2f} times as fast", flush=True)

    def save(self, solution: Any) -> None:
        """The selection as --output says."""
        if self.options.output is not None and solution is not None:
            with open(self.options.output, "w", encoding="ascii") as file:
                file.writelines(f"{item}\n" for item in solution.nonzero()[0].tolist())

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`; the cells are those of the whole table, also those that nobody needed."""
        return {
            "best_cost": outcome.value,
            "best_index": 0,
            "evaluations": outcome.cells,
            "trajectory_hash": f"{outcome.digest:016x}",
            "details": {
                "optimum": self.instance.optimum,
                "instance_source": self.instance.source,
                "evaluations_per_step": "cells of the table, one for an item and a capacity; none with bb",
                "items": self.instance.n,
                "capacity": self.instance.capacity,
                "weight": outcome.weight,
                "items_taken": None if outcome.chosen is None else int(outcome.chosen.sum()),
                "proved": outcome.optimal,
                "method": "branch and bound" if self.bounded else self.options.tiling,
                "cells": outcome.cells,
                "cells_per_second": rate(outcome.cells, times.running_s),
                "nodes": outcome.nodes,
                "solve_s": times.running_s,
                "streamed_bytes": outcome.streamed_bytes,
                "value_confirmed_by": self.confirmed_by,
            }
            | ({} if self.peer is None else {"peers": [self.peer._asdict()]})
            | self.profile,
        }


def items_shown(advance: Advance, row: int) -> Callable[[int, int], None]:
    """What tells a bar of items how many are done, and how fast the ``row`` cells of each come."""
    began = time.perf_counter()
    told = 0

    def report(done: int, items: int) -> None:
        nonlocal told
        advance(max(0, done - told), f"{rate(done * row, time.perf_counter() - began):,.0f} cells/s")
        told = max(told, done)

    return report


def nodes_shown(advance: Advance) -> Callable[[int, int], None]:
    """What tells a bar of nodes how fast they come, and the incumbent."""
    began = time.perf_counter()
    told = 0

    def report(nodes: int, incumbent: int) -> None:
        nonlocal told
        advance(nodes - told, f"{rate(nodes, time.perf_counter() - began):,.0f} nodes/s, incumbent {incumbent}")
        told = nodes

    return report


def rate(units: int, seconds: float) -> float:
    """Units per second; 0 where the clock saw no time pass."""
    return units / seconds if seconds > 0 else 0.0


if __name__ == "__main__":
    sys.exit(run_driver(main))
