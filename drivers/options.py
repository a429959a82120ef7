"""What the drivers of all workloads share: their common options, exit codes and the wording of errors.

Imports little on purpose: 64 ranks may start this at once on two cores.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

DONE = 0
FAILED = 1
USER_MISTAKE = 2
INTERRUPTED = 130


def positive(text: str) -> int:
    """Read an integer of at least 1, as an `argparse` type."""
    return _integer(text, 1)


def natural(text: str) -> int:
    """Read an integer of at least 0, as an `argparse` type."""
    return _integer(text, 0)


def add_work_options(parser: argparse.ArgumentParser, *, repeats: int = 1) -> None:
    """Add `--instance --data --seed --repeats`: what is computed, and how often."""
    parser.add_argument(
        "--instance",
        metavar="NAME",
        help="a file, the name of a known instance, or a generator such as uniform:100:seed=1 "
        "(default: chosen by what is at hand)",
    )
    parser.add_argument("--data", metavar="DIR", help="folder with instance files, searched by name first")
    parser.add_argument(
        "--repeats", type=positive, default=repeats, metavar="R", help="repetitions to time (%(default)s)"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="seed of the run (%(default)s)")


def add_common_options(parser: argparse.ArgumentParser, *, backend: str = "cpu", repeats: int = 1) -> None:
    """Add the options that the drivers of all workloads share.

    `--instance --data --repeats --seed --backend --device --record --progress/--no-progress`;
    `options.progress` is None when neither of the last two is given, which means: only on a terminal.
    """
    add_work_options(parser, repeats=repeats)
    parser.add_argument(
        "--backend",
        default=backend,
        metavar="B",
        help="where kernels run: cpu, threads, joblib, cuda, opencl or python (%(default)s); "
        "`python -m backends` lists what is usable here",
    )
    parser.add_argument(
        "--device", default="0", metavar="D", help="which device of the backend (%(default)s)"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="append a record of the run to FILE (JSON Lines); a run that was cut short "
        "continues where it stopped",
    )
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show a progress bar (default: only on a terminal)",
    )


def run_driver(
    function: Callable[[Sequence[str] | None], int | None], argv: Sequence[str] | None = None
) -> int:
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
        0 done; 2 a mistake of the user, printed as one line (`core.errors.UserError`, and every exception
        whose `exit_code` is 2); 130 interrupted; 1 anything else, with its traceback. Over several MPI ranks
        a failing rank ends the whole job with that code instead of returning.
    """
    try:
        return function(argv) or DONE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:
        code = _report(error)
    _end_other_ranks(code)
    return code


def _integer(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"expected an integer of at least {least}, found {text!r}")
    return value


def _report(error: Exception) -> int:
    if getattr(error, "exit_code", None) == USER_MISTAKE:
        _wait_for_first_rank()
        rank = _rank()
        print(f"error{f' (rank {rank})' if rank else ''}: {error}", file=sys.stderr, flush=True)
        return USER_MISTAKE
    # The hook and not the `traceback` module: under MPI it is what ends the other ranks.
    sys.excepthook(type(error), error, error.__traceback__)
    return FAILED


def _rank() -> int:
    return int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or 0)


def _wait_for_first_rank() -> None:
    """Let rank 0 speak for all: a mistake that all ranks see must be printed once, not 64 times."""
    if _rank():
        import time

        time.sleep(1.0)


def _end_other_ranks(code: int) -> None:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() and mpi.COMM_WORLD.Get_size() > 1:
        sys.stdout.flush()
        mpi.COMM_WORLD.Abort(code)
