"""Iterative hill climbing for the TSP: 2-opt climbs from random tours, on any backend and over any number of ranks.

python -m drivers.ihc                                       a first run, in seconds
python -m drivers.ihc --instance kroA100 --climbers 100000  the experiment of the paper
mpirun -n 64 python -m drivers.ihc --instance kroA100       the same work shared by 64 ranks
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from drivers.options import add_common_options, agreed_ranks, positive, run_driver
from drivers.repetitions import Repetitions, Times, chosen_device, prepared
from drivers.tour_files import add_tour_options, save_tour


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    from cluster.command_line import RankParser

    parser = RankParser(
        prog="python -m drivers.ihc", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_options(parser)
    group = parser.add_argument_group("hill climbing")
    group.add_argument(
        "--climbers", type=positive, default=2000, metavar="C", help="climbs over all ranks (%(default)s)"
    )
    group.add_argument(
        "--start",
        choices=("oneil2011", "philox"),
        default="oneil2011",
        help="random start tours: the paper's generator (at most 2^31 climbers, no seed), or counter-based from --seed",
    )
    group.add_argument(
        "--scan",
        choices=("auto", "pruned", "full"),
        default="auto",
        help="evaluate every move of a step (full), or leave out those that cannot win (pruned); same trajectory",
    )
    add_tour_options(group)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)

    ranks = agreed_ranks("python -m drivers.ihc", options)
    instance, reason = ranks.bcast(find_instance(options) if ranks.rank == 0 else None)
    climbing = prepared(ranks, lambda known: build(options, ranks, instance, known), leads=ranks.local_rank == 0)
    try:
        Climbs(options, ranks, instance, reason, climbing).repeat()
    finally:
        climbing.backend.close()
    return 0


def find_instance(options: argparse.Namespace) -> tuple[Any, str]:
    """The instance, and in words where it came from."""
    from core.problems import tsp

    if options.instance is not None:
        instance = tsp.load(options.instance, options.data)
        return instance, instance.source
    from core.problems.sources import default_instance

    spec, reason = default_instance(options.data)
    return tsp.load(spec, options.data), reason


def build(options: argparse.Namespace, ranks: Any, instance: Any, known: dict[str, str]) -> Any:
    """The search on the device that the options name, compiled and warm."""
    from core.search.ihc import HillClimbing

    backend = chosen_device(options, ranks)
    backend.known = dict(known)
    scan, start, seed = options.scan, options.start, options.seed
    climbing = HillClimbing(backend, ranks, instance.distances, start=start, seed=seed, scan=scan)
    climbing.warm_up()
    return climbing


class Climbs(Repetitions):
    """Repetitions of all climbs."""

    workload = "ihc"
    hash_covers = "climbs"
    doing = "climbing"

    def __init__(self, options: argparse.Namespace, ranks: Any, instance: Any, reason: str, climbing: Any) -> None:
        super().__init__(options, ranks, instance, climbing)
        self.reason = reason
        self.checked: tuple[Any, bool] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {"climbers": self.options.climbers, "start": self.options.start}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`; a scan is the one that runs, since ``auto`` is another on another device."""
        return {"scan": self.search.scan.name}

    @property
    def units(self) -> int:
        """Climbs of this rank."""
        return self.options.climbers // self.ranks.size

    def run(self, advance: Callable[[int], None] | None) -> Any:
        """Make all climbs."""
        return self.search.run(self.options.climbers, advance)

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Climb to the best tour again by its number, and score it; of equal outcomes only the first."""
        if self.checked is not None and self.checked[0][:2] == outcome[:2]:
            return None, self.checked[1]
        tour = self.search.tour_of(outcome.climber)
        self.checked = (outcome, self.instance.tour_length(tour) == outcome.length)
        return tour, self.checked[1]

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        optimum = self.instance.optimum
        gap = f" ({100 * (outcome.length / optimum - 1):.2f} % above the optimum {optimum})" if optimum else ""
        rate = outcome.evaluations / times.kernel_s / 1e9 if times.kernel_s else 0.0
        print(
            f"{self.instance.name}: length {outcome.length}{gap} by climber {outcome.climber}, "
            f"{outcome.steps / self.options.climbers:.2f} steps a climb, {times.running_s:.3f} s "
            f"(compile {times.compile_s:.3f}, transfer {times.transfer_s:.3f}, kernel {times.kernel_s:.3f}), "
            f"{rate:.3f} G evaluations/s, {self.hashed(outcome.digest)}, "
            + ("confirmed by the scorer" if scored else "NOT CONFIRMED by the scorer"),
            flush=True,
        )
        for note in self.search.notes:
            print(f"note: {note}", file=sys.stderr)

    def save(self, tour: Any) -> None:
        """The best tour as --tour and --svg say."""
        save_tour(self.options, self.instance, tour, "drivers.ihc")

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`."""
        return {
            "best_cost": outcome.length,
            "best_index": outcome.climber,
            "evaluations": outcome.evaluations,
            "trajectory_hash": f"{outcome.digest:016x}",
            "details": {
                "cities": self.instance.n,
                "optimum": self.instance.optimum,
                "instance_source": self.reason,
                "evaluations_per_step": self.search.scan.counted,
                "steps_per_climb": outcome.steps / self.options.climbers,
            },
        }


if __name__ == "__main__":
    sys.exit(run_driver(main))
