"""What the drivers of `luong2013`'s four problems share: a search made from options, and its repetitions."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from drivers.options import AT_HAND, add_common_options, agreed_ranks
from drivers.repetitions import Repetitions, Times, chosen_device, prepared
from drivers.search_options import (
    add_algorithm_options,
    add_experiment_options,
    add_parallel_options,
    add_search_options,
    add_stop_options,
    chosen_algorithm,
    chosen_stop,
    chosen_tuner,
    keep_shape,
    settle,
)


class Workload(NamedTuple):
    """What one driver runs.

    Attributes
    ----------
    name : str
        Of the driver and in records.
    load : callable
        From options to the problem and, in words, where its instance came from; imports what it needs.
    instance : str or None
        What runs without options; None: `load` chooses.
    generator : str
        An instance that needs no file, for the help.
    algorithm, neighbourhood : str
        What runs without options.
    add_options : callable, optional
        Adds the problem's own options to a parser's group.
    parameters : tuple of str
        Those among them that decide the work.
    save : callable, optional
        From options, problem and best solution: writes the files that those options ask for.
    shown : callable
        From a cost to text.
    optimum : str
        What a problem's ``optimum`` is called.

    """

    name: str
    load: Callable[[argparse.Namespace], tuple[Any, str]]
    instance: str | None
    generator: str
    algorithm: str
    neighbourhood: str
    add_options: Callable[[Any], None] | None = None
    parameters: tuple[str, ...] = ()
    save: Callable[[argparse.Namespace, Any, Any], None] | None = None
    shown: Callable[[int], str] = str
    optimum: str = "optimum"


def run(workload: Workload, description: str | None, argv: Sequence[str] | None) -> int:
    """Run a driver; returns the exit code."""
    options = parse(workload, description, argv)
    from drivers.automatic import gpus_here

    ranks = agreed_ranks(f"python -m drivers.{workload.name}", options)
    settle(options, workload.instance, ranks.size)
    problem, source = ranks.bcast(load(workload, options) if ranks.rank == 0 else None)
    gpus = gpus_here() if options.backend == "auto" else 0
    leads = ranks.local_rank in (0, gpus)
    search = prepared(ranks, lambda known: build(options, ranks, problem, gpus, known), leads)
    try:
        searches = Searches(workload, options, ranks, problem, source, search)
        if ranks.rank == 0:
            searches.show_search()
        searches.repeat()
    finally:
        search.backend.close()
    return 0


def parse(workload: Workload, description: str | None, argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    from cluster.command_line import RankParser

    parser = RankParser(
        prog=f"python -m drivers.{workload.name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common_options(parser, backend="auto", generator=workload.generator, chosen=workload.instance or AT_HAND)
    add_search_options(parser, workload.algorithm, workload.neighbourhood)
    add_algorithm_options(parser)
    add_stop_options(parser)
    add_parallel_options(parser)
    add_experiment_options(parser)
    results = parser.add_argument_group("results and problem")
    results.add_argument("--solution", metavar="FILE", help="save the best solution, a number per line")
    if workload.add_options:
        workload.add_options(results)
    return parser.parse_args(argv)


# --- from options to a search ---


def load(workload: Workload, options: argparse.Namespace) -> tuple[Any, str]:
    """The problem, after a look at the options that fit no problem, and where its instance came from."""
    chosen_algorithm(options)
    chosen_stop(options).check()
    if options.record and options.seconds is not None and options.repeats > 1:
        from core.errors import UserError

        raise UserError(
            f"--record with --seconds and --repeats {options.repeats}: the clock ends every repetition elsewhere, and "
            "those of a record do equal work; expected --iterations, --target or --patience instead of --seconds"
        )
    return workload.load(options)


def build(options: argparse.Namespace, ranks: Any, problem: Any, gpus: int, known: dict[str, str]) -> Any:
    """The search on this rank's device, compiled and warm, without a word to other ranks."""
    from cluster.timed import Rehearsal, Timed
    from core.search.local_search import LocalSearch
    from drivers.automatic import automatic_device

    backend = automatic_device(options, ranks, gpus) if options.backend == "auto" else chosen_device(options, ranks)
    backend.known = dict(known)
    search = LocalSearch(
        backend,
        Rehearsal(ranks),
        problem,
        chosen_algorithm(options),
        options.neighbourhood.split(","),
        evaluation=options.evaluation,
        level=options.level,
        walks=options.walks,
        exchange=options.exchange,
        seed=options.seed,
        generate=options.generate,
        select=options.select,
        tune=chosen_tuner(options, backend),
        tables=options.tables,
    )
    search.warm_up()
    search.communicator = Timed(ranks)
    return search


# --- running ---


class Searches(Repetitions):
    """Repetitions of one search."""

    hash_covers = "moves"
    doing = "searching"

    def __init__(
        self, workload: Workload, options: argparse.Namespace, ranks: Any, problem: Any, source: str, search: Any
    ) -> None:
        super().__init__(options, ranks, problem, search)
        self.described = workload
        self.workload = workload.name
        self.source = source
        self.stop = chosen_stop(options)
        self.talking: list[float] = []

    @property
    def parameters(self) -> dict[str, Any]:
        """See `Repetitions`."""
        from core.search.local_search import Stop

        limits = {name: value for name, value in self.stop._asdict().items() if value != Stop._field_defaults[name]}
        own = {name: getattr(self.options, name) for name in self.described.parameters}
        return {**self.search.parameters, **limits, **own}

    @property
    def ways(self) -> dict[str, Any]:
        """See `Repetitions`."""
        return {**self.search.ways, "threads": self.options.threads}

    @property
    def units(self) -> int | None:
        """Iterations of a walk."""
        return self.options.iterations

    def run(self, advance: Callable[[int], None] | None) -> Any:
        """Search once, and find out which part of its time each rank spent in communication."""
        from core.search.local_search import Unconfirmed

        communicator = self.search.communicator
        communicator.reset()
        began = time.perf_counter()
        try:
            outcome = self.search.run(self.stop, advance=advance)
        except Unconfirmed as error:
            outcome = error.outcome  # `check` scores it again, and the run says so
        share = communicator.seconds / (time.perf_counter() - began) if self.ranks.size > 1 else 0.0
        self.talking = self.ranks.gather(share) or []
        keep_shape(self.search)
        return outcome

    def check(self, outcome: Any) -> tuple[Any, bool]:
        """Score the best solution from scratch."""
        difference = self.instance.cost(outcome.solution) - outcome.cost
        return outcome.solution, abs(difference) <= self.instance.tolerance()

    @property
    def talking_share(self) -> float:
        """Mean over ranks of the part of its time that a rank spent in communication, waiting included."""
        return sum(self.talking) / len(self.talking)

    # --- results ---

    def show_search(self) -> None:
        """One line on standard output: what runs, and on what."""
        search, ranks = self.search, self.ranks
        moves = ", ".join(
            f"{one.name} ({size} neighbours)" for one, size in zip(search.neighbourhoods, search.sizes, strict=True)
        )
        walks = f", {search.walks} walks" if search.walks > 1 else ""
        where = f"{search.backend.name} ({search.backend.device.name})"
        print(
            f"{self.instance.name}: {search.algorithm.name}, {moves}{walks}, evaluation {search.evaluation_name}, on "
            + (f"{ranks.size} ranks, the first: {where}" if ranks.size > 1 else where),
            flush=True,
        )

    def show(self, outcome: Any, times: Times, scored: bool) -> None:
        """One line on standard output."""
        host_s = max(0.0, times.running_s - times.transfer_s - times.kernel_s)
        print(
            f"{self.instance.name}: best cost {self.described.shown(outcome.cost)}{self.gap(outcome.cost)} "
            f"in iteration {outcome.found_at} of walk {outcome.walk}, {outcome.iterations} iterations, "
            f"{times.running_s:.3f} s (compile {times.compile_s:.3f}, transfer {times.transfer_s:.3f}, "
            f"kernel {times.kernel_s:.3f}, host {host_s:.3f}; {100 * self.talking_share:.1f} % in communication), "
            f"{outcome.evaluations / times.running_s / 1e6:.3f} M evaluations/s, {self.hashed(outcome.digest)}, "
            + ("confirmed by the scorer" if scored else "NOT CONFIRMED by the scorer"),
            flush=True,
        )

    def gap(self, cost: int) -> str:
        """How far a cost is from the optimum or the best known value, in brackets."""
        best, name = self.instance.optimum, self.described.optimum
        if best is None:
            return ""
        if cost == best:
            return f" (the {name})"
        if best == 0:
            return f" (the {name} is 0)"
        return f" ({100 * (cost - best) / abs(best):.2f} % {'above' if cost > best else 'below'} the {name} {best})"

    def save(self, solution: Any) -> None:
        """The best solution as --solution and the problem's own options say."""
        if self.options.solution:
            from core.errors import UserError

            try:
                with open(self.options.solution, "w", encoding="ascii") as file:
                    file.writelines(f"{element}\n" for element in solution.tolist())
            except OSError as error:
                raise UserError(f"--solution {self.options.solution}: cannot write there: {error.strerror}") from None
        if self.described.save:
            self.described.save(self.options, self.instance, solution)

    def result(self, outcome: Any, times: Times) -> dict[str, Any]:
        """See `Repetitions`."""
        search = self.search
        return {
            "best_cost": outcome.cost,
            "best_index": outcome.walk,
            "evaluations": outcome.evaluations,
            "trajectory_hash": f"{outcome.digest:016x}",
            "details": {
                "size": self.instance.encoding.n,
                "optimum": self.instance.optimum,
                "instance_source": self.source,
                "scorer_tolerance": self.instance.tolerance(),
                "neighbours": search.sizes,
                "evaluations_per_step": "the neighbours that a sequential search looks at",
                "evaluations_per_second": outcome.evaluations / times.running_s,
                "communication_share": self.talking_share,
                "iterations": outcome.iterations,
                "found_at": outcome.found_at,
                "teams": search.walk_teams if search.in_one_team else search.teams,
                "team_size": search.team_size,
                "step_team_size": search.step_size,
            },
        }
