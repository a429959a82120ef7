"""Contests of local search: the experiments of `luong2013` on a GPU, and one core against many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from drivers.bench.contests import Contest, Contestant, Field, Finding, Prepared, Subject
from drivers.bench.devices import Place, one_core, one_core_first


class Experiment(NamedTuple):
    """A tabu search to time.

    ``neighbours`` are those of a solution, ``speed`` how many a second one core evaluates, and ``published_s`` is the
    paper's figure on a Tesla M2050 for 10,000 iterations.
    """

    workload: str
    instance: str
    neighbourhood: str
    iterations: int
    neighbours: int
    speed: float
    level: str = "iteration"
    published_s: float | None = None


ON_GPU = (
    Experiment("ppp", "73-73", "flip2", 10_000, 2_628, 2.4e7, published_s=0.2),
    Experiment("ppp", "1301-1317", "flip2", 10_000, 866_586, 3e6, published_s=342),
    Experiment("qap", "tai100a", "exchange2", 10_000, 4_950, 5e8, published_s=2.6),
    Experiment("tsp", "rl5915", "exchange2", 10_000, 17_490_655, 1e8, published_s=828),
    Experiment("weierstrass", "100", "crowns", 1_000, 10_000, 4e4, "solution"),
)
ON_ONE_CORE = (
    Experiment("qap", "tai30a", "exchange2", 20_000, 435, 2.4e8),
    Experiment("qap", "tai60a", "exchange2", 10_000, 1_770, 3.7e8),
    Experiment("qap", "tai100a", "exchange2", 5_000, 4_950, 5.2e8),
    Experiment("weierstrass", "100", "crowns", 2, 10_000, 4e4),
)
SHARED_OUT = Experiment("ppp", "401-417", "flip2", 50, 86_736, 8e6)


def contests(field: Field) -> Iterator[Contest]:
    """All contests that this machine can hold."""
    one = one_core(field.cores)
    for experiment in ON_ONE_CORE if one else ():
        yield contest(field, experiment, one)
    if field.cores:
        yield contest(field, SHARED_OUT, *one_core_first(field.cores))
    for gpu in field.gpus:
        for experiment in ON_GPU:
            yield contest(field, experiment, gpu)


def contest(field: Field, experiment: Experiment, *devices: Place | None) -> Contest:
    """A contest between devices; where there is one, its title says which."""
    places = [place for place in devices if place is not None]
    return Contest(
        f"tabu search, {experiment.workload} {experiment.instance}, {experiment.neighbourhood}, "
        f"{experiment.iterations:,} iterations",
        tuple(Contestant(place.label, partial(searching, field, experiment), place) for place in places),
        "neighbours",
        float(experiment.iterations * experiment.neighbours),
        experiment.speed,
        f"{places[0].label} on {places[0].name}" if len(places) == 1 else "",
    )


def problem_of(experiment: Experiment, data: str | None, seed: int) -> Any:
    """The problem that an experiment searches."""
    if experiment.workload == "ppp":
        from core.problems.ppp import Ppp

        return Ppp.load(experiment.instance, data)
    if experiment.workload == "qap":
        from core.problems.qap import Qap

        return Qap.load(experiment.instance, data)
    if experiment.workload == "tsp":
        from core.problems.tsp_moves import TspTour

        return TspTour.load(experiment.instance, data)
    from core.problems.weierstrass import Weierstrass

    return Weierstrass.load(experiment.instance, data, points=experiment.neighbours, dtype="float32", seed=seed)


def searching(field: Field, experiment: Experiment, backend: Any) -> Prepared:
    """A search on a backend, end to end."""
    from cluster import Solo
    from core.search.local_search import Iterations, LocalSearch, TabuSearch

    seed = field.options.seed
    problem = problem_of(experiment, field.options.data, seed)
    search = LocalSearch(
        backend, Solo(), problem, TabuSearch(), experiment.neighbourhood, level=experiment.level, seed=seed
    )
    search.warm_up()

    def read(outcome: Any) -> Finding:
        digest = f"{outcome.digest:016x}"
        result = {
            "seed": seed,
            "best_cost": outcome.cost,
            "best_index": outcome.walk,
            "evaluations": outcome.evaluations,
            "trajectory_hash": digest,
            "details": {
                "size": problem.encoding.n,
                "optimum": problem.optimum,
                "instance_source": problem.instance.source,
                "evaluations_per_step": "the neighbours that a sequential search looks at",
                "iterations": outcome.iterations,
                "found_at": outcome.found_at,
            },
        }
        confirmed = abs(problem.cost(outcome.solution) - outcome.cost) <= problem.tolerance()
        return Finding(outcome.evaluations, {"cost": outcome.cost, "hash": digest}, confirmed, result)

    return Prepared(
        lambda repetition: search.run(Iterations(experiment.iterations)),
        read,
        lambda outcomes, median: beside(experiment, median),
        Subject(experiment.workload, problem, parameters(experiment, search), ways(experiment, search), "moves"),
    )


def parameters(experiment: Experiment, search: Any) -> dict[str, Any]:
    """What decides the work, as the drivers record it."""
    own = {"points": experiment.neighbours, "dtype": "float32"} if experiment.workload == "weierstrass" else {}
    return {**search.parameters, "iterations": experiment.iterations, **own}


def ways(experiment: Experiment, search: Any) -> dict[str, Any]:
    """What decides the speed alone, as the drivers record it."""
    own = {"layout": None} if experiment.workload == "ppp" else {}
    return {**search.ways, "shape": "fixed", **own}


def beside(experiment: Experiment, median: float) -> str:
    """Iterations a second, and the paper's figure where there is one."""
    published = f", paper {experiment.published_s} s" if experiment.published_s else ""
    return f"{experiment.iterations / max(median, 1e-9):,.0f} iterations/s{published}"
