"""Options of local search: what the drivers of all its problems understand, and what the engine makes of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from drivers.options import natural, number, positive

ITERATIONS = 10_000
"""What ends a search that nobody limits."""

FIRST_RUN = {"walks": 64, "seconds": 5.0}
"""What runs if no option says what to do: a core, all cores, a GPU and 64 ranks are all busy with so many walks."""
DECIDING = ("instance", "record", "level", "walks", "exchange", "iterations", "seconds", "target", "patience")
"""Options that say what to do."""

ALGORITHMS = {
    "hill": (),
    "first": (),
    "tabu": ("tenure", "tenure_span", "remember"),
    "ils": ("strength",),
    "vns": ("strength",),
    "annealing": ("temperature", "cooling", "plateau", "batch"),
}
"""Names for `--algorithm`, and the options that each has for itself."""


def add_search_options(parser: argparse.ArgumentParser, algorithm: str, neighbourhood: str) -> None:
    """Add what is searched, and how; with the workload's defaults."""
    group = parser.add_argument_group("search")
    group.add_argument("--algorithm", choices=tuple(ALGORITHMS), default=algorithm, help="(%(default)s)")
    group.add_argument(
        "--neighbourhood",
        default=neighbourhood,
        metavar="NAME",
        help="its moves (%(default)s); a descent takes up to three, as in flip1,flip2",
    )
    group.add_argument(
        "--evaluation", default="auto", metavar="NAME", help="how neighbours are evaluated; auto: the fastest way"
    )


def add_algorithm_options(parser: argparse.ArgumentParser) -> None:
    """Add what only some algorithms have; all default to None, so that one that is given can be told."""
    group = parser.add_argument_group("tabu")
    group.add_argument("--tenure", type=natural, metavar="T", help="iterations that a move stays forbidden")
    group.add_argument("--tenure-span", type=natural, metavar="D", help="up to so many more, drawn at random")
    group.add_argument(
        "--remember", choices=("auto", "attributes", "moves"), help="what is forbidden (auto: attributes if there are)"
    )
    group = parser.add_argument_group("ils, vns")
    group.add_argument("--strength", type=positive, metavar="K", help="random moves (at most) that shake an optimum")
    group = parser.add_argument_group("annealing")
    group.add_argument("--temperature", type=number, metavar="T", help="of the start (0: from random moves)")
    group.add_argument("--cooling", type=number, metavar="C", help="factor after each plateau")
    group.add_argument("--plateau", type=positive, metavar="P", help="draws at one temperature")
    group.add_argument("--batch", type=positive, metavar="B", help="draws looked at side by side; same trajectory")


def add_stop_options(parser: argparse.ArgumentParser) -> None:
    """Add the stop criteria."""
    group = parser.add_argument_group("stop", "the first that holds ends the search")
    group.add_argument(
        "--iterations",
        type=positive,
        metavar="N",
        help=f"of a walk (default: {ITERATIONS}, or unlimited with --seconds)",
    )
    group.add_argument(
        "--seconds",
        type=number,
        metavar="S",
        help="wall-clock time; ends every run at another iteration",
    )
    group.add_argument("--target", type=int, metavar="COST", help="a cost that is good enough")
    group.add_argument("--patience", type=positive, metavar="N", help="iterations without a better solution")


def add_parallel_options(parser: argparse.ArgumentParser) -> None:
    """Add how the work is spread."""
    group = parser.add_argument_group("parallel model")
    group.add_argument(
        "--level",
        choices=("iteration", "algorithm", "solution"),
        help="share out one walk's neighbourhood, or walks, or every neighbour's evaluation too "
        "(default: iteration for one walk, algorithm for several)",
    )
    group.add_argument(
        "--walks",
        type=positive,
        metavar="W",
        help=f"over all ranks (default: 1; if no option says what to do, {FIRST_RUN['walks']} for "
        f"{FIRST_RUN['seconds']:g} seconds)",
    )
    group.add_argument(
        "--exchange", type=natural, metavar="K", help="every K iterations all walks go on from the best of them"
    )


def add_experiment_options(parser: argparse.ArgumentParser) -> None:
    """Add what the paper's experiments vary; the trajectory stays the same."""
    group = parser.add_argument_group("experiments of the paper", "same trajectory, other times")
    group.add_argument(
        "--generate", choices=("device", "host"), default="device", help="who lists the neighbours (section 6.6)"
    )
    group.add_argument(
        "--select",
        choices=("device", "host"),
        help="who takes one: reduce on the device, or copy all differences (section 6.7; default: as --generate)",
    )
    group.add_argument(
        "--threads",
        choices=("fixed", "tuned"),
        default="fixed",
        help="shape of the launches: from the sizes, or tried during the first iterations (algorithm 3, section 6.5)",
    )
    group.add_argument(
        "--tables",
        choices=("global", "readonly", "shared", "image"),
        default="global",
        help="memory in which the problem's data lie (section 5; images exist in OpenCL only)",
    )


# --- what is made of them ---


def settle(options: argparse.Namespace, instance: str | None, size: int) -> None:
    """Fill in what the command line left open, in place, for so many ranks."""
    if all(getattr(options, name) is None for name in DECIDING):
        options.walks = max(FIRST_RUN["walks"], size)
        options.seconds = FIRST_RUN["seconds"]
    options.instance = options.instance or instance
    options.walks = options.walks or 1
    options.exchange = options.exchange or 0
    options.select = options.select or options.generate
    options.level = options.level or ("iteration" if options.walks == 1 else "algorithm")
    if options.iterations is None and options.seconds is None:
        options.iterations = ITERATIONS


def chosen_algorithm(options: argparse.Namespace) -> Any:
    """The algorithm with its parameters.

    Raises
    ------
    UserError
        An option of another algorithm is given, or a parameter is out of range.

    """
    from core.errors import UserError
    from core.search import local_search

    given = {}
    for name in dict.fromkeys(one for names in ALGORITHMS.values() for one in names):
        value = getattr(options, name)
        if value is None:
            continue
        if name not in ALGORITHMS[options.algorithm]:
            owners = [algorithm for algorithm, names in ALGORITHMS.items() if name in names]
            flag = "--" + name.replace("_", "-")
            raise UserError(f"{flag} with --algorithm {options.algorithm}: expected with {' or '.join(owners)}")
        given[name] = value
    makers: dict[str, Callable[..., Any]] = {
        "hill": local_search.HillClimbing,
        "first": lambda: local_search.HillClimbing(first=True),
        "tabu": local_search.TabuSearch,
        "ils": local_search.IteratedLocalSearch,
        "vns": local_search.VariableNeighbourhoodSearch,
        "annealing": local_search.SimulatedAnnealing,
    }
    return makers[options.algorithm](**given)


def chosen_tuner(options: argparse.Namespace, backend: Any) -> Callable[[Any, int, int], Any] | None:
    """What tries shapes of launches on this device, if anything shall; it knows what an earlier run has found."""
    if options.threads == "fixed":
        return None
    from backends.tuning import Key, Tuner, remembered

    def tune(kernel: Any, solution_size: int, neighbourhood_size: int) -> Tuner:
        known = remembered(Key.of(backend, kernel, solution_size, neighbourhood_size))
        return Tuner(backend.capabilities, solution_size, neighbourhood_size, known=known)

    return tune


def keep_shape(search: Any) -> None:
    """Remember the shape that a search's tuner has found, if it had one and is done."""
    if search.tuner is None or not search.tuner.done:
        return
    from backends.tuning import Key, remember

    key = Key.of(search.backend, search.kernels.scan, search.problem.encoding.n, max(search.sizes))
    remember(key, search.tuner.best)


def chosen_stop(options: argparse.Namespace) -> Any:
    """The stop criteria, combined."""
    from core.search.local_search import Iterations, NoImprovement, Seconds, Stop, Target

    stop = Stop()
    for name, make in (
        ("iterations", Iterations),
        ("seconds", Seconds),
        ("target", Target),
        ("patience", NoImprovement),
    ):
        value = getattr(options, name)
        if value is not None:
            stop |= make(value)
    return stop
