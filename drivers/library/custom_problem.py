"""User-defined problem as a workload: `main` makes a complete program from a class.

python myproblem.py --n 31 --backend threads --seeds 0..9     the constructor's parameters are options
python myproblem.py --check                                   try its functions, here, on every backend
python myproblem.py compare --ranks 2 4                       every device here: equal work, a report and a chart
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

from core.arguments import checked_call, refuse, sequence, text
from core.errors import UserError
from core.local_search.problem import Problem, checked_problem
from drivers.cli.exit_codes import DONE, run_driver
from drivers.options.declaration import CHECKS, DeclaredOption, OptionEffect, OptionGroup, option_flag
from drivers.options.local_search import SearchOptions
from drivers.options.values import FLAG, INTEGER, PATH, REAL, TEXT, ValueType
from drivers.workload.local_search import LocalSearchWorkload
from drivers.workload.registry import NAMES

PROBLEM_GROUP = OptionGroup("the problem", "parameters of its constructor")
EXCLUDED_OPTIONS = ("instance", "data", "peers", "best_core_of")
"""Options of the project's workloads that a problem has only if its constructor has such a parameter."""
WORKLOAD_NAMES = {"TspTour": "tsp"}
"""Workloads with other names than their problem's class."""
COMPARISON_STEPS = 200_000_000
"""Approximate number of solution elements that a comparison reads by default."""
COMPARISON_WALKS = 64

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ProblemFactory = Callable[..., Problem]


@dataclass(frozen=True)
class CustomProblemOptions(SearchOptions):
    """Options of local search on any problem; `declare_options` adds parameters of a problem's constructor."""

    neighbourhood: str = "auto"
    check: bool = CHECKS.option(
        False, "check the problem's functions, in plain Python and on every backend here, and exit", bool
    )
    made_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @cache
    def declared(cls) -> tuple[DeclaredOption, ...]:
        """Return all options with their declarations, without those that mean nothing to this problem."""
        excluded = {*EXCLUDED_OPTIONS} - {*cls.made_of}
        return tuple(one for one in super().declared() if one[0].name not in excluded)


@checked_call
def main(problem: ProblemFactory | Problem, argv: Sequence[str] | None = None) -> None:
    """Run the program of a problem: the last line of its file, without effect if the file is imported.

    Parameters
    ----------
    problem
        The class; its constructor's parameters become options by name, type and default. Or a function that makes
        the problem, or the problem itself.
    argv
        The command line; None: that of the process.

    Raises
    ------
    SystemExit
        Always, with the program's exit code: 0 done, 1 a rejected result, 2 a user error.
    """
    # Processes that a program starts import its file without `__main__`.
    if sys._getframe(2).f_globals.get("__name__") == "__main__":  # 1 is the check of the call
        words = sys.argv[1:] if argv is None else argv
        sys.exit(run_driver(lambda words: run_program(checked_factory(problem), start_command(), words), words))


def start_command() -> tuple[str, ...]:
    """Return Python's arguments for this program: a file, or a module by `-m`."""
    specification = getattr(sys.modules["__main__"], "__spec__", None)
    return ("-m", specification.name) if specification else (sys.argv[0],)


def run_program(problem: ProblemFactory | Problem, started: tuple[str, ...], argv: Sequence[str] | None) -> int:
    words = [text("argv", one) for one in sequence("argv", argv or (), "a list of texts")]
    workload = declare_workload(problem, started)
    if words[:1] == ["compare"]:
        from drivers.experiments.presets import compare

        return compare.main(words[1:], workload)
    from drivers.runs import workload_main

    description = inspect.getdoc(problem) or "Local search on a user-defined problem."
    options = workload_main.parse_options(workload, description, words)
    assert isinstance(options, CustomProblemOptions)
    if not options.check:
        return workload_main.start(workload, options, words)
    from drivers.library.validation import check

    backend = None if options.backend == "auto" else options.backend
    print(check(workload.load(options, 1).problem, backend=backend, seed=options.seed))
    return DONE


def checked_factory(problem: object) -> ProblemFactory | Problem:
    """Return an argument of `main`. Raises `UserError` if it makes no problem."""
    is_made = isinstance(problem, Problem)
    makes = issubclass(problem, Problem) if isinstance(problem, type) else callable(problem)
    if not (is_made or makes):
        refuse("problem", problem, "a class of problems, a function that makes a problem, or a problem")
    return problem  # type: ignore[return-value]


# --- the declaration ---


def declare_workload(problem: ProblemFactory | Problem, started: tuple[str, ...]) -> CustomProblemWorkload:
    """Declare local search on a problem; see `main`. ``started`` are Python's arguments for this workload.

    Raises `UserError` if a parameter of the constructor cannot be an option.
    """
    options = CustomProblemOptions if isinstance(problem, Problem) else declare_options(problem)
    return CustomProblemWorkload(problem, options, started)


@dataclass(frozen=True, eq=False)
class CustomProblemWorkload(LocalSearchWorkload):
    """Local search on a user-defined problem, or on the one that a class or function makes of the options."""

    problem: Problem | ProblemFactory
    options: type[CustomProblemOptions] = CustomProblemOptions
    program: tuple[str, ...] = ()
    best_known = "best known"
    standard = ()

    @property
    def owner(self) -> ProblemFactory:
        return type(self.problem) if isinstance(self.problem, Problem) else self.problem

    @property
    def name(self) -> str:  # type: ignore[override]
        return workload_name(self.owner)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"local search on {self.owner.__name__}"

    def load_problem(self, options: CustomProblemOptions) -> tuple[Problem, str]:
        made = self.problem if isinstance(self.problem, Problem) else make_problem(self.problem, options)
        return made, f"made by {' '.join(self.program) or 'a program'}"

    def fitted(self, problem: Problem) -> tuple[str, ...]:
        """At most some seconds of one core's work, if a neighbour takes as many steps as a solution has elements."""
        size = problem.neighbourhood(problem.neighbourhood_names()[0]).size(problem.encoding, problem.points)
        iterations = COMPARISON_STEPS // (COMPARISON_WALKS * max(1, size) * problem.encoding.n)
        return ("--walks", str(COMPARISON_WALKS), "--iterations", str(min(10_000, max(10, iterations))))


@cache
def workload_name(owner: ProblemFactory) -> str:
    """Name of a class's workload in records: of the project's program, or of the class."""
    plain = WORKLOAD_NAMES.get(owner.__name__, owner.__name__.lower())
    if owner.__module__.startswith("core."):
        return plain
    return f"own-{owner.__name__.lower()}" if plain in NAMES else owner.__name__.lower()


def make_problem(make: ProblemFactory, options: CustomProblemOptions) -> Problem:
    """Return the problem of the options.

    Raises `UserError` if a required option is missing, a file cannot be read, or the result is no problem.
    """
    arguments, hints = {name: getattr(options, name) for name in type(options).made_of}, type_hints(make)
    for name, parameter in inspect.signature(make).parameters.items():
        if arguments.get(name, 0) is None and parameter.default is inspect.Parameter.empty:
            raise UserError(f"--{name.replace('_', '-')}: found nothing, expected it, since {make.__name__} needs it")
        if isinstance(arguments.get(name), str) and plain_type(hints.get(name), parameter.default) is Path:
            arguments[name] = Path(arguments[name])
    try:
        problem = make(**arguments)
    except OSError as error:
        raise UserError(f"{error.filename or make.__name__}: cannot read it: {error.strerror or error}") from None
    except TypeError as error:
        refuse_missing_bundle(error)
        raise
    if not isinstance(problem, Problem):
        raise UserError(f"{make.__name__} made {problem!r}: expected a Problem")
    return checked_problem(problem)


def refuse_missing_bundle(error: TypeError) -> None:
    """Refuse a class of data that takes no fields, since it is no bundle; the error has the constructor's line."""
    missing = re.fullmatch(r"(?:.*\.)?(\w+)\(\) takes no arguments", str(error))
    if missing:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise UserError(
            f"{frame.filename}:{frame.lineno}: {missing[1]}(...) takes no arguments: expected @bundle above class "
            f"{missing[1]}"
        ) from error


# --- from a constructor to options ---


def declare_options(make: ProblemFactory) -> type[CustomProblemOptions]:
    """Return the options of a problem's program: those of local search, and one for each parameter of its constructor.

    Raises `UserError` if a parameter has the name of another option, or is no number or text and has no default.
    """
    hints = type_hints(make)
    flags = {one.name: option_flag(one) for one, _ in CustomProblemOptions.declared()}
    fields, names = [], []
    for name, parameter in inspect.signature(make).parameters.items():
        if parameter.kind in VARIADIC:
            continue
        is_needed = parameter.default is inspect.Parameter.empty
        kind = plain_type(hints.get(name), parameter.default)
        if kind is not None and name in flags:
            raise UserError(f"{make.__name__}({name}): {flags[name]} is an option of the search: expected another name")
        elif kind is not None:
            names.append(name)
            fields.append((name, kind, declare_parameter(name, kind, parameter.default, make.__name__)))
        elif is_needed:
            raise UserError(
                f"{make.__name__}({name}): no option can hold this value: expected a default, or int, float, str, "
                "bool or Path as its type"
            )
    more = {"made_of": tuple(names)}
    return make_dataclass(f"{make.__name__}Options", fields, bases=(CustomProblemOptions,), namespace=more, frozen=True)


def declare_parameter(name: str, kind: type, default: object, owner: str) -> object:
    is_needed = default is inspect.Parameter.empty
    plain = None if is_needed else os.fspath(default) if isinstance(default, Path) else default
    # An instance's content is in the record, and its file may be elsewhere on another machine.
    decides: OptionEffect = "nothing" if name in EXCLUDED_OPTIONS or kind is Path else "work"
    text = f"parameter of {owner} ({'required' if is_needed else '%(default)s'})"
    return PROBLEM_GROUP.option(plain, text, *PARAMETER_TYPES[kind], decides=decides)


PARAMETER_TYPES: dict[type, tuple[ValueType, str | None]] = {
    bool: (FLAG, None),
    int: (INTEGER, "N"),
    float: (REAL, "X"),
    str: (TEXT, "NAME"),
    Path: (PATH, "FILE"),
}
"""Types of parameters for options, with the option's type and metavar."""


def plain_type(hint: object, default: object) -> type | None:
    """Return the first type of a parameter's annotation, or its default's type, that a text can express."""
    kinds = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if hint is None:
        kinds = (str,) if default in (inspect.Parameter.empty, None) else (type(default),)
    return next((type for type in PARAMETER_TYPES if type in kinds), None)


def type_hints(make: ProblemFactory) -> dict[str, Any]:
    """Return the evaluated annotations of a constructor or function, without those that fail."""
    function = make.__init__ if inspect.isclass(make) else make
    try:
        return get_type_hints(function)
    except (NameError, TypeError):
        return {}
