"""Checks that only the first rank makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.errors import UserError
from core.problems.problem_errors import PROBLEM_ERRORS, ProblemError


def check_on_first_rank(ranks: Any, check: Callable[[], object]) -> None:
    """Run a check on the first rank, and raise its error on every rank; all ranks call this."""
    wrong = ("", "")
    if ranks.rank == 0:
        try:
            check()
        except UserError as error:
            wrong = type(error).__name__, str(error)
    kind, text = ranks.bcast(wrong)
    if text:
        raise PROBLEM_ERRORS.get(kind, ProblemError)(text)
