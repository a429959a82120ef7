"""Checks before a device calls a rule of acceptance or a custom neighbourhood: plain Python, then all moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from core.lang import KernelError
from core.lang.bundles import unbundled
from core.local_search.algorithms import Algorithm, Rule
from core.local_search.checks.cost import random_solution
from core.local_search.checks.interpreter import error_class, map_arrays, read_only
from core.local_search.checks.neighbourhoods import move_bounds
from core.local_search.encodings import Encoding, Neighbourhood
from core.local_search.kernels.hook_checks import rule_check_kernel
from core.local_search.kernels.hooks import NO_KEY
from core.local_search.kernels.moves import OWN
from core.local_search.kernels.neighbour_functions import checking_kernel
from core.local_search.kernels.walks import Draw
from core.local_search.problem import Problem
from core.run.devices import ComputeDevice

FIRST_ITERATIONS = (0, 1, 2)


def check_rule(problem: Problem, algorithm: Algorithm, iterations: Iterable[int] = FIRST_ITERATIONS) -> None:
    """Call the function of a rule for draws between random solutions; an algorithm without one passes.

    ``iterations`` are numbers of the draws.

    Raises
    ------
    ProblemError
        One line with file and line of the function, and the draw.
    KernelError
        The function is not in the language.
    """
    if not isinstance(algorithm, Rule):
        return
    from core.lang import reference_interpreter

    random, accepts, parameters = np.random.default_rng(0), algorithm.accepts, algorithm.parameters
    costs = [int(problem.cost(random_solution(problem.encoding, random))) for _ in range(2)]
    data = () if parameters is None else (map_arrays(parameters, read_only),)
    kernel = rule_check_kernel(accepts, parameters is not None)
    for iteration, (cost, new) in product(iterations, ((costs[0], costs[0]), costs, costs[::-1])):
        draw = Draw(cost, new, min(costs), cost, iteration, int(random.integers(2**32)))
        _, values, types = unbundled(kernel, (np.zeros(1, np.int32), draw, *data))
        program = kernel.specialise({}, 1, types)
        try:
            reference_interpreter.run(program, 1, list(values.values()))
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            message = str(error).partition("\n")[0]
            where = "" if isinstance(error, KernelError) else f"{accepts.path}:{accepts.first_line}: {accepts.name}: "
            raise error_class(error)(
                f"{where}{message}, for {draw!r}: expected True or False for every draw, and that the rule only reads "
                f"({problem.name}, in plain Python)"
            ) from error


TRIED = 8
"""Moves at either end of a neighbourhood that are listed in plain Python before the device decodes all of them."""


def check_custom_moves(
    backend: ComputeDevice, encoding: Encoding, neighbourhoods: Sequence[Neighbourhood], sizes: Sequence[int]
) -> None:
    """Decode all moves once; refuse one that leads out of a solution.

    The places of a move depend on its number and on the size of a solution alone, so no iteration needs another check.
    Raises `UserError` with the first such move and the function that returned it.
    """
    limits = backend.capabilities
    lanes = min(64, limits.max_team_size)
    no_solution = np.empty(0)  # on which the moves of a custom neighbourhood do not depend
    for neighbourhood, size in zip(neighbourhoods, sizes, strict=True):
        if not neighbourhood.decode or neighbourhood.change == OWN:
            continue
        # In plain Python a division by zero is an error that names its line; on a device it may end the process.
        for first in sorted({0, max(0, size - TRIED)}):
            neighbourhood.listed(first, min(size, first + TRIED), encoding, no_solution)
        teams = max(1, min(-(-size // lanes), 16 * limits.compute_units))
        allowed = backend.upload(move_bounds(neighbourhood.change, encoding.n, encoding.choices).reshape(-1))
        wrong = backend.upload(np.full(1, NO_KEY, np.uint64))
        backend.launch(checking_kernel(neighbourhood.decode), teams, lanes, size, encoding.n, allowed, wrong)
        number = int(backend.download(wrong)[0])
        if number != NO_KEY:
            neighbourhood.listed(number, number + 1, encoding, no_solution)  # raises the error that names the move
