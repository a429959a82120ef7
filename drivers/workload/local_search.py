"""Declaration of local search, completed by the workloads of `luong2013`'s four problems and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, TypeVar, cast

from drivers.options.initial import start_solutions
from drivers.options.local_search import SearchOptions
from drivers.options.output_files import reporting_write_errors
from drivers.options.values import ArrayValue
from drivers.workload.declaration import (
    SCORER,
    AnySearch,
    PreparedRun,
    RepetitionResult,
    SearchPlace,
    Task,
    VerifierVerdict,
    describe_gap,
    describe_time_limit,
)
from drivers.workload.history import HistoryWorkload, refuse_clocked_records
from drivers.workload.run_time import WorkUnit

if TYPE_CHECKING:
    import numpy as np

    from backends.launch import Backend
    from backends.tuning import ShapeTuner
    from core.lang import Kernel
    from core.local_search import LocalSearch, Outcome
    from core.local_search.problem import Problem
    from core.run.protocol import Callback
    from core.run.stop import Stop

FIRST_SECONDS = 4
"""Seconds of one core's work in a run with default options."""
FEWEST_ITERATIONS = 5
"""Least number of iterations of a walk in a run with default options."""
CLIMBS = ("hill", "first")
"""Algorithms that end in the first local optimum."""
COOLING = ("annealing",)
"""Algorithms whose iterations become cheaper towards the end: fewer changes are accepted."""
NEIGHBOURS_OF_A_DRAW = 16
"""Neighbours of a scan that take as long as a draw of simulated annealing, which keeps no differences."""


AnyLocal = TypeVar("AnyLocal", bound=SearchOptions)
LocalProblem = TypeVar("LocalProblem", bound="Problem")


class SolutionWorkload(HistoryWorkload[AnyLocal, LocalProblem, AnySearch, "Outcome"]):
    """A search by walks on a problem of local search.

    A comparison's options follow from `iterations`, unless `standard` and `fitted` are others.

    Attributes
    ----------
    chosen : str or None
        Default instance; None: `load_problem` chooses.
    arguments : tuple of str
        Options of a comparison beside the iterations; the default number of walks keeps all cores and a GPU busy.
    iterations : int
        Iterations of a walk on an instance of size `usual_size`: about a second of one core's work.
    """

    hash_scope = "moves"
    doing = "searching"
    scaled = "walks"
    cost_word = "best cost"
    chosen: str | None = None
    arguments: tuple[str, ...] = ("--walks", "64")
    iterations: int
    usual_size: int

    def load_problem(self, options: AnyLocal) -> tuple[LocalProblem, str]:
        """Return the problem of the options and the origin of its instance."""
        raise NotImplementedError

    def size(self, problem: LocalProblem) -> int:
        """Return the work of an iteration, in the unit of `usual_size`: by default n^2 for n elements."""
        return int(problem.encoding.n**2)

    def save_problem(self, run: PreparedRun[AnyLocal, LocalProblem, AnySearch], solution: np.ndarray) -> None:
        """Write the problem's own files of the best solution."""

    @property
    def standard(self) -> tuple[str, ...]:  # type: ignore[override]
        """Options of a comparison of instances of the usual size."""
        return (*self.arguments, "--iterations", str(self.iterations))

    def fitted(self, problem: LocalProblem) -> tuple[str, ...]:
        """Options of a comparison: about a second of one core's work, as for the usual size."""
        iterations = max(1, self.iterations * self.usual_size // self.size(problem))
        return (*self.arguments, "--iterations", str(iterations))

    def stop(self, options: AnyLocal) -> Stop:
        return options.chosen_stop()

    def run_settings(self, options: AnyLocal) -> dict[str, object]:
        return {"initial": options.initial.values if isinstance(options.initial, ArrayValue) else None}

    def work_unit(self, options: AnyLocal, problem: LocalProblem) -> WorkUnit:
        """Return iterations of all walks; whole runs if later ones are cheaper, or if a walk may end before them."""
        algorithm = getattr(options.algorithm, "name", options.algorithm)
        if options.iterations is None or algorithm in CLIMBS or {*options.chosen_stop().given} > {"iterations"}:
            return WorkUnit()
        walks = options.walks or 1
        if algorithm in COOLING:
            return WorkUnit("iterations", each=options.iterations * walks)
        return WorkUnit("iterations", options.iterations, walks, "iterations")

    def verify(
        self, run: PreparedRun[AnyLocal, LocalProblem, AnySearch], outcome: Outcome, result: RepetitionResult
    ) -> Iterator[VerifierVerdict]:
        scored = run.problem.cost(outcome.solution)
        right = abs(scored - outcome.cost) <= run.problem.tolerance()
        yield VerifierVerdict(SCORER, None if right else f"the scorer finds cost {scored}", int(scored))

    def save(self, run: PreparedRun[AnyLocal, LocalProblem, AnySearch], outcome: Outcome) -> None:
        path = run.options.solution
        if path:
            with reporting_write_errors(path), open(path, "w", encoding="ascii") as file:
                file.writelines(f"{element}\n" for element in outcome.solution.tolist())
        super().save(run, outcome)
        self.save_problem(run, outcome.solution)


class LocalSearchWorkload(SolutionWorkload[AnyLocal, LocalProblem, "LocalSearch"]):
    """Local search on a problem (a `core.local_search.problem.Problem`)."""

    unit = "neighbours"

    def speed(self, problem: LocalProblem) -> float:
        """Return the number of neighbours that a core usually evaluates in a second."""
        return 1e8

    def load(self, options: AnyLocal, ranks: int) -> Task[AnyLocal, LocalProblem]:
        settled = options.settled(self.chosen, ranks)
        settled.chosen_algorithm()
        if isinstance(settled.algorithm, str):  # the search checks the criteria of Python
            settled.chosen_stop().check()
        if settled.seconds is not None:
            refuse_clocked_records(settled, "--iterations, --target or --patience")
        problem, source = self.load_problem(settled)
        if settled.initial is not None:
            settled = replace(settled, initial=start_solutions(settled.initial, problem))
        if settled.iterations is None and settled.seconds is None:
            settled = replace(settled, iterations=first_iterations(settled, problem, self.fitted(problem)))
        return Task(settled, problem, source)

    def make_search(self, place: SearchPlace, problem: LocalProblem, options: AnyLocal) -> LocalSearch:
        from core.local_search import LocalSearch

        return LocalSearch(
            *place,
            problem,
            options.chosen_algorithm(),
            options.neighbourhoods,
            tune=None if options.shape == "fixed" else shape_tuner(cast("Backend", place[0])),
            **options.settings(),
            history=options.keeps_history,
        )

    def warm_up(self, search: LocalSearch, options: AnyLocal) -> None:
        search.warm_up(options.chosen_stop().seconds)

    def once(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch], callback: Callback | None) -> Outcome:
        """Search once; a result that the search's scorer rejects is an outcome too, for the verifiers."""
        from core.local_search import Outcome, Unconfirmed

        try:
            outcome = super().once(run, callback)
        except Unconfirmed as error:
            assert isinstance(error.outcome, Outcome)
            outcome = error.outcome
        keep_shape(run.search)
        return outcome

    def parts(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch]) -> tuple[int, str] | None:
        """Return the walks; None if ranks divide the neighbours of each."""
        return super().parts(run) if run.search.plan.settings.by_walks else None

    def core_seconds(self, options: AnyLocal, problem: LocalProblem) -> float | None:
        """Return the time of all neighbours in all iterations; None if the clock ends them.

        A climb has as many iterations as a solution has elements, which is usual.
        """
        from core.local_search.plan import Plan

        if options.iterations is None or options.seconds is not None:
            return None
        names, settings = options.neighbourhoods, options.settings()
        plan = Plan.make(problem, options.chosen_algorithm(), names, tuned=options.shape != "fixed", **settings)
        most = problem.encoding.n if options.algorithm in CLIMBS else inf
        an_iteration = max(plan.sizes) if plan.algorithm.scans else NEIGHBOURS_OF_A_DRAW
        count = plan.settings.walks * int(min(options.iterations, most)) * an_iteration
        return count / self.speed(problem)

    def parameters(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch]) -> dict[str, object]:
        return {**run.search.plan.parameters, **limits_and_start(run.options)}

    def execution(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch]) -> Mapping[str, object]:
        return {**run.search.plan.execution, "shape": run.options.shape}

    def result(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch], outcome: Outcome) -> RepetitionResult:
        launcher, shape = run.search.launcher, run.search.launcher.shape
        tuner = finished_tuner(run.search)
        gap = describe_gap(outcome.cost, run.problem.optimum, self.best_known)
        return RepetitionResult(
            outcome,
            f"{self.cost_word} {self.in_words(outcome.cost)}{gap} in iteration {outcome.found_at} of walk "
            f"{outcome.walk}, {outcome.iterations} iterations{describe_time_limit(outcome.by_time)}",
            index=outcome.walk,
            details={
                "size": run.problem.encoding.n,
                "scorer_tolerance": run.problem.tolerance(),
                "neighbourhood_sizes": list(run.search.plan.sizes),
                "evaluation_definition": "the neighbours that a sequential search looks at",
                "iterations": outcome.iterations,
                "best_iteration": outcome.found_at,
                "teams": launcher.walk_teams if shape.in_one_team else shape.teams,
                "team_size": shape.team_size,
                "step_team_size": shape.step_size,
                **({} if tuner is None else {"tuning_s": tuner.tuning_s}),
            },
        )

    def headline(self, run: PreparedRun[AnyLocal, LocalProblem, LocalSearch]) -> str:
        plan = run.search.plan
        moves = ", ".join(
            f"{one.name} ({size} neighbours)" for one, size in zip(plan.neighbourhoods, plan.sizes, strict=True)
        )
        walks = f", {plan.settings.walks} walks" if plan.settings.walks > 1 else ""
        laid = ", mapping published" if plan.settings.is_published else ""
        search = f"{plan.algorithm.name}, {moves}{walks}, evaluation {plan.evaluation.name}{laid}"
        return f"{run.problem.name}: {search}, on {run.place}"


def limits_and_start(options: SearchOptions) -> dict[str, object]:
    """Return the given stop criteria and start solutions, as parameters of a record."""
    stop = options.chosen_stop()
    initial = {} if options.initial is None else {"initial": str(options.initial)}
    return {**{name: getattr(stop, name) for name in stop.given}, **initial}


def first_iterations(settled: SearchOptions, problem: Problem, fitted: Sequence[str]) -> int:
    """Return the iterations of a walk in a run with default options: some seconds of one core's work.

    ``fitted`` are options for about a second of one core's work (see `Workload`).
    """
    second = dict(zip(fitted[::2], fitted[1::2], strict=True))

    def neighbours(options: SearchOptions) -> int:
        is_auto = options.neighbourhood == "auto"
        listed = problem.neighbourhood_names()[:1] if is_auto else options.neighbourhoods
        neighbourhoods = [problem.neighbourhood(one) if isinstance(one, str) else one for one in listed]
        return max(one.size(problem.encoding, problem.points) for one in neighbourhoods)

    usual = type(settled)()
    if "--neighbourhood" in second:
        usual = replace(usual, neighbourhood=second["--neighbourhood"])
    work = int(second.get("--walks", "1")) * int(second["--iterations"]) * neighbours(usual)
    an_iteration = neighbours(settled) if settled.chosen_algorithm().scans else NEIGHBOURS_OF_A_DRAW
    return max(FEWEST_ITERATIONS, FIRST_SECONDS * work // ((settled.walks or 1) * an_iteration))


def shape_tuner(backend: Backend) -> Callable[[Kernel, int, int], ShapeTuner]:
    """Return the maker of tuners, which try shapes of launches on this device and know the best of an earlier run."""
    from backends.tuning import ShapeKey, ShapeTuner, load_shape

    def tune(kernel: Kernel, solution_size: int, neighbourhood_size: int) -> ShapeTuner:
        known = load_shape(ShapeKey.of(backend, kernel, solution_size, neighbourhood_size))
        return ShapeTuner(backend.capabilities, solution_size, neighbourhood_size, known=known)

    return tune


def finished_tuner(search: LocalSearch) -> ShapeTuner | None:
    """Return the tuner of a search's launches if it has found the best shape."""
    tuner = cast("ShapeTuner | None", search.launcher.shape.tuner)
    return tuner if tuner is not None and tuner.done and tuner.best is not None else None


def keep_shape(search: LocalSearch) -> None:
    """Store the shape that a search's tuner has found, if it is done."""
    plan, launcher, tuner = search.plan, search.launcher, finished_tuner(search)
    if tuner is None or tuner.best is None:
        return
    from backends.tuning import ShapeKey, TunedShape, store_shape

    key = ShapeKey.of(cast("Backend", search.backend), launcher.evaluating, plan.problem.encoding.n, max(plan.sizes))
    store_shape(key, TunedShape(tuner.best, tuner.tuning_s))
