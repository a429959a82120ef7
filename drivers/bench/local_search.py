"""Benchmark cases of local search: the experiments of `luong2013` on a GPU, and one core against many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from drivers.bench.cases import (
    BenchmarkCandidate,
    BenchmarkCase,
    BenchmarkContext,
    CandidateResult,
    PreparedCandidate,
    RecordSubject,
)
from drivers.bench.devices import BenchmarkDevice, one_core, one_core_first

if TYPE_CHECKING:
    from core.search.local_search.settings import Level


class TabuExperiment(NamedTuple):
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
    level: Level = "iteration"
    published_s: float | None = None


ON_GPU = (
    TabuExperiment("ppp", "73-73", "flip2", 10_000, 2_628, 2.4e7, published_s=0.2),
    TabuExperiment("ppp", "1301-1317", "flip2", 10_000, 866_586, 3e6, published_s=342),
    TabuExperiment("qap", "tai100a", "exchange2", 10_000, 4_950, 5e8, published_s=2.6),
    TabuExperiment("tsp", "rl5915", "exchange2", 10_000, 17_490_655, 1e8, published_s=828),
    TabuExperiment("weierstrass", "100", "crowns", 1_000, 10_000, 4e4, "solution"),
)
ON_ONE_CORE = (
    TabuExperiment("qap", "tai30a", "exchange2", 20_000, 435, 2.4e8),
    TabuExperiment("qap", "tai60a", "exchange2", 10_000, 1_770, 3.7e8),
    TabuExperiment("qap", "tai100a", "exchange2", 5_000, 4_950, 5.2e8),
    TabuExperiment("weierstrass", "100", "crowns", 2, 10_000, 4e4),
)
ALL_CORES_EXPERIMENT = TabuExperiment("ppp", "401-417", "flip2", 50, 86_736, 8e6)


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """All cases that this machine can hold."""
    one = one_core(field.cores)
    for experiment in ON_ONE_CORE if one else ():
        yield make_case(field, experiment, one)
    if field.cores:
        yield make_case(field, ALL_CORES_EXPERIMENT, *one_core_first(field.cores))
    for gpu in field.gpus:
        for experiment in ON_GPU:
            yield make_case(field, experiment, gpu)


def make_case(field: BenchmarkContext, experiment: TabuExperiment, *devices: BenchmarkDevice | None) -> BenchmarkCase:
    """A case between devices; where there is one, its title says which."""
    places = [place for place in devices if place is not None]
    return BenchmarkCase(
        f"tabu search, {experiment.workload} {experiment.instance}, {experiment.neighbourhood}, "
        f"{experiment.iterations:,} iterations",
        tuple(BenchmarkCandidate(place.label, partial(prepare_search, field, experiment), place) for place in places),
        "neighbours",
        float(experiment.iterations * experiment.neighbours),
        experiment.speed,
        f"{places[0].label} on {places[0].name}" if len(places) == 1 else "",
    )


def load_problem(experiment: TabuExperiment, data: str | None, seed: int) -> Any:
    """The problem that an experiment searches."""
    if experiment.workload == "ppp":
        from core.problems.ppp.problem import Ppp

        return Ppp.load(experiment.instance, data)
    if experiment.workload == "qap":
        from core.problems.qap.problem import Qap

        return Qap.load(experiment.instance, data)
    if experiment.workload == "tsp":
        from core.problems.tsp.problem import TspTour

        return TspTour.load(experiment.instance, data)
    from core.problems.weierstrass.problem import Weierstrass

    return Weierstrass.load(experiment.instance, data, points=experiment.neighbours, dtype="float32", seed=seed)


def prepare_search(field: BenchmarkContext, experiment: TabuExperiment, backend: Any) -> PreparedCandidate:
    """A search on a backend, end to end."""
    from cluster import Solo
    from core.search.local_search import Iterations, LocalSearch, TabuSearch

    seed = field.options.seed
    problem = load_problem(experiment, field.options.data, seed)
    search = LocalSearch(
        backend, Solo(), problem, TabuSearch(), experiment.neighbourhood, level=experiment.level, seed=seed
    )
    search.warm_up()

    def read(outcome: Any) -> CandidateResult:
        digest = f"{outcome.digest:016x}"
        result = {
            "seed": seed,
            "best_cost": outcome.cost,
            "best_index": outcome.walk,
            "evaluations": outcome.evaluations,
            "hash": digest,
            "details": {
                "size": problem.encoding.n,
                "optimum": problem.optimum,
                "instance_source": problem.instance.source,
                "evaluation_definition": "the neighbours that a sequential search looks at",
                "iterations": outcome.iterations,
                "best_iteration": outcome.found_at,
            },
        }
        confirmed = abs(problem.cost(outcome.solution) - outcome.cost) <= problem.tolerance()
        return CandidateResult(outcome.evaluations, {"cost": outcome.cost, "hash": digest}, confirmed, result)

    return PreparedCandidate(
        lambda repetition: search.run(Iterations(experiment.iterations)),
        read,
        lambda outcomes, median: published_note(experiment, median),
        RecordSubject(
            experiment.workload,
            problem,
            parameters(experiment, search),
            execution_settings(experiment, search),
            "neighbours",
            "moves",
        ),
    )


def parameters(experiment: TabuExperiment, search: Any) -> dict[str, Any]:
    """What decides the work, as the drivers record it."""
    own = {"points": experiment.neighbours, "dtype": "float32"} if experiment.workload == "weierstrass" else {}
    return {**search.plan.parameters, "iterations": experiment.iterations, **own}


def execution_settings(experiment: TabuExperiment, search: Any) -> dict[str, Any]:
    """Execution settings, as the drivers record them."""
    own = {"layout": None} if experiment.workload == "ppp" else {}
    return {**search.plan.execution, "shape": "fixed", **own}


def published_note(experiment: TabuExperiment, median: float) -> str:
    """Iterations a second, and the paper's figure where there is one."""
    published = f", paper {experiment.published_s} s" if experiment.published_s else ""
    return f"{experiment.iterations / max(median, 1e-9):,.0f} iterations/s{published}"
