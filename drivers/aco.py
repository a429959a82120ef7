"""Ant colony optimisation for the TSP (`menezes2019`), on any backend and over any number of ranks.

onekernel aco                                              a first run of some seconds: Ant System
onekernel aco --variant mmas --candidates 32 --local-search 2opt-near      good tours
onekernel aco --instance pcb442 --ants 4096 --seconds 20 --plot history.svg   a time limit and a plot
onekernel aco --instance pcb442 --strategy fine --mapping published        the paper's GPU mapping
mpirun -n 4 onekernel aco --instance pcb442                the same ants on 4 ranks
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.ant_colony import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings
from drivers.options.declaration import StopOptions
from drivers.options.tours import TourOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload import tours
from drivers.workload.declaration import RepetitionResult, Task, describe_gap, describe_time_limit
from drivers.workload.history import improvement_points, refuse_clocked_records
from drivers.workload.run_time import WorkUnit

if TYPE_CHECKING:
    from core.ant_colony import AntColony, ColonyOutcome
    from core.run.stop import Stop
    from core.tours import TspInstance
    from drivers.workload.declaration import PreparedRun, SearchPlace

    AntRun = PreparedRun["AntOptions", TspInstance, AntColony]

ITERATIONS = 100
"""Iterations of a search without a stop criterion."""

CRITERIA = {"iterations": "{} iterations", "seconds": "{:g} s", "target": "until length {}"}
"""Stop criteria, and their text in a headline."""


@dataclass(frozen=True)
class AntOptions(
    TourOptions,
    StopOptions,
    table="ant_colony",
    usual=Settings(),
    most_iterations=ITERATIONS,
    local_searches=LOCAL_SEARCHES,
    strategies=STRATEGIES,
    variants=VARIANTS,
    takes="TspTour",
):
    """Options of ant colony optimisation; an option of `Settings` is None unless given."""

    ants: int | None = None
    alpha: float | None = None
    beta: float | None = None
    candidates: int | None = None
    local_search: str | None = None
    strategy: str = STRATEGIES[-1]
    mapping: str = "native"
    rho: float | None = None
    variant: str | None = None
    best_every: int | None = None
    stagnation: int | None = None
    smoothing: float | None = None
    colonies: int | None = None
    exchange: int | None = None
    profile: bool = False

    def settled(self) -> AntOptions:
        """Return these options with defaults filled in. Refuse options without effect and invalid stop criteria."""
        unlimited = self.iterations is None and self.seconds is None
        settled = replace(self, ants=self.settings().ants, iterations=ITERATIONS if unlimited else self.iterations)
        settled.chosen_stop().check()
        return settled

    def settings(self) -> Settings:
        chosen = {name: value for name in Settings._fields if (value := getattr(self, name)) is not None}
        settings = Settings(**chosen)
        of_mmas = "best_every", "stagnation", "smoothing", "exchange"
        self.refuse_without(settings.variant == "mmas", "--variant mmas", *of_mmas)
        self.refuse_without(settings.stagnation > 0, "--stagnation of at least 1", "smoothing")
        self.refuse_without(settings.colonies > 1, "--colonies of at least 2", "exchange")
        return settings


NAMES = {"as": "Ant System", "mmas": "Max-Min Ant System"}
CLIMBS = {
    "none": "",
    "2opt": ", 2-opt after every tour",
    "2opt-near": ", 2-opt by neighbour lists after every tour",
    "3opt": ", 3-opt by neighbour lists after every tour",
}


class AntColonyWorkload(tours.TourWorkload[AntOptions, "AntColony", "ColonyOutcome"]):
    """Ants, of which the shortest tour counts."""

    name = "aco"
    title = "ant colony optimisation for the TSP"
    options = AntOptions
    unit = "selections"
    hash_scope = "tours"
    doing = "touring"
    standard = ("--ants", "256", "--iterations", "400")
    best_core = tours.THREE_OPT_TO_COST
    scaled = "ants"
    profiled = ("seconds",)

    def load(self, options: AntOptions, ranks: int) -> Task[AntOptions, TspInstance]:
        settled = options.settled()
        if settled.seconds is not None:
            refuse_clocked_records(settled, "another limit")
        task = Task(settled, *tours.available_instance(settled))
        # Before the distances are computed, which takes a minute for 46,000 cities.
        settled.settings().check(task.problem.n)
        return task

    def make_search(self, place: SearchPlace, problem: TspInstance, options: AntOptions) -> AntColony:
        from core.ant_colony import AntColony

        return AntColony(
            *place,
            problem.distances,
            options.settings(),
            strategy=options.strategy,
            mapping=options.mapping,
            seed=options.seed,
        )

    def stop(self, options: AntOptions) -> Stop:
        return options.chosen_stop()

    def parts(self, run: AntRun) -> tuple[int, str]:
        settings = run.options.settings()
        return (settings.colonies, "colonies") if settings.colonies > 1 else (settings.ants, "ants")

    def core_seconds(self, options: AntOptions, problem: TspInstance) -> float | None:
        """Return the time of the cities that ants compare in their steps, without climbs; None for a time limit."""
        n, settings = problem.n, options.settings()
        if options.iterations is None or options.seconds is not None:
            return None
        ants = settings.colonies * settings.ants * options.iterations
        return ants * n * (settings.candidates or -(-n // 2)) / 8e8

    def work_unit(self, options: AntOptions, problem: TspInstance) -> WorkUnit:
        """Return ants' tours; whole runs with climbs, which become shorter from iteration to iteration."""
        settings = options.settings()
        if options.iterations is None or options.target is not None:
            return WorkUnit()
        tours = settings.ants * settings.colonies
        if settings.local_search != "none":
            return WorkUnit("tours", each=tours * options.iterations)
        return WorkUnit("tours", options.iterations, tours, "iterations")

    def parameters(self, run: AntRun) -> dict[str, object]:
        limits = {"seconds": run.options.seconds, "target": run.options.target}
        return {**run.options.settings()._asdict(), **{name: one for name, one in limits.items() if one is not None}}

    def headline(self, run: AntRun) -> str:
        settings, colony = run.options.settings(), run.search
        ants = f"{settings.colonies} colonies of {settings.ants}" if settings.colonies > 1 else f"{settings.ants}"
        choice = f", {settings.candidates} candidates" if settings.candidates else ""
        lanes = colony.team_size // colony.ants_per_team
        mapping = " as published" if run.options.mapping == "published" else ""
        limits = ((getattr(run.options, name), text) for name, text in CRITERIA.items())
        stop = ", ".join(text.format(limit) for limit, text in limits if limit is not None)
        return (
            f"{run.problem.name}: {NAMES[settings.variant]}, {ants} ants{choice}{CLIMBS[settings.local_search]}, "
            f"{stop}, {run.options.strategy}{mapping} (lanes per ant: {lanes}), on {run.place}"
        )

    def result(self, run: AntRun, outcome: ColonyOutcome) -> RepetitionResult:
        colony = run.search
        of_colony = f" of colony {outcome.colony}" if run.options.settings().colonies > 1 else ""
        length = f"length {outcome.length}{describe_gap(outcome.length, run.problem.optimum)}"
        ended = describe_time_limit(outcome.by_time)
        return RepetitionResult(
            outcome,
            f"{length} by ant {outcome.ant}{of_colony} in iteration {outcome.iteration}{ended}",
            index=outcome.ant,
            details={
                "cities": run.problem.n,
                "evaluation_definition": "cities that an ant weighs before it chooses one",
                "best_colony": outcome.colony,
                "best_iteration": outcome.iteration,
                "improvements": improvement_points(outcome.curve.tolist()),
                "lanes_per_ant": colony.team_size // colony.ants_per_team,
                "ants_per_team": colony.ants_per_team,
                "team_size": colony.team_size,
                "device_bytes": colony.bytes_needed,
            },
        )

    def fitted(self, instance: TspInstance) -> tuple[str, ...]:
        """Return options for about a second of one core's work: an ant's tour takes n^2 steps."""
        return ("--ants", "256", "--iterations", str(max(1, 400 * 100**2 // instance.n**2)))


ACO = AntColonyWorkload()
main = driver(ACO, __doc__)

if __name__ == "__main__":
    exit_with(main)
