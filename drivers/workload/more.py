"""Commands of the problems in `core.problems.more`: one row of data each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from importlib import import_module
from typing import Any, NamedTuple

from drivers.options.declaration import instance_option, option
from drivers.options.local_search import RESULTS, SearchOptions, algorithm_option, neighbourhood_option
from drivers.options.values import NAME, positive
from drivers.workload.declaration import Workload
from drivers.workload.local_search import local_search

WALKS = "64"
"""Default number of walks: enough for all cores and for a GPU."""


class MoreProblem(NamedTuple):
    """Command of one problem.

    Attributes
    ----------
    title : str
        Title for lists of programs.
    load : callable
        Map options to the problem and to a text that names the source of the instance.
    default : str
        Default instance.
    instance : str or Field
        Generator that the help of `--instance` shows, or the declaration of `--instance`.
    neighbourhood : str
        Default neighbourhood.
    iterations : int
        Iterations of a walk on an instance of size `usual_size`: about a second of one core's work.
    usual_size : int
    size : callable
        Map a problem to its work in an iteration, in the unit of `usual_size`.
    speed : callable
        Map a problem to the neighbours that a core evaluates in a second.
    algorithm : str
        Default algorithm.
    best_known : str
        Name of the problem's ``optimum`` in results.
    options : mapping
        The command's own options by name: type and declaration.

    """

    title: str
    load: Callable[[Any], tuple[Any, str]]
    default: str
    instance: Any
    neighbourhood: str
    iterations: int
    usual_size: int
    size: Callable[[Any], int]
    speed: Callable[[Any], float]
    algorithm: str = "tabu"
    best_known: str = "optimum"
    options: Mapping[str, tuple[Any, Any]] = {}


def loader(problem: str, *, files: bool = True) -> Callable[[Any], tuple[Any, str]]:
    """Return the function that loads a problem, given its ``module.Class`` in `core.problems.more`.

    ``files`` is True if instances can be files in the folder `--data`.
    """

    def load(options: Any) -> tuple[Any, str]:
        module, _, name = problem.rpartition(".")
        make = getattr(import_module(f"core.problems.more.{module}"), name)
        loaded = make(options.instance, options.data) if files else make(options.instance)
        return loaded, loaded.instance.source

    return load


def load_labs(options: Any) -> tuple[Any, str]:
    """Load LABS by its number of signs."""
    from core.problems.more.labs.problem import Labs

    return Labs(options.instance), "the number of its signs"


def load_graph(options: Any) -> tuple[Any, str]:
    """Load max-cut or max-k-cut, by `--parts`.

    Raises
    ------
    UserError
        The instance asks for another number of parts.

    """
    from core.errors import UserError
    from core.problems.more.max_cut import graphs

    graph = graphs.load(options.instance, options.data, k=options.parts)
    if graph.k != options.parts:
        raise UserError(f"--parts {options.parts} for {graph.name}: expected {graph.k}, as the instance says")
    if graph.k == 2:
        from core.problems.more.max_cut.problem import MaxCut

        return MaxCut(graph), graph.source
    from core.problems.more.max_cut.k_cut import MaxKCut

    return MaxKCut(graph), graph.source


PROBLEMS = {
    "labs": MoreProblem(
        "local search for low autocorrelation binary sequences",
        load_labs,
        default="40",
        instance=option(None, "how many signs (default: 40)", NAME, "N"),
        neighbourhood="flip1",
        iterations=2_500,
        usual_size=40**2,
        size=lambda problem: problem.encoding.n**2,
        speed=lambda problem: 5e8 / problem.encoding.n,
    ),
    "maxsat": MoreProblem(
        "local search for MAX-SAT, clauses to be satisfied",
        loader("max_sat.problem.MaxSat"),
        default="random:250:ratio=5:seed=1",
        instance="random:50:ratio=4.2:seed=1",
        neighbourhood="flip1",
        iterations=1_000,
        usual_size=3_750,
        size=lambda problem: len(problem.instance.literals),
        speed=lambda problem: 3e8 * problem.encoding.n / len(problem.instance.literals),
    ),
    "maxcut": MoreProblem(
        "local search for max-cut, in two parts or more",
        load_graph,
        default="random:400:density=0.1:weights=1..1",
        instance="random:100:density=0.1",
        neighbourhood="auto",
        iterations=10_000,
        usual_size=400,
        size=lambda problem: problem.encoding.n * (problem.encoding.choices - 1),
        speed=lambda problem: 5e8,
        best_known="best known",
        options={"parts": (int, option(2, "how many (%(default)s)", positive, "K", group=RESULTS, decides="work"))},
    ),
    "flowshop": MoreProblem(
        "local search for the permutation flow shop",
        loader("flow_shop.problem.FlowShop", files=False),
        default="ta021",
        instance=option(
            None,
            "one of Taillard's, ta001 to ta120, or a generator, taillard:30:10:seed=7 (default: ta021)",
            type=NAME,
            metavar="NAME",
        ),
        neighbourhood="insert",
        iterations=250,
        usual_size=20 * 20 * 20**2,
        size=lambda problem: problem.instance.times.size * problem.instance.jobs**2,
        speed=lambda problem: 5e8 / problem.instance.times.size,
        algorithm="ils",
    ),
    "linearordering": MoreProblem(
        "local search for the linear ordering problem",
        loader("linear_ordering.problem.LinearOrdering"),
        default="random:100:seed=1",
        instance="random:40:seed=1",
        neighbourhood="insert",
        iterations=600,
        usual_size=100**2,
        size=lambda problem: problem.encoding.n**2,
        speed=lambda problem: 3e8,
    ),
}
"""All rows, by the name of the command."""


def more_problem(name: str) -> Workload[SearchOptions]:
    """Return the workload of a row."""
    row = PROBLEMS[name]

    def fitted(problem: Any) -> tuple[str, ...]:
        iterations = max(1, row.iterations * row.usual_size // row.size(problem))
        return ("--walks", WALKS, "--iterations", str(iterations))

    return local_search(
        name,
        row.title,
        options_class(name, row),
        load=row.load,
        chosen=row.default,
        standard=("--walks", WALKS, "--iterations", str(row.iterations)),
        fitted=fitted,
        best_known=row.best_known,
        speed=row.speed,
    )


def options_class(name: str, row: MoreProblem) -> type[SearchOptions]:
    """Return the class of a command's options: those of local search with the row's defaults, and the row's own."""
    instance = instance_option(row.instance, row.default) if isinstance(row.instance, str) else row.instance
    declared = {
        "instance": (str | None, instance),
        "algorithm": (str, algorithm_option(row.algorithm)),
        "neighbourhood": (str, neighbourhood_option(row.neighbourhood)),
        **row.options,
    }
    fields = [(field, kind, default) for field, (kind, default) in declared.items()]
    return make_dataclass(f"{name.capitalize()}Options", fields, bases=(SearchOptions,), frozen=True)
