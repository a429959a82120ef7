"""Iterative hill climbing for the TSP: 2-opt climbs from random tours, on any backend and over any number of ranks.

python -m drivers.ihc                                       a first run, in seconds
python -m drivers.ihc --instance kroA100 --climbers 100000  the experiment of the paper
mpirun -n 64 python -m drivers.ihc --instance kroA100       the same work shared by 64 ranks
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from drivers.options import add_common_options, positive, run_driver

WORKLOAD = "ihc"


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
    group.add_argument("--tour", metavar="FILE", help="save the best tour as a TSPLIB .tour file")
    group.add_argument("--svg", metavar="FILE", help="draw the best tour")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    options = parse(argv)
    from cluster import communicator

    ranks = communicator()
    instance, reason = ranks.bcast(find_instance(options) if ranks.rank == 0 else None)
    climbing = prepared(options, ranks, instance)
    try:
        Run(options, ranks, instance, reason, climbing).repeat()
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


def prepared(options: argparse.Namespace, ranks: Any, instance: Any) -> Any:
    """The search on this rank's device, compiled and warm: the first rank compiles for all, others for their host."""
    climbing, known = None, {}
    if ranks.rank == 0:
        climbing = build(options, ranks, instance, known)
        known = climbing.backend.known
    known = ranks.bcast(known)
    if climbing is None and ranks.local_rank == 0:
        climbing = build(options, ranks, instance, known)
    ranks.barrier()
    return climbing or build(options, ranks, instance, known)


def build(options: argparse.Namespace, ranks: Any, instance: Any, known: dict[str, str]) -> Any:
    """The search on the device that the options name; of several, ranks of one host take turns."""
    import backends
    from core.search.ihc import HillClimbing

    device = options.device
    if ranks.size > 1 and options.backend in ("cuda", "opencl"):
        found = backends.backend_class(options.backend).devices()
        device = str((int(device) + ranks.local_rank) % len(found)) if device.isdigit() and found else device
    backend = backends.create(options.backend, device)
    backend.known = dict(known)
    scan, start, seed = options.scan, options.start, options.seed
    climbing = HillClimbing(backend, ranks, instance.distances, start=start, seed=seed, scan=scan)
    climbing.warm_up()
    return climbing


class Run:
    """The repetitions of one run: timed, checked by the scorer, recorded and shown."""

    def __init__(self, options: argparse.Namespace, ranks: Any, instance: Any, reason: str, climbing: Any) -> None:
        self.options = options
        self.ranks = ranks
        self.instance = instance
        self.reason = reason
        self.climbing = climbing
        self.checked: tuple[Any, bool] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """What decides the work."""
        return {"climbers": self.options.climbers, "start": self.options.start, "scan": self.options.scan}

    def repeat(self) -> None:
        """Make the repetitions that the record does not hold yet."""
        first = self.ranks.rank == 0
        identity, done = self.recorded() if first and self.options.record else ("", 0)
        done = self.ranks.bcast(done)
        if first and done:
            print(f"{done} of {self.options.repeats} repetitions are in {self.options.record} already")
        for _ in range(done, self.options.repeats):
            outcome, times = self.measure()
            tour, scored = self.check(outcome)
            if not first:
                continue
            self.show(outcome, times, scored)
            if self.options.record:
                self.append(outcome, times, scored)
            if self.checked is None:
                self.save(tour)
            self.checked = (outcome, scored)
        if first and identity:
            from reports.records import fold

            fold(self.options.record, identity)

    def measure(self) -> tuple[Any, tuple[float, ...]]:
        """One repetition: its outcome, and on rank 0 the slowest rank's seconds: compile, transfer, kernel, total."""
        from drivers.progress import progress

        timings = self.climbing.backend.timings
        self.ranks.barrier()
        compiled = timings.compile_s
        timings.transfer_s = timings.kernel_s = 0.0
        share = self.options.climbers // self.ranks.size
        with progress(share, "climbing", wanted=self.options.progress, rank=self.ranks.rank) as bar:
            began = time.perf_counter()
            shown = self.options.progress or (self.options.progress is None and sys.stderr.isatty())
            outcome = self.climbing.run(self.options.climbers, bar.advance if shown else None)
            total = time.perf_counter() - began + compiled
        spent = (compiled, timings.transfer_s, timings.kernel_s, total)
        timings.compile_s = 0.0
        every = self.ranks.gather(spent)
        return outcome, tuple(map(max, zip(*every, strict=True))) if every else spent

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """The best tour, climbed again by its number, and whether the NumPy scorer gives its length."""
        if self.ranks.rank != 0:
            return None, False
        if self.checked is not None and self.checked[0][:2] == outcome[:2]:
            return None, self.checked[1]
        tour = self.climbing.tour_of(outcome.climber)
        return tour, self.instance.tour_length(tour) == outcome.length

    def show(self, outcome: Any, times: tuple[float, ...], scored: bool) -> None:
        """One line on standard output."""
        optimum = self.instance.optimum
        gap = f" ({100 * (outcome.length / optimum - 1):.2f} % above the optimum {optimum})" if optimum else ""
        rate = outcome.evaluations / times[2] / 1e9 if times[2] else 0.0
        print(
            f"{self.instance.name}: length {outcome.length}{gap} by climber {outcome.climber}, "
            f"{outcome.steps / self.options.climbers:.2f} steps a climb, {times[3] - times[0]:.3f} s "
            f"(compile {times[0]:.3f}, transfer {times[1]:.3f}, kernel {times[2]:.3f}), "
            f"{rate:.3f} G evaluations/s, hash {outcome.digest:016x}, "
            + ("confirmed by the scorer" if scored else "NOT CONFIRMED by the scorer"),
            flush=True,
        )
        for note in self.climbing.notes:
            print(f"note: {note}", file=sys.stderr)

    def save(self, tour: Any) -> None:
        """Write the best tour where the user asked for it."""
        if self.options.tour:
            from core.problems import tours

            tours.write(self.options.tour, tour, name=self.instance.name, comment="found by onekernel, drivers.ihc")
        if self.options.svg:
            from core.errors import UserError
            from reports.tour_svg import draw_tour

            if self.instance.display is None:
                raise UserError(f"{self.instance.name} has no coordinates to draw")
            with open(self.options.svg, "w") as file:
                file.write(draw_tour(self.instance.display, tour, self.instance.name))

    # --- records ---

    def identified(self) -> dict[str, Any]:
        """What makes two repetitions belong to one run."""
        from reports.environment import environment

        return {
            "workload": WORKLOAD,
            "instance_sha256": self.instance.sha256,
            "parameters": self.parameters,
            "seed": self.options.seed,
            "backend": self.options.backend,
            "device": self.options.device,
            "ranks": self.ranks.size,
            "environment": environment(),
        }

    def recorded(self) -> tuple[str, int]:
        """This run's identity, and how many of its repetitions are in the file."""
        from reports.records import completed, identity

        run = identity(**self.identified())
        done = completed(self.options.record, run)
        return run, len(done.samples) if done else 0

    def append(self, outcome: Any, times: tuple[float, ...], scored: bool) -> None:
        """Add this repetition to the record."""
        from reports.records import Record, Sample, append

        backend = self.climbing.backend
        device = backend.device
        on_gpu = backend.name in ("cuda", "opencl") and backend.capabilities.lanes_resident > 1
        append(
            self.options.record,
            Record(
                **self.identified(),
                instance=self.instance.name,
                samples=(Sample(*times),),
                best_cost=outcome.length,
                best_index=outcome.climber,
                evaluations=outcome.evaluations,
                trajectory_hash=f"{outcome.digest:016x}",
                scored=scored,
                details={
                    "cities": self.instance.n,
                    "optimum": self.instance.optimum,
                    "instance_source": self.reason,
                    "evaluations_per_step": self.climbing.scan.counted,
                    "steps_per_climb": outcome.steps / self.options.climbers,
                    "device_name": device.name,
                    "driver": device.driver,
                    "device_type": "gpu" if on_gpu else "cpu",
                    "simulated": device.driver == "simulated",
                },
            ),
        )


if __name__ == "__main__":
    sys.exit(run_driver(main))
