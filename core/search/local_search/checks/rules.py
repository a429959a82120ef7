"""Check of a rule of acceptance in plain Python, before a device calls it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from core.kernels.local_search.hook_checks import rule_check_kernel
from core.kernels.local_search.walks import Draw
from core.lang import KernelError
from core.lang.bundles import unbundled
from core.problems.problem import Problem
from core.problems.problem_errors import ProblemError, WrongNumber, WrongSubscript, WrongWrite
from core.search.local_search.algorithms import Algorithm
from core.search.local_search.checks.cost import random_solution
from core.search.local_search.checks.interpreter import map_arrays, read_only

FIRST_ITERATIONS = (0, 1, 2)


def check_rule(problem: Problem, algorithm: Algorithm, iterations: Iterable[int] = FIRST_ITERATIONS) -> None:
    """Call the function of a rule for draws between random solutions; an algorithm without one passes.

    Parameters
    ----------
    problem
        Its costs are those of the draws.
    algorithm
        The algorithm.
    iterations
        Numbers of the draws.

    Raises
    ------
    ProblemError
        One line with file and line of the function, and the draw.
    KernelError
        The function is not in the language.

    """
    if algorithm.accepts is None:
        return
    random = np.random.default_rng(0)
    costs = [int(problem.cost(random_solution(problem.encoding, random))) for _ in range(2)]
    for iteration in iterations:
        for cost, new in ((costs[0], costs[0]), costs, costs[::-1]):
            call_rule(problem, algorithm, Draw(cost, new, min(costs), cost, iteration, int(random.integers(2**32))))


def call_rule(problem: Problem, algorithm: Algorithm, draw: Draw) -> None:
    """Call the function of a rule once; raises `ProblemError`."""
    from core.lang import reference_interpreter

    accepts, given = algorithm.accepts, algorithm.rule_data
    assert accepts is not None
    data = () if given is None else (map_arrays(given, read_only),)
    kernel = rule_check_kernel(accepts, given is not None)
    _, values, types = unbundled(kernel, (np.zeros(1, np.int32), draw, *data))
    program = kernel.specialise({}, 1, types)
    try:
        reference_interpreter.run(program, 1, list(values.values()))
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        found, kind = str(error).partition("\n")[0], ProblemError
        if "read-only" in found:
            kind = WrongWrite
        elif isinstance(error, LookupError):
            kind = WrongSubscript
        elif isinstance(error, ArithmeticError):
            kind = WrongNumber
        where = "" if isinstance(error, KernelError) else f"{accepts.path}:{accepts.first_line}: {accepts.name}: "
        raise kind(
            f"{where}{found}, for {draw!r}: expected True or False for every draw, and that the rule only reads "
            f"({problem.name}, in plain Python)"
        ) from error
