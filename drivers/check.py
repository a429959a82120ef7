"""Check the functions of a user-defined problem, as `python FILE.py --check` does.

python -m drivers.check myproblem.py                    the only problem class of the file
python -m drivers.check myproblem.py:Routes --n 20      one of several classes; constructor parameters are options
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

from core.errors import UserError
from core.local_search.problem import Problem
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, run_driver
from drivers.library import custom_problem

USAGE = "FILE.py[:CLASS] [options of the problem]"


def main(argv: Sequence[str] | None = None) -> int:
    """Check the problem of the first argument; return the exit code.

    Raises `UserError` for a missing file or problem, a file that fails, or an error of the problem.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["-h"], ["--help"]):
        assert __doc__
        print(f"usage: {invocation('drivers.check')} {USAGE}\n\n{__doc__.strip()}")
        return DONE
    if not words or words[0].startswith("-"):
        raise UserError(f"{invocation('drivers.check')}: expected {USAGE}, found {words[0] if words else 'nothing'}")
    path, _, name = words[0].rpartition(":")
    if not name.isidentifier():
        path, name = words[0], ""
    problem = find_problem(path or words[0], name if path else "")
    return custom_problem.run_program(problem, (path,), ["--check", *words[1:]])


def load_module(path: str) -> ModuleType:
    """Return the module of a file, which finds its neighbours as a started program does.

    Raises `UserError` if there is no such file, or it fails.
    """
    from backends.show import execute_file

    if not path.endswith(".py") or not Path(path).is_file():
        raise UserError(f"{path or 'nothing'}: no such file, expected {USAGE}")
    try:
        return execute_file(Path(path))
    except SyntaxError as error:
        raise UserError(f"{error.filename}:{error.lineno}: {error.msg}") from error
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{path}: {type(error).__name__}: {error}") from error


def find_problem(path: str, name: str) -> Problem | type[Problem]:
    """Return a file's problem or class of that name; without a name its only class of problems.

    Raises `UserError` if the file has none, several, or another object of that name.
    """
    module = load_module(path)
    names = problem_class_names(module)
    if name:
        problem = getattr(module, name, None)
        if is_problem_class(problem) or isinstance(problem, Problem):
            return problem
        known = ", ".join(names) or "none"
        raise UserError(f"{path}: found no problem {name!r}, expected one that the file defines: {known}")
    if len(names) != 1:
        known = f"{len(names)}, {', '.join(names)}: expected {path}:CLASS" if names else "none"
        raise UserError(f"{path}: expected one class of problems, found {known}")
    return getattr(module, names[0])


def problem_class_names(module: ModuleType) -> list[str]:
    return [name for name, one in vars(module).items() if is_problem_class(one) and one.__module__ == module.__name__]


def is_problem_class(value: object) -> TypeGuard[type[Problem]]:
    return inspect.isclass(value) and issubclass(value, Problem) and not inspect.isabstract(value)


if __name__ == "__main__":
    sys.exit(run_driver(main))
