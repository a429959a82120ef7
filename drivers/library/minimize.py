"""Runs from Python: `minimize` searches a problem, `run` runs any workload; both return what they found.

They are the programs' own runs (`drivers.runs.workload_main`), with the same devices, judges and records, of which
nothing is printed. Over MPI ranks every rank calls the same, and all are given what the first rank has.

These runs are watched, so that Ctrl-C can end them: hill climbing and exact search launch smaller parts than a program
that shows no bar. Times to compare are those of programs, which `drivers.library.comparison.compare` runs.
"""

from __future__ import annotations

import argparse
import difflib
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from core.arguments import flag, function, path, sequence, text
from core.errors import UserError
from core.problems.encodings import Neighbourhood
from core.problems.problem import Problem, checked_problem
from core.renamed_options import renamed_keyword, renamed_value
from core.search.local_search import Algorithm, TabuSearch, Unconfirmed
from core.search.local_search.algorithms import checked_algorithm
from core.search.local_search.plan import as_list
from core.search.protocol import Callback, Progress
from drivers.cli.interrupts import repeat_dropped_interrupts
from drivers.library.custom_problem import declare_workload
from drivers.library.interrupt_handling import deferred_interrupt
from drivers.library.results import Result, Results
from drivers.options.declaration import OptionDeclaration, Options, seeds
from drivers.options.local_search import ALGORITHMS, SearchOptions
from drivers.options.output_files import OutputFile
from drivers.runs.checkpointing import RecoveryState
from drivers.runs.repetitions import RepetitionMeasurement, Repetitions
from drivers.runs.workload_main import prepare_repetitions, start_ranks
from drivers.workload.declaration import RepetitionResult as Found
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload
from reports.records.iohprofiler import MAXIMISED


def minimize(
    problem: Problem,
    algorithm: Algorithm | None = None,
    neighbourhood: str | Neighbourhood | Sequence[str | Neighbourhood] = "auto",
    *,
    callback: Callback | None = None,
    **options: Any,
) -> Result | Results:
    """Search for a cheap solution of a problem by local search.

    Parameters
    ----------
    problem
        See `core.problems.problem.Problem`.
    algorithm
        By default tabu search.
    neighbourhood
        One, by its name or itself, or up to three that a descent tries one after another; by default the problem's
        first.
    callback
        Is told of the progress a few times a second; if it returns True, the best so far is returned.
    **options
        Those of ``python -m drivers.qap`` by name, with underscores: ``backend="threads"``, ``device``, ``iterations``,
        ``seconds``, ``target``, ``patience``, ``seed``, ``seeds`` (several integers), ``walks``, ``exchange``,
        ``history=True``, ``record="runs.jsonl"``, ``progress``, ... Without any that limits the work, 64 walks of some
        seconds of one core's work.

    Returns
    -------
    Result or Results
        What was found; of several seeds all results, whose `cost` and `solution` are the best.

    Raises
    ------
    UserError
        An option that there is not or whose value is wrong, a device that is not here, or a problem whose functions are
        wrong.
    Unconfirmed
        The scorer finds another cost for the best solution than the search does. The error holds the solution and
        both costs. A record keeps the run as one that is not confirmed; of several seeds no further one runs.

    """
    checked_problem(problem)
    names = ",".join(one if isinstance(one, str) else one.name for one in as_list(neighbourhood))
    chosen = TabuSearch() if algorithm is None else checked_algorithm(algorithm)
    given = {**options_of_algorithm(chosen), "neighbourhood": names, **options}
    return run_workload(declare_workload(problem, ()), given, callback)


def run(workload: str, *, callback: Callback | None = None, **options: Any) -> Result | Results:
    """Run any workload of the suite: ``run("ihc", instance="kroE100", climbers=100_000, backend="threads")``.

    Parameters
    ----------
    workload
        Its name, as ``python -m drivers`` lists them.
    callback
        See `minimize`.
    **options
        Those of its program by name, with underscores.

    Returns
    -------
    Result or Results
        As `minimize`.

    Raises
    ------
    UserError
        No such workload; else as `minimize`.
    Unconfirmed
        See `minimize`.

    """
    text("workload", workload, f"one of {', '.join(NAMES)}")
    return run_workload(get_workload(workload), options, callback)


def run_workload(workload: Workload[Any], given: dict[str, Any], callback: Callback | None) -> Result | Results:
    """Run a workload with options by name, once for each seed."""
    from cluster import default_communicator
    from cluster.mpi.fault_tolerance import rerun_on_survivors

    own = read_named_options(workload, given)
    function("callback", callback)
    ranks = default_communicator()
    with RecoveryState() as memory, repeat_dropped_interrupts():

        def attempt() -> list[Result]:
            timed, runs = start_ranks(workload, own, ranks, memory), []
            for seed in own.seeds or (own.seed,):
                one = replace(own, seed=seed, seeds=None)
                with prepare_repetitions(workload, one, timed, (), CollectedRepetitions, memory) as repetitions:
                    repetitions.callback = callback
                    repetitions.repeat()
                    found, contradicted = timed.bcast((repetitions.found, repetitions.unconfirmed))
                if contradicted is not None:
                    raise contradicted
                runs += found
                if runs[-1].interrupted:
                    break
            return runs

        runs = rerun_on_survivors(ranks, attempt)
    return runs[0] if own.seeds is None and own.repeats == 1 else Results(runs)


def options_of_algorithm(algorithm: Algorithm) -> dict[str, Any]:
    """The options that make an algorithm, by name; what its maker would choose is left out.

    Raises
    ------
    UserError
        No options make it.

    """
    usual = SearchOptions(algorithm=algorithm.name).chosen_algorithm()
    own = {name: getattr(algorithm, name) for name in ALGORITHMS[algorithm.name]}
    said = {name: value for name, value in own.items() if value != getattr(usual, name)}
    if SearchOptions(algorithm=algorithm.name, **said).chosen_algorithm() != algorithm:
        raise UserError(f"{algorithm}: no options describe it: expected best improvement with {algorithm.name}")
    return {"algorithm": algorithm.name, **said}


def read_named_options(workload: Workload[Any], given: dict[str, Any]) -> Options:
    """The options of a workload from their names and values.

    Raises
    ------
    UserError
        A name that no option has, or a value that it does not take.

    """
    declared = {one.name: (one.default, about) for one, about in workload.options.declared()}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in declared:
            new = renamed_keyword(name, declared)
            if new is not None:
                raise UserError(f"{name}: renamed, expected {new}")
            near = difflib.get_close_matches(name, declared, 1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise UserError(f"{name}={value!r}{meant}: found no such option of {workload.name}")
        default, about = declared[name]
        values[name] = None if value is None and default is None else read_value(name, about, value)
    if "seed" in values and values.get("seeds") is not None:
        raise UserError(f"seed={values['seed']} and seeds: expected one of them")
    chosen: Options = workload.options(**values)
    return chosen


def read_value(name: str, declared: OptionDeclaration, value: Any) -> Any:
    """A value as an option keeps it, read from the text that says the same on a command line.

    Raises
    ------
    UserError
        The option does not take it.

    """
    if declared.read is bool:
        return flag(name, value)
    if declared.read is OutputFile:
        return OutputFile(path(name, value))
    said = value
    if declared.read is seeds and not isinstance(value, str):
        said = ",".join(map(str, sequence(name, value, "several integers, such as range(10)")))
    as_tuple = declared.nargs is not None and not isinstance(value, str) and isinstance(value, Iterable)
    try:
        read = tuple(map(declared.read, map(str, value))) if as_tuple else declared.read(str(said))
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise UserError(f"{name}={reprlib.repr(value)}: {error}") from None
    if declared.choices and read not in declared.choices:
        new = renamed_value(name, read, declared.choices)
        if new is not None:
            raise UserError(f"{name}={value!r}: renamed, expected {new!r}")
        raise UserError(f"{name}={value!r}: expected one of {', '.join(declared.choices)}")
    return read


class CollectedRepetitions(Repetitions):
    """Repetitions whose results are kept and not shown; they run whatever a record holds of them already.

    Attributes
    ----------
    found : list of Result
        On the first rank.
    unconfirmed : Unconfirmed or None
        The error to raise for the first contradicted repetition; on the first rank.
    callback : callable, optional
        See `minimize`.

    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.found: list[Result] = []
        self.unconfirmed: Unconfirmed | None = None
        self.callback: Callback | None = None
        self.ended = False

    def begin(self, done: int) -> None:
        """Say nothing."""

    def recorded(self) -> tuple[str, int]:
        """The run's identity, and that nothing was done of it: a record holds no solution."""
        return super().recorded()[0], 0

    def remembered(self) -> int:
        """None: what was found before ranks were lost may have been found by one of them."""
        return 0

    def searched(self, callback: Callback | None) -> Any:
        """Search once, until Ctrl-C or the user's callback ends it."""
        with deferred_interrupt() as interrupt:

            def told(progress: Progress) -> bool:
                for one in filter(None, (callback, self.callback)):
                    self.ended |= one(progress) is True
                self.ended |= interrupt.heard
                return self.ended

            return super().searched(told)

    def show(self, result: Found, spent: RepetitionMeasurement, confirmed: bool | None, verdict: str) -> None:
        """Keep the result."""
        backend, outcome = self.run.search.backend, result.solution
        solution = getattr(outcome, "solution", outcome)
        self.found.append(
            found := Result(
                name=self.run.problem.name,
                cost=result.cost,
                solution=solution,
                evaluations=result.evaluations,
                seconds=spent.times.running_s,
                compile_seconds=spent.times.compile_s,
                confirmed=confirmed,
                hash=result.hash,
                history=result.history,
                seed=self.options.seed,
                backend=backend.name,
                device=backend.device.name,
                ranks=self.ranks.size,
                unit=self.unit_of(result),
                optimum=getattr(self.run.problem, "optimum", None),
                is_value=self.workload.name in MAXIMISED,
                interrupted=self.ended,
                words=self.in_words(result, spent, verdict),
            )
        )
        if confirmed is False and self.unconfirmed is None:
            self.unconfirmed = self.contradiction(found)

    def contradiction(self, found: Result) -> Unconfirmed:
        """The error for a result that one of the last opinions contradicts."""
        cost = next((one.cost for one in self.opinions if one.objection and one.cost is not None), None)
        searched = getattr(self.run.search, "searched", None)
        if searched is not None and cost is not None:
            return Unconfirmed(searched, found, cost)
        objections = "; ".join(one.objection for one in self.opinions if one.objection)
        return Unconfirmed(f"{found.name}, {self.workload.name}", found, cost, objections)

    def end(self, done: int, identity: str) -> None:
        """Put the record's lines of this run together."""
        if identity:
            from reports.records.files import merge_lines

            merge_lines(self.options.record, identity)
