"""Ant colony optimisation for the TSP (`menezes2019`), on any backend and over any number of ranks.

python -m drivers.aco                                              a first run, in seconds: Ant System
python -m drivers.aco --variant mmas --candidates 32 --local-search 2opt-near      good tours
python -m drivers.aco --instance pcb442 --ants 4096 --strategy coarse --curve curve.csv
python -m drivers.aco --instance pcb442 --strategy fine --mapping published        as the paper lays it on a GPU
mpirun -n 4 python -m drivers.aco --instance pcb442                the same ants shared by 4 ranks
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from drivers import tours
from drivers.ant_options import AntOptions
from drivers.ant_results import improvements, save_curve
from drivers.command import driver
from drivers.endings import run_driver
from drivers.forecast import Work
from drivers.workload import Opinion, Result, Run, Task, Workload, gap

NAMES = {"as": "Ant System", "mmas": "Max-Min Ant System"}
CLIMBS = {
    "none": "",
    "2opt": ", 2-opt after every tour",
    "2opt-near": ", 2-opt by neighbour lists after every tour",
}


def load(options: AntOptions, ranks: int) -> Task:
    """The instance, after a look at the settings."""
    task = tours.at_hand(replace(options, ants=options.settings().ants))
    tours.refuse_blank_drawing(options, task.problem)
    return task


def search(backend: Any, ranks: Any, problem: Any, options: AntOptions) -> Any:
    """The colony, compiled and warm: it warms up alone, and meets the other ranks when it runs."""
    from cluster.timed import Rehearsal
    from core.search.ant_colony import AntColony

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


def once(run: Run[AntOptions], advance: Any) -> Any:
    """Run all iterations; the outcome, and the best tour, which the ranks put together."""
    best = sys.maxsize

    def report(iterations: int, length: int) -> None:
        nonlocal best
        best = min(best, length)
        advance(iterations, f"best length {best}")

    told = None if advance is None else report
    outcome = run.search.run(run.options.iterations, told, history=run.options.history, ranks=run.ranks)
    return outcome, run.search.best_tour()


def work(run: Run[AntOptions]) -> Work:
    """Cities that an ant looks at in its steps; what climbs after it takes is not foretold."""
    n, settings = run.problem.n, run.options.settings()
    ants = settings.colonies * settings.ants * run.options.iterations
    return Work(ants * n * (settings.candidates or -(-n // 2)), "selections", 8e8)


def headline(run: Run[AntOptions]) -> str:
    """What runs, and on what."""
    settings, colony, ranks = run.options.settings(), run.search, run.ranks
    ants = f"{settings.colonies} colonies of {settings.ants}" if settings.colonies > 1 else f"{settings.ants}"
    choice = f", {settings.candidates} candidates" if settings.candidates else ""
    lanes = colony.team_size // colony.ants_per_team
    where = f"{colony.backend.name} ({colony.backend.device.name})"
    mapping = " as published" if run.options.mapping == "published" else ""
    return (
        f"{run.problem.name}: {NAMES[settings.variant]}, {ants} ants{choice}{CLIMBS[settings.local_search]}, "
        f"{run.options.iterations} iterations, {run.options.strategy}{mapping} (lanes per ant: {lanes}), on "
        + (f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where)
    )


def result(run: Run[AntOptions], found: Any) -> Result:
    """The best tour of all colonies."""
    (outcome, tour), colony = found, run.search
    of_colony = f" of colony {outcome.colony}" if run.options.settings().colonies > 1 else ""
    length = f"length {outcome.length}{gap(outcome.length, run.problem.optimum)}"
    return Result(
        outcome.length,
        outcome.evaluations,
        outcome.digest,
        f"{length} by ant {outcome.ant}{of_colony} in iteration {outcome.iteration}",
        (tour, outcome.curve),
        index=outcome.ant,
        details={
            **tours.about(run.problem),
            "evaluations_per_step": "cities that an ant weighs before it chooses one",
            "colony": outcome.colony,
            "found_at": outcome.iteration,
            "curve": improvements(outcome.curve.tolist()),
            "lanes_per_ant": colony.team_size // colony.ants_per_team,
            "ants_per_team": colony.ants_per_team,
            "team_size": colony.team_size,
            "bytes_needed": colony.bytes_needed,
        },
        history=outcome.history,
    )


def judges(run: Run[AntOptions], found: Any, result: Result) -> Iterator[Opinion]:
    """The scorer."""
    outcome, tour = found
    yield tours.scorer(run.problem, tour, outcome.length)


def save(run: Run[AntOptions], best: Any) -> None:
    """The best tour and the convergence curve."""
    tour, curve = best
    tours.save_tour(run.options, run.problem, tour, "drivers.aco")
    save_curve(run.options.curve, curve)


def fitted(instance: Any) -> tuple[str, ...]:
    """About a second of one core's work: an ant's tour takes the square of the number of cities."""
    return ("--ants", "256", "--iterations", str(max(1, 400 * 100**2 // instance.n**2)))


ACO = Workload(
    "aco",
    "ant colony optimisation for the TSP",
    AntOptions,
    unit="selections",
    hash_covers="tours",
    doing="touring",
    load=load,
    search=search,
    once=once,
    result=result,
    judges=judges,
    standard=("--ants", "256", "--iterations", "400"),
    fitted=fitted,
    scaled="ants",
    shorter=lambda run, iterations: replace(run.options, iterations=min(iterations, run.options.iterations)),
    steps=lambda run: run.options.iterations * len(run.search.colonies),
    work=work,
    parameters=lambda run: run.options.settings()._asdict(),
    headline=headline,
    save=save,
)
main = driver(ACO, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
