"""Executors: each runs the cases of a plan and yields each case with its end.

`local` starts processes on this machine, `slurm` submits job arrays, `dask` uses a scheduler's workers. A module has a
function `executor`; its keyword arguments are the executor's settings, all texts.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

from core.errors import UserError

if TYPE_CHECKING:
    from drivers.experiments.case import Case

NAMES = ("local", "slurm", "dask")


class Finished(NamedTuple):
    """End of a case's process."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float


class Executor(Protocol):
    """Runs cases.

    Attributes
    ----------
    elsewhere : bool
        True if cases run on other hosts, with records of those hosts, and all are taken at once. False if a case starts
        when it is taken from the cases, and ends before the next is taken.
    """

    elsewhere: bool

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """Run `Case.command` of each case in `Case.environment`; yield each case when it ends."""


def make_executor(name: str, settings: Mapping[str, str]) -> Executor:
    """Return the executor of a name. Raises `UserError` for a wrong or missing setting, or a missing package."""
    make = import_module(f"drivers.experiments.executors.{name}").executor
    known = inspect.signature(make).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for one in settings:
        if one not in known and not takes_any:
            raise UserError(f"--executor-settings {one}: expected of {name}: {', '.join(known) or 'nothing'}")
    for one, parameter in known.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD and one not in settings:
            raise UserError(f"--executor {name}: expected --executor-settings {one}=VALUE")
    try:
        return make(**settings)
    except ModuleNotFoundError as error:
        raise UserError(f"--executor {name}: {error.name} is missing: pip install 'onekernel[executors]'") from None
