"""Iterative hill climbing for the TSP: 2-opt climbs from random tours, on any backend and over any number of ranks.

onekernel ihc                                       a first run of some seconds
onekernel ihc --instance kroA100 --climbers 100000  the paper's experiment
mpirun -n 64 onekernel ihc --instance kroA100       the same climbs on 64 ranks
onekernel ihc --mapping published                   the paper's mapping: one climber per lane
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.options.tours import TourOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload import tours
from drivers.workload.declaration import RepetitionResult, Task, describe_gap
from drivers.workload.run_time import WorkUnit

if TYPE_CHECKING:
    from core.hill_climbing.outcome import HillClimbOutcome
    from core.hill_climbing.search import HillClimbing
    from core.run.stop import Stop
    from core.tours import TspInstance
    from drivers.workload.declaration import PreparedRun, SearchPlace

    ClimbRun = PreparedRun["ClimbOptions", TspInstance, HillClimbing]

MOVES = 10**9
"""Moves of a comparison's repetition, including pruned ones: about a second on one core."""


@dataclass(frozen=True)
class ClimbOptions(TourOptions, table="hill_climbing", takes="TspTour"):
    """Options of hill climbing."""

    climbers: int = 2000
    start: str = "oneil2011"
    scan: str = "auto"
    mapping: str = "native"
    assign: str | None = None


class HillClimbingWorkload(tours.TourWorkload[ClimbOptions, "HillClimbing", "HillClimbOutcome"]):
    """Climbs from random tours, of which the shortest tour counts."""

    name = "ihc"
    title = "hill climbing for the TSP: 2-opt climbs from random tours"
    options = ClimbOptions
    unit = "moves"
    hash_scope = "climbs"
    doing = "climbing"
    standard = ("--climbers", "2000")
    best_core = tours.THREE_OPT_TO_COST
    scaled = "climbers"

    def load(self, options: ClimbOptions, ranks: int) -> Task[ClimbOptions, TspInstance]:
        options.refuse_without(options.mapping == "published", "--mapping published", "assign")
        if options.scan == "pruned" and options.mapping == "published":
            raise UserError("--scan pruned with --mapping published, which evaluates every move: expected --scan full")
        if (options.seeds or options.seed) and options.start == "oneil2011":
            seed = "--seeds" if options.seeds else "--seed"
            raise UserError(f"{seed} changes nothing here: the paper's start tours have none; expected --start philox")
        return Task(options, *tours.available_instance(options))

    def make_search(self, place: SearchPlace, problem: TspInstance, options: ClimbOptions) -> HillClimbing:
        from core.hill_climbing.search import HillClimbing

        return HillClimbing(
            *place,
            problem.distances,
            start=options.start,
            seed=options.seed,
            scan=options.scan,
            published=(options.assign or "auto") if options.mapping == "published" else None,
            name=problem.name,
        )

    def stop(self, options: ClimbOptions) -> Stop:
        from core.run.stop import Iterations

        return Iterations(options.climbers)

    def run_settings(self, options: ClimbOptions) -> dict[str, object]:
        """Return the settings of climbs without tours: `result` repeats the best climb after the clock has stopped."""
        return {**super().run_settings(options), "trace": False}

    def core_seconds(self, options: ClimbOptions, problem: TspInstance) -> float:
        """Return the time of the moves: a climb takes about n steps, each over all pairs of edges."""
        n = problem.n
        return options.climbers * n * (n * (n - 1) // 2) / 1e9

    def work_unit(self, options: ClimbOptions, problem: TspInstance) -> WorkUnit:
        return WorkUnit("climbs", options.climbers, option="climbers")

    def result(self, run: ClimbRun, outcome: HillClimbOutcome) -> RepetitionResult:
        """Return the shortest tour of all climbs, by a repetition of its climb."""
        steps, (fewest, most) = outcome.steps / outcome.climbs, outcome.steps_of_a_climb
        length = f"length {outcome.length}{describe_gap(outcome.length, run.problem.optimum)}"
        return RepetitionResult(
            replace(outcome, tour=run.once(outcome.climber, lambda: run.search.tour_of(outcome.climber))),
            f"{length} by climber {outcome.climber}, {steps:.2f} steps a climb ({fewest} to {most})",
            index=outcome.climber,
            details={
                "cities": run.problem.n,
                "evaluation_definition": run.search.scan.counted,
                "steps_per_climb": steps,
                "fewest_steps": fewest,
                "most_steps": most,
            },
        )

    def fitted(self, instance: TspInstance) -> tuple[str, ...]:
        """Return options for about a second on one core: a climb takes about n steps of (n - 1)(n - 2) / 2 moves."""
        climbers = MOVES // max(1, instance.n * (instance.n - 1) * (instance.n - 2) // 2)
        return ("--climbers", str(min(100_000, max(16, int(float(f"{climbers:.0e}"))))))

    def execution(self, run: ClimbRun) -> Mapping[str, object]:
        """Return the execution settings; automatic ones differ between devices."""
        return run.search.scan.execution


IHC = HillClimbingWorkload()
main = driver(IHC, __doc__)

if __name__ == "__main__":
    exit_with(main)
