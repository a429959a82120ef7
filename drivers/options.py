"""What the drivers of all workloads share: their common options, exit codes and the wording of errors.

Imports little on purpose: 64 ranks may start this at once on two cores.
"""

from __future__ import annotations

import argparse
import errno
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cluster import abort, launcher
from core.standard_output import LostOutputError, watched
from drivers.outputs import OutputFile

if TYPE_CHECKING:
    from cluster import Communicator

DONE = 0
FAILED = abort.FAILED
NO_ROOM_TO_LOAD = "failed to map segment from shared object"
LESS_MEMORY = "expected a smaller instance, fewer walks, ants, climbers or ranks, or less --device-memory"
UNIFORM = "uniform:100:seed=1"
AT_HAND = "chosen by what is at hand"
HOUSE = ("core", "backends", "cluster", "reports", "drivers")
"""The packages of the suite."""


def positive(text: str) -> int:
    """Read an integer of at least 1, as an `argparse` type."""
    return _integer(text, 1)


def natural(text: str) -> int:
    """Read an integer of at least 0, as an `argparse` type."""
    return _integer(text, 0)


def number(text: str) -> float:
    """Read a finite number of at least 0, as an `argparse` type."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, found {text!r}")
    return value


def add_work_options(
    parser: argparse.ArgumentParser, *, repeats: int = 1, generator: str = UNIFORM, chosen: str = AT_HAND
) -> None:
    """Add `--instance --data --seed --repeats`: what is computed, and how often.

    The help names a `generator` of instances, and the instance that is `chosen` without the option.
    """
    parser.add_argument(
        "--instance",
        metavar="NAME",
        help=f"a file, the name of a known instance, or a generator such as {generator} (default: {chosen})",
    )
    parser.add_argument("--data", metavar="DIR", help="folder with instance files, searched by name first")
    parser.add_argument(
        "--repeats", type=positive, default=repeats, metavar="R", help="repetitions to time (%(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="seed of the run (%(default)s)")


def add_common_options(
    parser: argparse.ArgumentParser,
    *,
    backend: str = "cpu",
    repeats: int = 1,
    generator: str = UNIFORM,
    chosen: str = AT_HAND,
) -> None:
    """Add the options that the drivers of all workloads share.

    `--instance --data --repeats --seed --backend --device --record --progress/--no-progress`;
    `options.progress` is None when neither of the last two is given, which means: only on a terminal.
    """
    add_work_options(parser, repeats=repeats, generator=generator, chosen=chosen)
    automatic = "auto (the fastest here), " if backend == "auto" else ""
    parser.add_argument(
        "--backend",
        default=backend,
        metavar="B",
        help=f"where kernels run: {automatic}cpu, threads, joblib, cuda, opencl or python (%(default)s); "
        "`python -m backends` lists what is usable here",
    )
    parser.add_argument("--device", default="0", metavar="D", help="which device of the backend (%(default)s)")
    parser.add_argument(
        "--record",
        type=OutputFile,
        metavar="FILE",
        help="append a record of the run to FILE (JSON Lines); a run that was cut short continues where it stopped",
    )
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show a progress bar (default: only on a terminal)",
    )


MAY_DIFFER = ("backend", "device", "progress", "data", "spill")
"""Options that say where a rank works and what it shows, not what it computes."""
SPELLED = {"kind": "--class", "strings": "FILE"}
"""Options whose name is not that of their value in the program."""


def agreed_ranks(program: str, options: argparse.Namespace) -> Communicator:
    """This process's communicator, once all ranks know that they were started alike.

    An instance need not be compared: every driver loads it on rank 0 and hands it to the others.

    Parameters
    ----------
    program
        As the driver's parser names it.
    options
        What the parser returned, before anything was filled in.

    Raises
    ------
    UserError
        The ranks run different programs, or the same with different options or sources.

    """
    from cluster import agree, communicator

    ranks = communicator()
    if ranks.size > 1:
        given = {
            SPELLED.get(name, "--" + name.replace("_", "-")): "not given" if value is None else str(value)
            for name, value in vars(options).items()
            if name not in MAY_DIFFER
        }
        agree(ranks, {"program": program, "--help": "not given", **given, "the suite's sources": sources_digest()})
    return ranks


def sources_digest() -> str:
    """A short hash over the sources of the suite that this process runs."""
    import hashlib
    from pathlib import Path

    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for package in HOUSE for path in (root / package).rglob("*.py")):
        digest.update(f"{path.relative_to(root)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def run_driver(function: Callable[[Sequence[str] | None], int | None], argv: Sequence[str] | None = None) -> int:
    """Call a driver and turn how it ends into an exit code.

    Parameters
    ----------
    function : callable
        Takes the command line's arguments; returns an exit code, or None for 0.
    argv : sequence of str, optional
        None means `sys.argv`.

    Returns
    -------
    int
        0 done; 1 a result that was contradicted, or a fault of ours with its traceback; 2 a mistake of the user, which
        includes asking for more memory than there is, printed as one line (`core.errors.UserError`, and every
        exception that carries an ``exit_code``); 130 interrupted; 141 nobody reads standard output any more. Over
        several MPI ranks a failing rank ends the whole job with that code instead of returning.
    """
    try:
        with watched(), warnings_in_one_line():
            return function(argv) or DONE
    except SystemExit as stop:
        if stop.code:
            abort.end_job(stop.code if isinstance(stop.code, int) else FAILED)
        raise
    except BaseException as error:
        code = reported(error)
    abort.end_job(code)
    return code


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Print the suite's own warnings without the line of source that gave them, on rank 0 alone."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, UserWarning):
            others(message, category, *place, **more)
        elif launcher.rank() == 0:
            print(f"note: {message}", file=sys.stderr)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = others


def reported(error: BaseException) -> int:
    """Say what ended a driver, in as many words as it deserves; returns the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return abort.INTERRUPTED
    if isinstance(error, LostOutputError):
        return error.tell()
    code = getattr(error, "exit_code", None)
    if code in (FAILED, abort.USER_MISTAKE):
        abort.report_mistake(error)
        return int(code)
    refused = refused_memory(error)
    if refused is not None:
        asked = f": {refused}" if str(refused) else ""
        abort.report_mistake(f"out of memory{asked}; {LESS_MEMORY}")
        return abort.USER_MISTAKE
    # The hook and not the `traceback` module: under MPI it is what ends the other ranks.
    sys.excepthook(type(error), error, error.__traceback__)
    return FAILED


def refused_memory(error: BaseException | None) -> BaseException | None:
    """The error that tells which memory was refused, to us or to the loader of a library; None if none was."""
    if isinstance(error, MemoryError):
        return error
    if not isinstance(error, (OSError, ImportError)):
        return None
    if getattr(error, "errno", None) == errno.ENOMEM or NO_ROOM_TO_LOAD in str(error):
        return error
    return refused_memory(error.__cause__ or error.__context__)


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"expected an integer of at least {least}, found {text!r}")
    return value
