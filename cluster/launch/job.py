"""Start a program over ranks: the right `mpirun`, or `srun`, with slots, binding and environment.

python -m cluster launch -n 64 ppp --walks 64                        64 ranks on this machine
python -m cluster launch --hosts FILE ppp --instance 1301-1317       a rank for every slot, or for every GPU
python -m cluster launch --per-host 1 --hosts FILE ppp --backend threads --cores 16
python -m cluster launch -n 64 --hosts FILE --dry-run ppp            only print the command

Inside a Slurm allocation its hosts are taken. SIGTERM reaches the ranks of all hosts, so that a run with --checkpoint
writes its checkpoint before it ends; the exit code is the program's.
"""

from __future__ import annotations

import argparse
import os
import re
import reprlib
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

from cluster.command_line import RankParser, run
from cluster.launch import host_file
from cluster.launch.commands import python_command
from cluster.launch.plan import LaunchCommand, LaunchRequest, plan_launch
from cluster.launch.resources import find_resources
from cluster.mpi import abort
from core.errors import UserError
from core.program_parser import invocation

SUITE = ("drivers", "cluster")
"""Packages whose modules are programs that run over ranks."""
NOT_STARTED = 255
"""The exit code of `mpirun` where it could not start its daemon on another host."""


def main() -> int:
    """Build the command, and run it unless it shall only be printed; returns its exit code."""
    options = parser().parse_args()
    started = python_command(program_words(options.program))
    hosts = None
    if options.hosts is not None:
        hosts = host_file.read_host_file(options.hosts)
        if not has_agent(options.mpi_options):
            host_file.require_names(options.hosts, hosts)
    here = find_resources(os.environ)
    asked = LaunchRequest(
        options.ranks, options.hosts, hosts, options.per_host, options.fault_tolerant, options.mpi_options
    )
    command = plan_launch(asked, started, here)
    for line in command.notes:
        print(f"note: {line}", file=sys.stderr, flush=True)
    if options.dry_run:
        print(shlex.join(command.words))
        return 0
    code = run_command(command)
    if code == NOT_STARTED and hosts and not has_agent(options.mpi_options):
        host_file.require_reachable(options.hosts, hosts)
    return code


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = RankParser(
        prog=invocation("cluster launch"),
        description=__doc__,
    )
    add_placement_options(made)
    made.add_argument("--hosts", metavar="FILE", help="hosts in Open MPI's format, as in: name slots=4 max_slots=8")
    made.add_argument(
        "--fault-tolerant",
        action="store_true",
        help="the other ranks may go on where one is killed (mpirun --with-ft ulfm)",
    )
    made.add_argument("--dry-run", action="store_true", help="print the command and run nothing")
    add_program_argument(made)
    return made


def add_placement_options(made: argparse.ArgumentParser) -> None:
    """Options that say where ranks run."""
    made.add_argument(
        "-n",
        "--ranks",
        type=positive,
        metavar="N",
        help="how many ranks (default: a rank for every GPU, else for every slot or core)",
    )
    made.add_argument("--per-host", type=positive, metavar="N", help="so many ranks on each host")
    made.add_argument(
        "--mpi-options",
        type=shell_words,
        default=(),
        metavar="WORDS",
        help="further options of mpirun (or srun), in one word: --mpi-options='--mca btl tcp,self'",
    )


def add_program_argument(made: argparse.ArgumentParser) -> None:
    """The program and its options, which are everything behind its name."""
    made.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="PROGRAM ...",
        help="drivers.ppp or ppp, check, or a FILE.py, with its own options",
    )


def positive(text: str) -> int:
    """Read an integer from 1 to 999,999,999."""
    if not (re.fullmatch("[0-9]{1,9}", text) and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 999999999, found {reprlib.repr(text)}")
    return int(text)


def shell_words(text: str) -> list[str]:
    """Read several words as a shell does."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected words as a shell reads them, found {text!r} ({error})") from None


def program_words(words: Sequence[str]) -> list[str]:
    """What Python is told to run.

    Raises
    ------
    UserError
        No program is named, or there is none of that name.

    """
    from importlib.util import find_spec

    from cluster.programs import PROGRAMS

    if not words or words[0].startswith("-"):
        found = f"{words[0]}, which no option of `launch` is" if words else "none"
        raise UserError(f"the program to start: found {found}, expected drivers.ppp, ppp, check or a FILE.py")
    name, *rest = words
    if name.endswith(".py"):
        if not os.path.isfile(name):
            raise UserError(f"{name}: found no such file, expected a program")
        return [name, *rest]
    if name in PROGRAMS:
        return ["-m", "cluster", name, *rest]
    module = name if name.split(".")[0] in SUITE else f"drivers.{name}"
    with suppress(ModuleNotFoundError):
        if all(part.isidentifier() for part in module.split(".")) and find_spec(module):
            return ["-m", module, *rest]
    raise UserError(f"the program to start: found {name!r}, expected drivers.ppp, ppp, check or a FILE.py")


def has_agent(mpi_options: Sequence[str]) -> bool:
    """Whether something else than `ssh` starts ranks on other hosts, which may know hosts by names of its own."""
    agent = "plm_ssh_agent"
    return any(agent in one for one in (*mpi_options, *os.environ))


# --- running ---


def run_command(command: LaunchCommand) -> int:
    """Run a command until it ends, passing signals on; returns its exit code, 128 + n if signal n ended it.

    Raises
    ------
    UserError
        It cannot be started.

    """
    signals = SignalForwarder()
    # In a group of its own it hears an interrupt of the terminal once, from here. Such a group may not read from the
    # terminal, and ranks read nothing.
    quiet = subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None
    try:
        child = subprocess.Popen(command.words, stdin=quiet, process_group=0)
    except OSError as error:
        raise UserError(f"{command.words[0]}: cannot be started: {error.strerror}") from None
    signals.pass_to(child)
    code = child.wait()
    if code and signal.SIGINT in signals.heard:
        # Of its own mpirun says no more than 1.
        return abort.INTERRUPTED
    code = 128 - code if code < 0 else code
    if code == 128 + signal.SIGUSR1 and signal.SIGTERM in signals.heard:
        # It came before the launcher or a rank handled SIGUSR1, which ended it.
        return 128 + signal.SIGTERM
    return code


class SignalForwarder:
    """Handlers that pass SIGTERM and SIGINT on to a launcher, also those that come before there is one.

    The first SIGTERM is passed on as SIGUSR1, which launchers pass on to all ranks; later ones are passed on as they
    are, and the launcher ends the ranks at once.

    Attributes
    ----------
    heard : list of int
        Signals that came.

    """

    def __init__(self) -> None:
        self.heard: list[int] = []
        self.waiting: list[int] = []
        self.child: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.hear)

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Note a signal, and pass it on if there is a launcher."""
        is_first = number == signal.SIGTERM and number not in self.heard
        self.heard.append(number)
        self.waiting.append(signal.SIGUSR1 if is_first else number)
        self.send()

    def pass_to(self, child: subprocess.Popen[bytes]) -> None:
        """Pass on what came, and what will come."""
        self.child = child
        self.send()

    def send(self) -> None:
        """Pass waiting signals on."""
        while self.child is not None and self.waiting:
            number = self.waiting.pop(0)
            if self.child.poll() is None:
                self.child.send_signal(number)


if __name__ == "__main__":
    sys.exit(run(main))
