"""A problem handed from one process to others: from a notebook or a running program to the runs of a comparison.

python -m drivers.library.serialised_problem FILE --backend cpu              a run of the problem in the file, with all
usual options

`save_problem` pickles by value what lives in no module that another process could import: classes and kernel functions
that are defined in a notebook's cells, with the cells' text, since kernels are compiled from their source.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from core.local_search.problem import Problem
from drivers.cli.exit_codes import run_driver
from drivers.library.custom_problem import run_program
from drivers.workload.serialisation import serialise_by_value


def save_problem(problem: Problem, path: Path) -> None:
    """Write a problem into a file. Raises `UserError` if it cannot be pickled or written."""
    content = serialise_by_value(problem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror}") from None


def load_problem(path: Path) -> Problem:
    """Read what `save_problem` wrote. Raises `UserError` if the file cannot be read, or holds no problem."""
    # User modules are pickled by name; processes of a comparison do not search their folders.
    sys.path.append(os.getcwd())
    try:
        problem = pickle.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot read it: {error.strerror}") from None
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError) as error:
        raise UserError(f"{path}: found {error}, expected a problem that `save_problem` wrote") from None
    if not isinstance(problem, Problem):
        raise UserError(f"{path}: found {type(problem).__name__}, expected a problem that `save_problem` wrote")
    return problem


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0].startswith("-"):
        raise UserError("python -m drivers.library.serialised_problem: expected a problem file before the options")
    return run_program(load_problem(Path(words[0])), start_command(words[0]), words[1:])


def start_command(path: str) -> tuple[str, ...]:
    return ("-m", "drivers.library.serialised_problem", path)


if __name__ == "__main__":
    sys.exit(run_driver(main))
