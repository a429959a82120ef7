"""Declaration of local search on a problem, shared by `luong2013`'s four problems and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any

from core.errors import UserError
from drivers.options.initial import InitialSolutions, read_solutions
from drivers.options.local_search import SearchOptions
from drivers.options.output_files import reporting_write_errors
from drivers.workload.declaration import (
    SCORER,
    PreparedRun,
    RepetitionResult,
    Task,
    VerifierVerdict,
    Workload,
    describe_gap,
    describe_time_limit,
)
from drivers.workload.history import save_history
from drivers.workload.run_time import RepetitionWork

FIRST_SECONDS, FEWEST_ITERATIONS = 4, 5
"""Seconds of one core's work in a run for which no option says what to do, and iterations of a walk at least."""
NEIGHBOURS_OF_A_DRAW = 16
"""Neighbours of a scan that take as long as a draw of simulated annealing, which keeps no differences."""


def local_search(
    name: str,
    title: str,
    options: type[SearchOptions],
    *,
    load: Callable[[Any], tuple[Any, str]],
    chosen: str | None,
    standard: tuple[str, ...],
    fitted: Callable[[Any], tuple[str, ...]] = lambda problem: (),
    shown: Callable[[int], str] = str,
    best_known: str = "optimum",
    save: Callable[[PreparedRun[Any], Any], None] = lambda run, solution: None,
    speed: Callable[[Any], float] = lambda problem: 1e8,
    for_peers: Callable[[Any], Any] = lambda problem: problem,
    program: tuple[str, ...] = (),
) -> Workload[SearchOptions]:
    """Declare local search on a problem.

    Parameters
    ----------
    name, title, options, standard, fitted, for_peers, program
        See `Workload`.
    load
        From options to the problem (a `core.problems.problem.Problem`) and, in words, where its instance came from.
    chosen
        The instance that runs without options; None: `load` chooses.
    shown
        From a cost to text.
    best_known
        What the problem's ``optimum`` is called.
    save
        Writes the problem's own files of the best solution.
    speed
        From a problem to the neighbours that a core usually evaluates in a second.

    """

    def saved(run: PreparedRun[SearchOptions], outcome: Any) -> None:
        path = run.options.solution
        if path:
            with reporting_write_errors(path), open(path, "w", encoding="ascii") as file:
                file.writelines(f"{element}\n" for element in outcome.solution.tolist())
        save_history(run, outcome, unit="neighbours", in_words=shown, best_known=best_known)
        save(run, outcome.solution)

    def work(run: PreparedRun[SearchOptions]) -> RepetitionWork | None:
        """Return all neighbours in all iterations, or fewer by another stop criterion; None where the clock ends it."""
        if run.options.iterations is None or run.options.seconds is not None:
            return None
        draws = run.search.plan.draws
        an_iteration = NEIGHBOURS_OF_A_DRAW if draws else max(run.search.plan.sizes)
        count = run.search.plan.settings.walks * run.options.iterations * an_iteration
        return RepetitionWork(count, "neighbours", speed(run.problem), at_most=True)

    def result(run: PreparedRun[SearchOptions], outcome: Any) -> RepetitionResult:
        return search_result(
            run,
            outcome,
            f"best cost {shown(outcome.cost)}{describe_gap(outcome.cost, run.problem.optimum, best_known)}",
        )

    return Workload(
        name,
        title,
        options,
        unit="neighbours",
        hash_scope="moves",
        doing="searching",
        load=partial(load_task, chosen, load, fitted),
        search=search,
        once=once,
        result=result,
        judges=verdicts,
        in_words=shown,
        standard=standard,
        fitted=fitted,
        scaled="walks",
        shorter=shorter,
        work=work,
        parameters=parameters,
        execution=lambda run: {**run.search.plan.execution, "shape": run.options.shape},
        headline=headline,
        save=saved,
        for_peers=for_peers,
        program=program,
    )


def load_task(
    chosen: str | None,
    load: Callable[[Any], tuple[Any, str]],
    fitted: Callable[[Any], tuple[str, ...]],
    options: SearchOptions,
    ranks: int,
) -> Task:
    """The problem, and the options with everything filled in; see `local_search` and `Workload.load`."""
    settled = options.settled(chosen, ranks)
    if isinstance(settled.algorithm, str):  # what Python gives instead is checked by the search
        settled.chosen_algorithm()
        settled.chosen_stop().check()
    if settled.record and settled.seconds is not None and settled.repeats > 1:
        raise UserError(
            f"--record with --seconds and --repeats {settled.repeats}: a time limit ends each repetition at another "
            "iteration, but repetitions of a record must do equal work; expected --iterations, --target or --patience "
            "instead of --seconds"
        )
    problem, source = load(settled)
    if isinstance(settled.initial, str):
        settled = replace(settled, initial=read_solutions(settled.initial, problem.encoding.n))
    if settled.iterations is None and settled.seconds is None:
        settled = replace(settled, iterations=first_iterations(settled, problem, fitted(problem)))
    return Task(settled, problem, source)


def first_iterations(settled: SearchOptions, problem: Any, fitted: Sequence[str]) -> int:
    """Return the iterations of a walk in a run for which no option says what to do: some seconds of one core's work.

    Parameters
    ----------
    settled
        Its options, filled in.
    problem
    fitted
        Options of about a second of one core's work (see `Workload`).

    """
    second = dict(zip(fitted[::2], fitted[1::2], strict=True))

    def neighbours(options: SearchOptions) -> int:
        listed = chosen_neighbourhoods(options, problem)
        found = [problem.neighbourhood(one) if isinstance(one, str) else one for one in listed]
        return max(one.size(problem.encoding, problem.points) for one in found)

    usual = type(settled)()
    if "--neighbourhood" in second:
        usual = replace(usual, neighbourhood=second["--neighbourhood"])
    work = int(second.get("--walks", "1")) * int(second["--iterations"]) * neighbours(usual)
    draws = settled.chosen_algorithm().draws
    an_iteration = NEIGHBOURS_OF_A_DRAW if draws else neighbours(settled)
    return max(FEWEST_ITERATIONS, FIRST_SECONDS * work // ((settled.walks or 1) * an_iteration))


def shorter(run: PreparedRun[SearchOptions], iterations: int) -> SearchOptions | None:
    """So few iterations of each walk; walks of their own meet too seldom to be rehearsed."""
    if run.search.plan.settings.by_walks:
        return None
    given = run.options
    return replace(given, iterations=min(iterations, given.iterations or iterations), seconds=None)


def search(backend: Any, ranks: Any, problem: Any, options: SearchOptions) -> Any:
    """The search, compiled and warm: it warms up alone, and meets the other ranks when it runs."""
    from core.search.local_search import LocalSearch

    if ranks.size > 1:
        from cluster.mpi.proxies import Rehearsal

        ranks = Rehearsal(ranks)
    made = LocalSearch(
        backend,
        ranks,
        problem,
        options.chosen_algorithm() if isinstance(options.algorithm, str) else options.algorithm,
        problem.neighbourhood_names()[:1] if options.neighbourhood == "auto" else options.neighbourhoods,
        tune=None if options.shape == "fixed" else shape_tuner(backend),
        **{name: getattr(options, name) for name in setting_names()},
        history=bool(options.history or options.curve or options.plot),
    )
    made.warm_up(options.chosen_stop().seconds)
    return made


@cache
def setting_names() -> tuple[str, ...]:
    """Return the names of the search's settings, which are those of options."""
    from core.search.local_search.settings import SearchSettings

    return tuple(one.name for one in fields(SearchSettings))


def chosen_neighbourhoods(options: SearchOptions, problem: Any) -> list[Any]:
    """The neighbourhoods of the options, or their names; of `auto` the problem's first."""
    return problem.neighbourhood_names()[:1] if options.neighbourhood == "auto" else options.neighbourhoods


def shape_tuner(backend: Any) -> Callable[[Any, int, int], Any]:
    """Return the maker of tuners, which try shapes of launches on this device and know the best of an earlier run."""
    from backends.tuning import ShapeKey, ShapeTuner, load_shape

    def tune(kernel: Any, solution_size: int, neighbourhood_size: int) -> ShapeTuner:
        best = load_shape(ShapeKey.of(backend, kernel, solution_size, neighbourhood_size))
        return ShapeTuner(backend.capabilities, solution_size, neighbourhood_size, best=best)

    return tune


def keep_shape(search: Any) -> None:
    """Remember the shape that a search's tuner has found, if it had one and is done."""
    plan, launcher = search.plan, search.launcher
    tuner = launcher.shape.tuner
    if tuner is None or not tuner.done:
        return
    from backends.tuning import ShapeKey, store_shape

    key = ShapeKey.of(search.backend, launcher.evaluating, plan.problem.encoding.n, max(plan.sizes))
    store_shape(key, tuner.best)


def once(run: PreparedRun[SearchOptions], callback: Any) -> Any:
    """Search once; what the search's own scorer contradicts is an outcome too, which the judges see again."""
    from core.search.local_search import Unconfirmed

    given = run.options.initial
    initial = given.solutions if isinstance(given, InitialSolutions) else None
    try:
        outcome = run.search.run(
            run.options.chosen_stop(),
            callback=callback,
            ranks=run.ranks,
            checkpointer=run.checkpointer,
            initial=initial,
        )
    except Unconfirmed as error:
        outcome = error.outcome
    keep_shape(run.search)
    return outcome


def parameters(run: PreparedRun[SearchOptions]) -> dict[str, Any]:
    """What the search says of itself, and the stop criteria."""
    stop = run.options.chosen_stop()
    limits = {name: value for name, value in stop._asdict().items() if value != type(stop)._field_defaults[name]}
    initial = {} if run.options.initial is None else {"initial": str(run.options.initial)}
    return {**run.search.plan.parameters, **limits, **initial}


def search_result(run: PreparedRun[SearchOptions], outcome: Any, words: str) -> RepetitionResult:
    """The best solution of all walks."""
    launcher, shape = run.search.launcher, run.search.launcher.shape
    return RepetitionResult.of(
        outcome,
        f"{words} in iteration {outcome.found_at} of walk {outcome.walk}, {outcome.iterations} iterations"
        f"{describe_time_limit(outcome)}",
        outcome,
        index=outcome.walk,
        details={
            "size": run.problem.encoding.n,
            "optimum": run.problem.optimum,
            "scorer_tolerance": run.problem.tolerance(),
            "neighbourhood_sizes": list(run.search.plan.sizes),
            "evaluation_definition": "the neighbours that a sequential search looks at",
            "iterations": outcome.iterations,
            "best_iteration": outcome.found_at,
            "teams": launcher.walk_teams if shape.in_one_team else shape.teams,
            "team_size": shape.team_size,
            "step_team_size": shape.step_size,
        },
    )


def verdicts(run: PreparedRun[SearchOptions], outcome: Any, result: RepetitionResult) -> Iterator[VerifierVerdict]:
    """The problem's scorer."""
    scored = run.problem.cost(outcome.solution)
    right = abs(scored - outcome.cost) <= run.problem.tolerance()
    yield VerifierVerdict(SCORER, None if right else f"the scorer finds cost {scored}", int(scored))


def headline(run: PreparedRun[SearchOptions]) -> str:
    """What runs, and on what."""
    plan, backend, ranks = run.search.plan, run.search.backend, run.ranks
    moves = ", ".join(
        f"{one.name} ({size} neighbours)" for one, size in zip(plan.neighbourhoods, plan.sizes, strict=True)
    )
    walks = f", {plan.settings.walks} walks" if plan.settings.walks > 1 else ""
    laid = ", mapping published" if plan.settings.is_published else ""
    where = f"{backend.name} ({backend.device.name})"
    return (
        f"{run.problem.name}: {plan.algorithm.name}, {moves}{walks}, evaluation {plan.evaluation_name}{laid}, on "
        + (f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where)
    )
