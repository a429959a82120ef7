"""Declaration of searches with independent walks (`core.three_opt.independent_walks`), in programs of local search.

Iterated 3-opt is such a search: it has no neighbourhoods, evaluations and levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drivers.options.initial import start_solutions
from drivers.options.local_search import SearchOptions
from drivers.workload.declaration import (
    PreparedRun,
    RepetitionResult,
    Task,
    Workload,
    describe_gap,
    describe_time_limit,
)
from drivers.workload.history import keeps_history, refuse_clocked_records
from drivers.workload.run_time import RepetitionWork

FIRST_SECONDS = 4
"""Seconds of one core's work in a run with default options."""
FIRST_WALKS = 8
"""Default number of walks."""


class IndependentWalksWorkload(Workload[SearchOptions]):
    """Independent walks on a problem; `drivers.workload.local_search` has the searches of the engine."""

    cost_word = "best cost"

    def load_problem(self, options: Any) -> tuple[Any, str]:
        """Return the problem of the options and the origin of its instance."""
        raise NotImplementedError

    def speed(self, problem: Any) -> float:
        """Return the number of neighbours that a core usually evaluates in a second."""
        return 1e8

    def rounds_per_second(self, options: SearchOptions, problem: Any) -> float:
        """Return the number of perturbations that a core usually makes in a second."""
        raise NotImplementedError

    def details(self, problem: Any) -> Mapping[str, Any]:
        return {"size": problem.encoding.n, "optimum": problem.optimum, "scorer_tolerance": problem.tolerance()}

    def load(self, options: SearchOptions, ranks: int) -> Task:
        options = options.resolved()
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
            iterations = max(1, int(FIRST_SECONDS * self.rounds_per_second(options, problem) / walks))
        return Task(replace(options, walks=walks, iterations=iterations), problem, source)

    def search(self, backend: Any, ranks: Any, problem: Any, options: SearchOptions) -> Any:
        from cluster.mpi.proxies import Rehearsal

        search = self.make_search(backend, Rehearsal(ranks), problem, options)
        search.warm_up()
        return search

    def make_search(self, backend: Any, ranks: Any, problem: Any, options: SearchOptions) -> Any:
        raise NotImplementedError

    def once(self, run: PreparedRun[SearchOptions], callback: Any) -> Any:
        """Search once; a result that the search's scorer rejects is an outcome too, for the verifiers."""
        from core.local_search import Unconfirmed

        initial: Any = run.options.initial
        more = {"initial": initial.values} if initial else {}
        try:
            return run.searched(callback, run.options.chosen_stop(), history=keeps_history(run.options), **more)
        except Unconfirmed as error:
            return error.outcome

    def on_one_core(self, options: SearchOptions) -> bool:
        """One walk is fastest on a core."""
        return not options.has_plan and options.walks == 1

    def work(self, run: PreparedRun[SearchOptions]) -> RepetitionWork | None:
        """All perturbations; None if the clock ends the run."""
        options = run.options
        if options.iterations is None or options.seconds is not None:
            return None
        amount = (options.walks or 1) * options.iterations
        speed = self.rounds_per_second(options, run.problem)
        return RepetitionWork(amount, "perturbations", speed, at_most=options.target is not None)

    def parameters(self, run: PreparedRun[SearchOptions]) -> dict[str, Any]:
        stop = run.options.chosen_stop()
        initial = {} if run.options.initial is None else {"initial": str(run.options.initial)}
        return {
            "algorithm": run.options.algorithm,
            **run.search.parameters,
            **{name: getattr(stop, name) for name in stop.given},
            **initial,
        }

    def execution(self, run: PreparedRun[SearchOptions]) -> Mapping[str, Any]:
        return {"team_size": run.search.team_size}

    def result(self, run: PreparedRun[SearchOptions], outcome: Any) -> RepetitionResult:
        gap = describe_gap(outcome.cost, run.problem.optimum, self.best_known)
        return RepetitionResult.of(
            outcome,
            f"{self.cost_word} {self.in_words(outcome.cost)}{gap} after {run.search.place_of_best(outcome)}"
            f"{describe_time_limit(outcome)}",
            outcome,
            index=outcome.walk,
            unit=run.search.unit,
            details={
                **self.details(run.problem),
                "evaluation_definition": run.search.evaluation_definition,
                "iterations": outcome.iterations,
                "best_iteration": outcome.found_at,
                "team_size": run.search.team_size,
            },
        )

    def headline(self, run: PreparedRun[SearchOptions]) -> str:
        walks, backend, ranks = run.options.walks, run.search.backend, run.ranks
        where = f"{backend.name} ({backend.device.name})"
        return f"{run.problem.name}: {run.search.description}, {walks} {'walk' if walks == 1 else 'walks'}, on " + (
            f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where
        )
