"""Iterated 3-opt and local search for the travelling salesman problem, on any backend and over any number of ranks.

onekernel tsp                                                         iterated 3-opt, some seconds
onekernel tsp --instance pr1002 --seconds 1                           a thousand cities on one core
onekernel tsp --instance uniform:100000:seed=1 --walks 8 --seconds 60 eight walks share the cores
onekernel tsp --instance uniform:100000:seed=1 --algorithm windows --seconds 60 one tour by all cores
onekernel tsp --instance a280 --tour best.tour --svg best.svg         save and draw the best tour
onekernel tsp --algorithm tabu --neighbourhood exchange2 --walks 64   tabu search by swaps, as in the paper
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.errors import UserError
from core.local_search.algorithms import ALGORITHMS
from drivers.options.declaration import Options, option_flag
from drivers.options.initial import start_solutions
from drivers.options.local_search import SearchOptions
from drivers.options.tours import InstanceOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload import tours
from drivers.workload.declaration import AnySearch, RepetitionResult, Task, Workload, describe_gap, describe_time_limit
from drivers.workload.history import refuse_clocked_records
from drivers.workload.local_search import FIRST_SECONDS, LocalSearchWorkload, SolutionWorkload, limits_and_start

if TYPE_CHECKING:
    import numpy as np

    from core.local_search import LocalSearch, Outcome  # noqa: F401 (a base class names it)
    from core.three_opt import IteratedThreeOpt
    from core.tours import TspInstance
    from core.tours.problem import TspTour
    from drivers.workload.declaration import PreparedRun, SearchPlace

    ThreeOptRun = PreparedRun["TspOptions", TspTour, IteratedThreeOpt]

PAPER_ARGUMENTS = ("--algorithm", "tabu", "--neighbourhood", "exchange2")
"""Default arguments of comparisons: tabu search by swaps, as in the paper's tables."""

THREE_OPT, WINDOWS = "3opt", "windows"
SHARED_OPTIONS = (
    *("algorithm", "iterations", "seconds", "target", "walks"),
    *("initial", "solution", "history", "curve", "plot"),
)
"""Options of local search that iterated 3-opt has too."""
FEWEST_CITIES = 5
PERTURBATIONS_PER_SECOND = 150_000
"""Perturbations per second of a core, on instances of up to 10,000 cities."""
FIRST_WALKS = 8
"""Default number of walks of iterated 3-opt."""


@dataclass(frozen=True)
class TspOptions(
    SearchOptions, InstanceOptions, table="tsp", algorithms=("auto", THREE_OPT, WINDOWS, *ALGORITHMS), takes="TspTour"
):
    """Options of searches for the travelling salesman problem."""

    algorithm: str = "auto"
    neighbourhood: str = "2opt"
    window: int | None = None

    def of_local_search(self) -> list[str]:
        """Return the given options that iterated 3-opt lacks, as written."""
        own = SearchOptions.__dataclass_fields__.keys() - {*SHARED_OPTIONS} - Options.__dataclass_fields__.keys()
        listed = (one for one, _ in self.declared() if one.name in own)
        return [option_flag(one) for one in listed if getattr(self, one.name) != one.default]


class TspDeclaration(SolutionWorkload[TspOptions, "TspTour", AnySearch]):
    """Declarations of all searches for the travelling salesman problem."""

    name = "tsp"
    title = "iterated 3-opt and local search for the TSP"
    options = TspOptions
    arguments = (*PAPER_ARGUMENTS, "--walks", "64")
    iterations, usual_size = 400, 100**2
    best_core = tours.THREE_OPT_TO_COST
    cost_word = "length"

    def load_problem(self, options: TspOptions) -> tuple[TspTour, str]:
        from core.tours.problem import TspTour

        instance, source = tours.available_instance(options)
        return TspTour(instance), source

    def save_problem(self, run: PreparedRun[TspOptions, TspTour, AnySearch], solution: np.ndarray) -> None:
        tours.save_tour(self.name, run.options, run.problem.instance, solution)

    def for_peers(self, problem: TspTour) -> TspInstance:
        return problem.instance


class TspWorkload(TspDeclaration["LocalSearch"], LocalSearchWorkload[TspOptions, "TspTour"]):
    """Moves of tours in iterations over all pairs of cities; `ThreeOptWorkload` has the other searches."""

    def variant(self, options: TspOptions) -> Workload[TspOptions]:
        return ITERATED_THREE_OPT if options.algorithm in (THREE_OPT, WINDOWS) else self

    def load(self, options: TspOptions, ranks: int) -> Task[TspOptions, TspTour]:
        """Load the instance, and fill in the options; fewer than five cities have another algorithm than 3-opt."""
        if options.window is not None and options.algorithm != WINDOWS:
            raise UserError(f"--window {options.window} with --algorithm {options.algorithm}: expected with windows")
        if options.algorithm == "auto" and options.of_local_search():
            options = replace(options, algorithm="ils")
        if options.algorithm not in ("auto", THREE_OPT, WINDOWS):
            return super().load(options, ranks)
        task = ITERATED_THREE_OPT.load(options, ranks)
        if options.algorithm == "auto" and task.problem.encoding.n < FEWEST_CITIES:
            return super().load(replace(options, algorithm="ils"), ranks)
        return task


class ThreeOptWorkload(TspDeclaration["IteratedThreeOpt"]):
    """Iterated 3-opt by neighbour lists: independent walks, or windows of one tour."""

    unit = "perturbations"

    def load(self, options: TspOptions, ranks: int) -> Task[TspOptions, TspTour]:
        name = options.algorithm
        if name == "auto":
            options = replace(options, algorithm=THREE_OPT)
        if name == WINDOWS:
            if options.walks not in (None, 1):
                raise UserError(f"--walks {options.walks} with --algorithm windows: expected 1, since all share a tour")
            options = replace(options, walks=1)
        for flag in options.of_local_search():
            raise UserError(f"{flag} with --algorithm {name}: expected with {', '.join(ALGORITHMS)}")
        options.chosen_stop().check()
        if options.seconds is not None:
            refuse_clocked_records(options, "--iterations or --target")
        problem, source = self.load_problem(options)
        if options.initial is not None:
            options = replace(options, initial=start_solutions(options.initial, problem))
        is_open = all(one is None for one in (options.walks, options.iterations, options.seconds, options.target))
        walks = options.walks or (max(FIRST_WALKS, ranks) if is_open else 1)
        iterations = options.iterations
        if iterations is None and options.seconds is None:
            iterations = max(1, int(FIRST_SECONDS * iterations_per_second(options, problem) / walks))
        return Task(replace(options, walks=walks, iterations=iterations), problem, source)

    def make_search(self, place: SearchPlace, problem: TspTour, options: TspOptions) -> IteratedThreeOpt:
        from core.three_opt import IteratedThreeOpt, WindowedThreeOpt
        from core.three_opt.windows import WINDOW

        if options.algorithm != WINDOWS:
            return IteratedThreeOpt(*place, problem.instance, walks=options.walks or 1, seed=options.seed)
        size = WINDOW if options.window is None else options.window
        return WindowedThreeOpt(*place, problem.instance, window=size, seed=options.seed)

    def run_settings(self, options: TspOptions) -> dict[str, object]:
        return {**super().run_settings(options), "history": options.keeps_history}

    def on_one_core(self, options: TspOptions) -> bool:
        """One walk is fastest on a core; windows of one tour keep all cores busy."""
        return options.algorithm == THREE_OPT and options.walks == 1

    def core_seconds(self, options: TspOptions, problem: TspTour) -> float | None:
        """Return the time of all perturbations; None if the clock ends the run."""
        if options.iterations is None or options.seconds is not None:
            return None
        return (options.walks or 1) * options.iterations / iterations_per_second(options, problem)

    def parameters(self, run: ThreeOptRun) -> dict[str, object]:
        return {"algorithm": run.options.algorithm, **run.search.parameters, **limits_and_start(run.options)}

    def execution(self, run: ThreeOptRun) -> Mapping[str, object]:
        return {"team_size": run.search.team_size}

    def result(self, run: ThreeOptRun, outcome: Outcome) -> RepetitionResult:
        gap = describe_gap(outcome.cost, run.problem.optimum, self.best_known)
        return RepetitionResult(
            outcome,
            f"{self.cost_word} {self.in_words(outcome.cost)}{gap} after {run.search.place_of_best(outcome)}"
            f"{describe_time_limit(outcome.by_time)}",
            index=outcome.walk,
            details={
                "cities": run.problem.instance.n,
                "evaluation_definition": run.search.evaluation_definition,
                "iterations": outcome.iterations,
                "best_iteration": outcome.found_at,
                "team_size": run.search.team_size,
            },
        )

    def headline(self, run: ThreeOptRun) -> str:
        walks = f"{run.options.walks} {'walk' if run.options.walks == 1 else 'walks'}"
        return f"{run.problem.name}: {run.search.description}, {walks}, on {run.place}"


def iterations_per_second(options: TspOptions, problem: TspTour) -> float:
    """Return the number of perturbations, or of rounds of windows, that a core usually makes in a second."""
    return PERTURBATIONS_PER_SECOND / (problem.encoding.n if options.algorithm == WINDOWS else 1)


TSP, ITERATED_THREE_OPT = TspWorkload(), ThreeOptWorkload()
main = driver(TSP, __doc__)

if __name__ == "__main__":
    exit_with(main)
