"""Iterated 3-opt and local search for the travelling salesman problem, on any backend and over any number of ranks.

python -m drivers.tsp                                                         iterated 3-opt, some seconds
python -m drivers.tsp --instance pr1002 --seconds 1                           a thousand cities on one core
python -m drivers.tsp --instance uniform:100000:seed=1 --walks 8 --seconds 60 eight walks share the cores
python -m drivers.tsp --instance a280 --tour best.tour --svg best.svg         save and draw the best tour
python -m drivers.tsp --algorithm tabu --neighbourhood exchange2 --walks 64   tabu search by swaps, as in the paper
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import Options, option_flag
from drivers.options.local_search import ALGORITHMS, SearchOptions
from drivers.options.output_files import OutputFile
from drivers.runs.workload_main import driver
from drivers.workload import tours
from drivers.workload.declaration import PreparedRun, RepetitionResult, Task, describe_gap, describe_time_limit
from drivers.workload.history import keeps_history, refuse_clocked_records
from drivers.workload.local_search import FIRST_SECONDS, LocalSearchWorkload
from drivers.workload.run_time import RepetitionWork

PAPER_ARGUMENTS = ("--algorithm", "tabu", "--neighbourhood", "exchange2")
"""Default arguments of comparisons: tabu search by swaps, as in the paper's tables."""


THREE_OPT = "3opt"
HISTORY_OPTIONS = ("history", "curve", "plot")
FEWEST_CITIES = 5
FIRST_WALKS = 8
"""Default number of walks of iterated 3-opt."""
PERTURBATIONS_PER_SECOND = 400_000
"""Perturbations per second of a core, on instances of up to 10,000 cities."""
SHARED_OPTIONS = {"algorithm", "iterations", "seconds", "target", "walks", "scaled", "solution", *HISTORY_OPTIONS}
"""Options that iterated 3-opt has too."""


@dataclass(frozen=True)
class TspOptions(SearchOptions, table="tsp", algorithms=("auto", THREE_OPT, *ALGORITHMS)):
    """Options of searches for the travelling salesman problem."""

    algorithm: str = "auto"
    neighbourhood: str = "2opt"
    tour: OutputFile | None = None
    svg: OutputFile | None = None

    @property
    def has_plan(self) -> bool:
        return self.algorithm != THREE_OPT

    def of_local_search(self) -> list[str]:
        """Return the given options that iterated 3-opt does not have, as on the command line."""
        own = SearchOptions.__dataclass_fields__.keys() - SHARED_OPTIONS - Options.__dataclass_fields__.keys()
        listed = (one for one, _ in self.declared() if one.name in own)
        return [option_flag(option) for option in listed if getattr(self, option.name) != option.default]

    def resolved(self) -> Self:
        """Return these options with an algorithm that is not ``auto``.

        Raises `UserError` for an option that iterated 3-opt does not have.
        """
        others = self.of_local_search()
        if self.algorithm == THREE_OPT and others:
            raise UserError(f"{others[0]} with --algorithm {THREE_OPT}: expected with {', '.join(ALGORITHMS)}")
        if self.algorithm == "auto":
            return replace(self, algorithm="ils" if others else THREE_OPT)
        return self

    def with_limits(self, ranks: int) -> Self:
        """Return these options with walks and a stop criterion, for iterated 3-opt on a number of ranks."""
        is_open = all(limit is None for limit in (self.walks, self.iterations, self.seconds, self.target))
        walks = self.walks or (max(FIRST_WALKS, ranks) if is_open else 1)
        iterations = self.iterations
        if iterations is None and self.seconds is None:
            iterations = max(1, FIRST_SECONDS * PERTURBATIONS_PER_SECOND // walks)
        return replace(self, walks=walks, iterations=iterations)


class TspWorkload(LocalSearchWorkload):
    """Iterated 3-opt by neighbour lists, or moves of tours in iterations over all pairs of cities."""

    name = "tsp"
    title = "iterated 3-opt and local search for the TSP"
    options = TspOptions
    arguments = (*PAPER_ARGUMENTS, "--walks", "64")
    iterations, usual_size = 400, 100**2

    def load(self, options: Any, ranks: int) -> Task:
        """Load the instance, and fill in the options."""
        settled = options.resolved()
        if settled.has_plan:
            return super().load(settled, ranks)
        settled.chosen_stop().check()
        if settled.seconds is not None:
            refuse_clocked_records(settled, "--iterations or --target")
        problem, source = self.load_problem(settled)
        if problem.encoding.n < FEWEST_CITIES and options.algorithm == "auto":
            return super().load(replace(settled, algorithm="ils"), ranks)
        return Task(settled.with_limits(ranks), problem, source)

    def search(self, backend: Any, ranks: Any, problem: Any, options: Any) -> Any:
        """Return the search, compiled and warm."""
        if options.has_plan:
            return super().search(backend, ranks, problem, options)
        from cluster.mpi.proxies import Rehearsal
        from core.search.tours import IteratedThreeOpt

        search = IteratedThreeOpt(backend, Rehearsal(ranks), problem.instance, walks=options.walks, seed=options.seed)
        search.warm_up()
        return search

    def once(self, run: PreparedRun[Any], callback: Any) -> Any:
        if run.options.has_plan:
            return super().once(run, callback)
        return run.searched(callback, run.options.chosen_stop(), history=keeps_history(run.options))

    def shorter(self, run: PreparedRun[Any], iterations: int) -> Any:
        """Return None for iterated 3-opt, since its ranks do not synchronise in every iteration."""
        return super().shorter(run, iterations) if run.options.has_plan else None

    def on_one_core(self, options: Any) -> bool:
        """One walk of iterated 3-opt is fastest on a core."""
        return not options.has_plan and options.walks == 1

    def work(self, run: PreparedRun[Any]) -> RepetitionWork | None:
        """All perturbations, or those of local search."""
        options = run.options
        if options.has_plan:
            return super().work(run)
        if options.iterations is None or options.seconds is not None:
            return None
        amount = options.walks * options.iterations
        is_ended = options.target is not None
        return RepetitionWork(amount, "perturbations", PERTURBATIONS_PER_SECOND, at_most=is_ended)

    def parameters(self, run: PreparedRun[Any]) -> dict[str, Any]:
        """Return the settings that decide the search, and the stop criteria."""
        if run.options.has_plan:
            return super().parameters(run)
        stop = run.options.chosen_stop()
        limits = {name: getattr(stop, name) for name in stop.given}
        return {"algorithm": THREE_OPT, **run.search.parameters, **limits}

    def execution(self, run: PreparedRun[Any]) -> Mapping[str, Any]:
        """Return the team size of iterated 3-opt, or the settings of local search."""
        return super().execution(run) if run.options.has_plan else {"team_size": run.search.team_size}

    def result(self, run: PreparedRun[Any], outcome: Any) -> RepetitionResult:
        """Return the best tour of all walks."""
        if run.options.has_plan:
            return super().result(run, outcome)
        return RepetitionResult.of(
            outcome,
            f"length {outcome.cost}{describe_gap(outcome.cost, run.problem.optimum)} after perturbation "
            f"{outcome.found_at} of walk {outcome.walk}{describe_time_limit(outcome)}",
            outcome,
            index=outcome.walk,
            unit="perturbations",
            details={
                **tours.instance_details(run.problem.instance),
                "evaluation_definition": "local double bridges, each with its descent",
                "iterations": outcome.iterations,
                "best_iteration": outcome.found_at,
                "team_size": run.search.team_size,
            },
        )

    def headline(self, run: PreparedRun[Any]) -> str:
        """Return algorithm and instance in a line."""
        if run.options.has_plan:
            return super().headline(run)
        walks, backend, ranks = run.options.walks, run.search.backend, run.ranks
        where = f"{backend.name} ({backend.device.name})"
        return (
            f"{run.problem.name}: iterated 3-opt by {run.search.lists} neighbours, {walks} "
            f"{'walk' if walks == 1 else 'walks'}, on "
            + (f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where)
        )

    def load_problem(self, options: TspOptions) -> tuple[Any, str]:
        """Return the problem, and the source of its instance."""
        from core.problems.tsp.problem import TspTour

        task = tours.available_instance(options)
        tours.refuse_blank_drawing(options, task.problem)
        return TspTour(task.problem), task.source

    def size(self, problem: Any) -> int:
        return int(problem.encoding.n**2)

    def save_problem(self, run: PreparedRun[SearchOptions], solution: Any) -> None:
        tours.save_tour(self.name, run.options, self.for_peers(run.problem), solution)

    def for_peers(self, problem: Any) -> Any:
        return problem.instance


TSP = TspWorkload()
main = driver(TSP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
