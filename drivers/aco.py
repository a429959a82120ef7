"""Ant colony optimisation for the TSP (`menezes2019`), on any backend and over any number of ranks.

python -m drivers.aco                                              a first run, in seconds: Ant System
python -m drivers.aco --variant mmas --candidates 32 --local-search 2opt-near      good tours
python -m drivers.aco --instance pcb442 --ants 4096 --strategy coarse --curve curve.csv
mpirun -n 4 python -m drivers.aco --instance pcb442                the same ants shared by 4 ranks
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from drivers.ihc import find_instance
from drivers.options import add_common_options, agreed_ranks, natural, number, positive, run_driver
from drivers.repetitions import Repetitions, Times, chosen_device, prepared
from drivers.tour_files import add_tour_options, save_tour

if TYPE_CHECKING:
    from core.search.ant_colony import Settings
    from drivers.progress import Advance

ITERATIONS = 100
CURVE_POINTS = 200
"""Points of the convergence curve that a record keeps; `--curve` writes all."""

NAMES = {"as": "Ant System", "mmas": "Max-Min Ant System"}
CLIMBS = {
    "none": "",
    "2opt": ", 2-opt after every tour",
    "2opt-near": ", 2-opt by neighbour lists after every tour",
}

NEEDS: tuple[tuple[tuple[str, ...], Callable[[Settings], bool], str], ...] = (
    (
        ("best_every", "stagnation", "smoothing", "exchange"),
        lambda settings: settings.variant == "mmas",
        "--variant mmas",
    ),
    (("smoothing",), lambda settings: settings.stagnation > 0, "--stagnation of at least 1"),
    (("exchange",), lambda settings: settings.colonies > 1, "--colonies of at least 2"),
)
"""Options that change nothing alone, when they do change something, and that in words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks("python -m drivers.aco", options)
    work: Any = settled(options) if ranks.rank == 0 else None
    settings, instance, source = ranks.bcast(work)
    gpus = gpus_here() if options.backend == "auto" else 0
    leads = ranks.local_rank in (0, gpus)
    colony = prepared(ranks, lambda known: build(options, ranks, instance, settings, gpus, known), leads)
    try:
        runs = Colonies(options, ranks, instance, source, settings, colony)
        if ranks.rank == 0:
            runs.show_colony()
        runs.repeat()
    finally:
        colony.backend.close()
    return 0


# --- from the command line to a colony ---


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; an option that decides the work and is not given is None."""
    from cluster.command_line import RankParser
    from core.search.ant_colony import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings

    usual = Settings()
    parser = RankParser(
        prog="python -m drivers.aco", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_options(parser, backend="auto")
    group = parser.add_argument_group("ants")
    group.add_argument("--ants", type=positive, metavar="M", help=f"of each colony ({usual.ants})")
    group.add_argument(
        "--iterations", type=positive, default=ITERATIONS, metavar="N", help="tours an ant (%(default)s)"
    )
    group.add_argument("--alpha", type=number, metavar="A", help=f"exponent of the pheromone ({usual.alpha:g})")
    group.add_argument("--beta", type=number, metavar="B", help=f"exponent of 1 / distance ({usual.beta:g})")
    group.add_argument(
        "--candidates",
        type=natural,
        metavar="K",
        help=f"choose among the K nearest cities while one of them is left, at most 32; 0: all ({usual.candidates})",
    )
    group.add_argument(
        "--local-search",
        choices=LOCAL_SEARCHES,
        help="climb from every tour to a local optimum: by the best of all 2-opt moves (2opt), or by neighbour lists, "
        f"many times faster (2opt-near) ({usual.local_search})",
    )
    group.add_argument(
        "--strategy",
        choices=STRATEGIES,
        default=STRATEGIES[-1],
        help="an ant is one lane (coarse) or a group of lanes (fine), which update the pheromone too (fine-deposit); "
        "same tours, other times (%(default)s)",
    )
    group = parser.add_argument_group("pheromone")
    group.add_argument("--rho", type=number, metavar="R", help=f"part that evaporates in an iteration ({usual.rho:g})")
    group.add_argument(
        "--variant",
        choices=VARIANTS,
        help="as: Ant System, all ants deposit; mmas: Max-Min Ant System, the best ant deposits, within limits "
        f"({usual.variant})",
    )
    group = parser.add_argument_group("Max-Min Ant System", "only with --variant mmas")
    group.add_argument(
        "--best-every",
        type=natural,
        metavar="N",
        help="every N iterations the best ant so far deposits, else the iteration's best; 0: always the latter "
        f"({usual.best_every})",
    )
    group.add_argument(
        "--stagnation",
        type=natural,
        metavar="N",
        help=f"smooth the pheromone after every N iterations without a better tour; 0: never ({usual.stagnation})",
    )
    group.add_argument(
        "--smoothing",
        type=number,
        metavar="D",
        help=f"with --stagnation: how far towards its upper limit, 0 to 1 ({usual.smoothing:g})",
    )
    group = parser.add_argument_group("several colonies")
    group.add_argument("--colonies", type=positive, metavar="C", help=f"each with its own pheromone ({usual.colonies})")
    group.add_argument(
        "--exchange",
        type=natural,
        metavar="N",
        help=f"with --colonies: every N iterations all colonies take over the best tour; 0: never ({usual.exchange})",
    )
    group = parser.add_argument_group("results")
    add_tour_options(group)
    group.add_argument("--curve", metavar="FILE", help="save the best lengths of all iterations as CSV")
    return parser.parse_args(argv)


def settled(options: argparse.Namespace) -> tuple[Settings, Any, str]:
    """What the colony works with, the instance, and in words where it came from.

    Raises
    ------
    UserError
        An option that would change nothing, or a file that cannot be written at the end; other mistakes are the
        instance's or the engine's to find.

    """
    from core.errors import UserError

    settings = chosen_settings(options)
    for name in ("tour", "svg", "curve"):
        path = getattr(options, name)
        if path is not None and not os.access(os.path.dirname(path) or ".", os.W_OK):
            raise UserError(f"--{name} {path}: cannot write there")
    instance, source = find_instance(options)
    if options.svg is not None and instance.display is None:
        raise UserError(f"--svg {options.svg}: {instance.name} has no coordinates to draw")
    return settings, instance, source


def chosen_settings(options: argparse.Namespace) -> Settings:
    """The settings, after a look at options that would change nothing."""
    from core.errors import UserError
    from core.search.ant_colony import Settings

    given = {name: getattr(options, name) for name in Settings._fields if getattr(options, name) is not None}
    settings = Settings(**given)
    for names, holds, needed in NEEDS:
        for name in names:
            if name in given and not holds(settings):
                raise UserError(f"--{name.replace('_', '-')} changes nothing here: expected with {needed}")
    return settings


def build(
    options: argparse.Namespace, ranks: Any, instance: Any, settings: Settings, gpus: int, known: dict[str, str]
) -> Any:
    """The colony on this rank's device, compiled and warm, without a word to other ranks."""
    from cluster.timed import Rehearsal, Timed
    from core.search.ant_colony import AntColony
    from drivers.automatic import automatic_device

    backend = automatic_device(options, ranks, gpus) if options.backend == "auto" else chosen_device(options, ranks)
    backend.known = dict(known)
    colony = AntColony(
        backend, Rehearsal(ranks), instance.distances, settings, strategy=options.strategy, seed=options.seed
    )
    colony.warm_up()
    colony.communicator = Timed(ranks)
    return colony


# --- running ---


class Colonies(Repetitions):
    """Repetitions of all iterations of all colonies."""

    workload = "aco"
    hash_covers = "tours"
    doing = "touring"

    def __init__(
        self, options: argparse.Namespace, ranks: Any, instance: Any, source: str, settings: Settings, colony: Any
    ) -> None:
        super().__init__(options, ranks, instance, colony)
        self.source = source
        self.settings = settings
        self.talking: list[float] = []
        self.tour: Any = None
        self.curve: Any = None

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {**self.settings._asdict(), "iterations": self.options.iterations}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {"strategy": self.options.strategy}

    @property
    def units(self) -> int:
        """Iterations of all colonies that this rank has."""
        colonies: int = len(self.search.colonies)
        return self.options.iterations * colonies

    def run(self, advance: Advance | None) -> Any:
        """Run all iterations, and find out which part of its time each rank spent in communication."""
        communicator = self.search.communicator
        communicator.reset()
        report = None if advance is None else best_shown(advance)
        began = time.perf_counter()
        outcome = self.search.run(self.options.iterations, report)
        self.tour = self.search.best_tour()
        self.curve = outcome.curve
        share = communicator.seconds / (time.perf_counter() - began) if self.ranks.size > 1 else 0.0
        self.talking = self.ranks.gather(share) or []
        return outcome

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the best tour from scratch."""
        return self.tour, self.instance.tour_length(self.tour) == outcome.length

    @property
    def talking_share(self) -> float:
        """Mean over ranks of the part of its time that a rank spent in communication, waiting included."""
        return sum(self.talking) / len(self.talking)

    @property
    def lanes_per_ant(self) -> int:
        """Lanes that construct one tour."""
        lanes: int = self.search.team_size // self.search.ants_per_team
        return lanes

    # --- results ---

    def show_colony(self) -> None:
        """One line on standard output: what runs, and on what."""
        settings, colony, ranks = self.settings, self.search, self.ranks
        ants = f"{settings.colonies} colonies of {settings.ants}" if settings.colonies > 1 else f"{settings.ants}"
        choice = f", {settings.candidates} candidates" if settings.candidates else ""
        climb = CLIMBS[settings.local_search]
        where = f"{colony.backend.name} ({colony.backend.device.name})"
        print(
            f"{self.instance.name}: {NAMES[settings.variant]}, {ants} ants{choice}{climb}, "
            f"{self.options.iterations} iterations, {self.options.strategy} (lanes per ant: {self.lanes_per_ant}), on "
            + (f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where),
            flush=True,
        )

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        colony = f" of colony {outcome.colony}" if self.settings.colonies > 1 else ""
        talking = f"; {100 * self.talking_share:.1f} % in communication" if self.ranks.size > 1 else ""
        print(
            f"{self.instance.name}: length {outcome.length}{self.gap(outcome.length)} by ant {outcome.ant}{colony} in "
            f"iteration {outcome.iteration}, {times.running_s:.3f} s (compile {times.compile_s:.3f}, "
            f"transfer {times.transfer_s:.3f}, kernel {times.kernel_s:.3f}{talking}), "
            f"{outcome.evaluations / times.running_s / 1e9:.3f} G selection evaluations/s, "
            f"{self.hashed(outcome.digest)}, "
            + ("confirmed by the scorer" if scored else "NOT CONFIRMED by the scorer"),
            flush=True,
        )
        for note in self.search.notes:
            print(f"note: {note}", file=sys.stderr)

    def gap(self, length: int) -> str:
        """How far a length is from the optimum, in brackets."""
        optimum = self.instance.optimum
        if not optimum:
            return ""
        return (
            " (the optimum)"
            if length == optimum
            else f" ({100 * (length / optimum - 1):.2f} % above the optimum {optimum})"
        )

    def save(self, tour: Any) -> None:
        """The best tour and the convergence curve as --tour, --svg and --curve say."""
        save_tour(self.options, self.instance, tour, "drivers.aco")
        if self.options.curve:
            with open(self.options.curve, "w", encoding="ascii") as file:
                file.write("iteration,best_of_iteration,best_so_far\n")
                best = self.curve[0]
                for iteration, length in enumerate(self.curve.tolist()):
                    best = min(best, length)
                    file.write(f"{iteration},{length},{best}\n")

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`."""
        colony = self.search
        return {
            "best_cost": outcome.length,
            "best_index": outcome.ant,
            "evaluations": outcome.evaluations,
            "trajectory_hash": f"{outcome.digest:016x}",
            "details": {
                "cities": self.instance.n,
                "optimum": self.instance.optimum,
                "instance_source": self.source,
                "colony": outcome.colony,
                "found_at": outcome.iteration,
                "evaluations_per_second": outcome.evaluations / times.running_s,
                "curve": improvements(outcome.curve.tolist()),
                "lanes_per_ant": self.lanes_per_ant,
                "ants_per_team": colony.ants_per_team,
                "team_size": colony.team_size,
                "communication_share": self.talking_share,
                "bytes_needed": colony.bytes_needed,
            },
        }


def best_shown(advance: Advance) -> Callable[[int, int], None]:
    """What tells a bar of finished iterations, and of the best of all lengths that it has heard of."""
    best = sys.maxsize

    def report(iterations: int, length: int) -> None:
        nonlocal best
        best = min(best, length)
        advance(iterations, f"best length {best}")

    return report


def improvements(curve: Sequence[int], most: int = CURVE_POINTS) -> list[list[int]]:
    """The points [iteration, best so far] where the best so far improves; of very many, so many evenly chosen.

    The first and the last point are always among them.
    """
    points: list[list[int]] = []
    for iteration, length in enumerate(curve):
        if not points or length < points[-1][1]:
            points.append([iteration, length])
    if len(points) <= most:
        return points
    return [points[i * (len(points) - 1) // (most - 1)] for i in range(most)]


if __name__ == "__main__":
    sys.exit(run_driver(main))
