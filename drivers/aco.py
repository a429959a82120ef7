"""Ant colony optimisation for the TSP (`menezes2019`), on any backend and over any number of ranks.

python -m drivers.aco                                              a first run of some seconds: Ant System
python -m drivers.aco --variant mmas --candidates 32 --local-search 2opt-near      good tours
python -m drivers.aco --instance pcb442 --ants 4096 --seconds 20 --plot history.svg   a time limit and a plot
python -m drivers.aco --instance pcb442 --strategy fine --mapping published        the paper's GPU mapping
mpirun -n 4 python -m drivers.aco --instance pcb442                the same ants on 4 ranks
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from core.ant_colony import LOCAL_SEARCHES, STRATEGIES, VARIANTS, Settings
from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import Options, StopOptions
from drivers.options.output_files import OutputFile
from drivers.runs.workload_main import driver
from drivers.workload import tours
from drivers.workload.declaration import (
    PreparedRun,
    RepetitionResult,
    Task,
    describe_gap,
    describe_time_limit,
)
from drivers.workload.history import improvement_points, keeps_history, refuse_clocked_records
from drivers.workload.run_time import RepetitionWork

ITERATIONS = 100
"""Iterations of a search without a stop criterion."""

NEEDS: tuple[tuple[tuple[str, ...], Callable[[Settings], bool], str], ...] = (
    (
        ("best_every", "stagnation", "smoothing", "exchange"),
        lambda settings: settings.variant == "mmas",
        "--variant mmas",
    ),
    (("smoothing",), lambda settings: settings.stagnation > 0, "--stagnation of at least 1"),
    (("exchange",), lambda settings: settings.colonies > 1, "--colonies of at least 2"),
)
"""Options that need others to have an effect, their condition, and its text."""


@dataclass(frozen=True)
class AntOptions(
    Options,
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

    drop: tuple[str, ...] = ()
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
    tour: OutputFile | None = None
    svg: OutputFile | None = None
    history: bool = False
    curve: OutputFile | None = None
    plot: OutputFile | None = None

    def settled(self) -> AntOptions:
        """Return these options with defaults filled in. Refuse options without effect and invalid stop criteria."""
        unlimited = self.iterations is None and self.seconds is None
        settled = replace(self, ants=self.settings().ants, iterations=ITERATIONS if unlimited else self.iterations)
        settled.chosen_stop().check()
        return settled

    def settings(self) -> Settings:
        chosen = {name: getattr(self, name) for name in Settings._fields if getattr(self, name) is not None}
        settings = Settings(**chosen)
        for names, holds, needed in NEEDS:
            for name in names:
                if name in chosen and not holds(settings):
                    raise UserError(f"--{name.replace('_', '-')} changes nothing here: expected with {needed}")
        return settings


NAMES = {"as": "Ant System", "mmas": "Max-Min Ant System"}
CLIMBS = {
    "none": "",
    "2opt": ", 2-opt after every tour",
    "2opt-near": ", 2-opt by neighbour lists after every tour",
    "3opt": ", 3-opt by neighbour lists after every tour",
}


def describe_stop(options: AntOptions) -> str:
    limits = (("iterations", "{} iterations"), ("seconds", "{:g} s"), ("target", "until length {}"))
    limited = ((getattr(options, name), words) for name, words in limits)
    return ", ".join(words.format(limit) for limit, words in limited if limit is not None)


class AntColonyWorkload(tours.TourWorkload[AntOptions]):
    """Ants, of which the shortest tour counts."""

    name = "aco"
    title = "ant colony optimisation for the TSP"
    options = AntOptions
    unit = "selections"
    hash_scope = "tours"
    doing = "touring"
    standard = ("--ants", "256", "--iterations", "400")
    in_overview = ("--ants", "256", "--iterations", "2500")
    scaled = "ants"

    def load(self, options: AntOptions, ranks: int) -> Task:
        settled = options.settled()
        if settled.seconds is not None:
            refuse_clocked_records(settled, "another limit")
        task = tours.available_instance(settled)
        tours.refuse_blank_drawing(options, task.problem)
        # Before the distances are computed, which takes a minute for 46,000 cities.
        settled.settings().check(task.problem.n)
        return task

    def search(self, backend: Any, ranks: Any, problem: Any, options: AntOptions) -> Any:
        """Return the colony, compiled and warmed up alone; it synchronises with other ranks when it runs."""
        from cluster.mpi.proxies import Rehearsal
        from core.ant_colony import AntColony

        colony = AntColony(
            backend,
            Rehearsal(ranks),
            problem.distances,
            options.settings(),
            strategy=options.strategy,
            mapping=options.mapping,
            seed=options.seed,
        )
        colony.warm_up()
        return colony

    def once(self, run: PreparedRun[AntOptions], callback: Any) -> Any:
        stop, history = run.options.chosen_stop(), keeps_history(run.options)
        return run.searched(callback, stop, history=history)

    def parts(self, run: PreparedRun[AntOptions]) -> tuple[int, str]:
        settings = run.options.settings()
        return (settings.colonies, "colonies") if settings.colonies > 1 else (settings.ants, "ants")

    def planned_work(self, options: AntOptions, problem: Any) -> RepetitionWork | None:
        """Estimate the cities that ants compare in their steps, without climbs; None for a time limit."""
        n, settings = problem.n, options.settings()
        if options.iterations is None or options.seconds is not None:
            return None
        ants = settings.colonies * settings.ants * options.iterations
        return RepetitionWork(
            ants * n * (settings.candidates or -(-n // 2)), self.unit, 8e8, at_most=options.target is not None
        )

    def parameters(self, run: PreparedRun[AntOptions]) -> dict[str, Any]:
        limits = {name: getattr(run.options, name) for name in ("seconds", "target")}
        return {**run.options.settings()._asdict(), **{name: one for name, one in limits.items() if one is not None}}

    def headline(self, run: PreparedRun[AntOptions]) -> str:
        settings, colony = run.options.settings(), run.search
        ants = f"{settings.colonies} colonies of {settings.ants}" if settings.colonies > 1 else f"{settings.ants}"
        choice = f", {settings.candidates} candidates" if settings.candidates else ""
        lanes = colony.team_size // colony.ants_per_team
        mapping = " as published" if run.options.mapping == "published" else ""
        return (
            f"{run.problem.name}: {NAMES[settings.variant]}, {ants} ants{choice}{CLIMBS[settings.local_search]}, "
            f"{describe_stop(run.options)}, {run.options.strategy}{mapping} (lanes per ant: {lanes}), on {run.place}"
        )

    def result(self, run: PreparedRun[AntOptions], outcome: Any) -> RepetitionResult:
        colony = run.search
        of_colony = f" of colony {outcome.colony}" if run.options.settings().colonies > 1 else ""
        length = f"length {outcome.length}{describe_gap(outcome.length, run.problem.optimum)}"
        return RepetitionResult(
            outcome,
            f"{length} by ant {outcome.ant}{of_colony} in iteration {outcome.iteration}{describe_time_limit(outcome)}",
            index=outcome.ant,
            details={
                **tours.instance_details(run.problem),
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

    def fitted(self, instance: Any) -> tuple[str, ...]:
        """Return options for about a second of one core's work: an ant's tour takes n^2 steps."""
        return ("--ants", "256", "--iterations", str(max(1, 400 * 100**2 // instance.n**2)))


ACO = AntColonyWorkload()
main = driver(ACO, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
