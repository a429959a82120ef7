"""Measures local search for `drivers.bench`: the experiments of `luong2013` on a GPU, and one core against many."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from drivers.bench_devices import Place, one_core, opened


class Experiment(NamedTuple):
    """A tabu search to time; ``published_s`` is the paper's figure on a Tesla M2050 for 10,000 iterations."""

    workload: str
    instance: str
    neighbourhood: str
    iterations: int
    level: str = "iteration"
    published_s: float | None = None


ON_GPU = (
    Experiment("ppp", "73-73", "flip2", 10_000, published_s=0.2),
    Experiment("ppp", "1301-1317", "flip2", 10_000, published_s=342),
    Experiment("qap", "tai100a", "exchange2", 10_000, published_s=2.6),
    Experiment("tsp", "rl5915", "exchange2", 10_000, published_s=828),
    Experiment("weierstrass", "100", "crowns", 1_000, "solution"),
)
ON_ONE_CORE = (
    Experiment("qap", "tai30a", "exchange2", 20_000),
    Experiment("qap", "tai60a", "exchange2", 10_000),
    Experiment("qap", "tai100a", "exchange2", 5_000),
    Experiment("weierstrass", "100", "crowns", 2),
)
SHARED_OUT = Experiment("ppp", "401-417", "flip2", 50)


def in_turn(contestants: dict[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every contestant, measured A B C A B C ..."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            times[name].append(run())
    return times


def problem_of(experiment: Experiment, data: str | None) -> Any:
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

    return Weierstrass.load(experiment.instance)


def contestant(backend: Any, experiment: Experiment, data: str | None) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that searches once and returns seconds end to end, without compiling, and where its outcome goes."""
    from cluster import Solo
    from core.search.local_search import Iterations, LocalSearch, TabuSearch

    problem = problem_of(experiment, data)
    search = LocalSearch(backend, Solo(), problem, TabuSearch(), experiment.neighbourhood, level=experiment.level)
    search.warm_up()
    found: dict[str, Any] = {}

    def run() -> float:
        began = time.perf_counter()
        found["outcome"] = search.run(Iterations(experiment.iterations))
        return time.perf_counter() - began

    return run, found


def bench_gpu(options: Any, backend: Any) -> None:
    """The paper's experiments, end to end without compiling."""
    from core.errors import UserError

    print(f"\nlocal search, {backend.name} on {backend.device.name}, tabu, median of {options.repeats}, seconds")
    for experiment in ON_GPU:
        try:
            run, found = contestant(backend, experiment, options.data)
        except UserError as error:
            print(f"  {experiment.workload} {experiment.instance}: {error}")
            continue
        show(experiment, in_turn({"": run}, options.repeats)[""], found["outcome"])


def bench_cpu(options: Any, devices: Sequence[Place]) -> None:
    """Rates of one core, and one neighbourhood shared out over cores."""
    print(f"\nlocal search, tabu, median of {options.repeats}, seconds")
    made = opened(devices)
    one = one_core(made)
    for experiment in ON_ONE_CORE if one else ():
        run, found = contestant(made[one], experiment, options.data)
        show(experiment, in_turn({"": run}, options.repeats)[""], found["outcome"])
    pairs = {name: contestant(backend, SHARED_OUT, options.data) for name, backend in made.items()}
    times = in_turn({name: run for name, (run, _) in pairs.items()}, options.repeats)
    for name, seconds in times.items():
        show(SHARED_OUT, seconds, pairs[name][1]["outcome"], name)
    for name in times:
        if name != one and one in times:
            ratios = [alone / many for alone, many in zip(times[one], times[name], strict=True)]
            print(f"  {name} against {one}: {statistics.median(ratios):.2f}x")
    for backend in made.values():
        backend.close()


def show(experiment: Experiment, seconds: list[float], outcome: Any, name: str = "") -> None:
    """A line of the table."""
    median = statistics.median(seconds)
    published = f"  paper {experiment.published_s} s" if experiment.published_s else ""
    print(
        f"  {name:8} {experiment.workload:11} {experiment.instance:10} {experiment.neighbourhood:9} "
        f"{experiment.iterations:6} iterations {median:8.4f} ({min(seconds):.4f} .. {max(seconds):.4f})  "
        f"{experiment.iterations / median:10.0f} iterations/s  {outcome.evaluations / median / 1e9:8.3f} G neighbours/s"
        f"{published}  {outcome.digest:016x}",
        flush=True,
    )
