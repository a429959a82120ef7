"""Start a program over ranks: the right `mpirun`, or `srun`, with slots, binding and environment.

onekernel cluster launch -n 64 ppp --walks 64                        64 ranks on this machine
onekernel cluster launch --hosts FILE ppp --instance 1301-1317       a rank for every slot, or for every GPU
onekernel cluster launch --per-host 1 --hosts FILE ppp --backend threads --cores 16
onekernel cluster launch -n 64 --hosts FILE --dry-run ppp            only print the command

Inside a Slurm allocation its hosts are taken. SIGTERM reaches the ranks of all hosts, so that a run with --checkpoint
writes its checkpoint before it ends; the exit code is the program's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from cluster.command_line import RankParser, run
from cluster.launch import host_file
from cluster.launch.commands import python_command
from cluster.launch.options import add_placement_options, add_program_argument, program_words
from cluster.launch.plan import LaunchCommand, LaunchRequest, number_of_hosts, plan_launch
from cluster.launch.resources import find_resources
from cluster.mpi import transport
from cluster.mpi.failures import abort
from core.errors import UserError
from core.program_parser import invocation

NOT_STARTED = 255
"""Exit code of `mpirun` if its daemon could not be started on another host."""


def main() -> int:
    """Build the command, and run it or, with ``--dry-run``, print it; returns its exit code."""
    options = parser().parse_args()
    started = python_command(program_words(options.program))
    hosts = None
    if options.hosts is not None:
        hosts = host_file.read_host_file(options.hosts)
    resources = find_resources(os.environ)
    asked = LaunchRequest(
        options.ranks, options.hosts, hosts, options.per_host, options.fault_tolerant, options.mpi_options
    )
    command = plan_launch(asked, started, resources)
    several = number_of_hosts(asked, resources) > 1
    for line in [*command.notes, *([transport.describe(resources.is_hydra)] if several else [])]:
        print(f"note: {line}", file=sys.stderr, flush=True)
    if options.dry_run:
        print(shlex.join(command.words))
        return 0
    code = run_command(command)
    if code == NOT_STARTED and hosts and not has_agent(options.mpi_options):
        host_file.require_reachable(options.hosts, hosts)
    return code


def parser() -> argparse.ArgumentParser:
    ranks_parser = RankParser(prog=invocation("cluster launch"), description=__doc__)
    add_placement_options(ranks_parser)
    add = ranks_parser.add_argument
    add("--hosts", metavar="FILE", help="hosts in Open MPI's format, as in: name slots=4 max_slots=8")
    tolerant = "continue on the other ranks if one is killed (mpirun --with-ft ulfm)"
    add("--fault-tolerant", action="store_true", help=tolerant)
    add("--dry-run", action="store_true", help="print the command and run nothing")
    add_program_argument(ranks_parser)
    return ranks_parser


def has_agent(mpi_options: Sequence[str]) -> bool:
    """Return True if another agent than `ssh` starts ranks on other hosts; it may use other names of hosts."""
    agent = "plm_ssh_agent"
    return any(agent in word for word in (*mpi_options, *os.environ))


# --- running ---


def run_command(command: LaunchCommand) -> int:
    """Run a command, passing signals on; returns its exit code, 128 + n if signal n ended it."""
    signals = SignalForwarder()
    # In a separate group it gets an interrupt of the terminal once, from this process. Such a group must not read from
    # the terminal; ranks do not read.
    quiet = subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None
    try:
        child = subprocess.Popen(command.words, stdin=quiet, process_group=0)
    except OSError as error:
        raise UserError(f"{command.words[0]}: cannot be started: {error.strerror}") from None
    signals.pass_to(child)
    code = child.wait()
    if code and signal.SIGINT in signals.received:
        # mpirun's exit code would be 1.
        return abort.INTERRUPTED
    code = 128 - code if code < 0 else code
    if code == 128 + signal.SIGUSR1 and signal.SIGTERM in signals.received:
        # The signal came before the launcher or a rank handled SIGUSR1, and ended it.
        return 128 + signal.SIGTERM
    return code


class SignalForwarder:
    """Handlers that forward SIGTERM and SIGINT to a launcher, including signals ``received`` before its start.

    The first SIGTERM is passed on as SIGUSR1, which launchers pass on to all ranks; later ones are passed on as they
    are, and the launcher ends the ranks at once.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self.waiting: list[int] = []
        self.child: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.receive)

    def receive(self, number: int, frame: FrameType | None) -> None:
        is_first = number == signal.SIGTERM and number not in self.received
        self.received.append(number)
        self.waiting.append(signal.SIGUSR1 if is_first else number)
        self.send()

    def pass_to(self, child: subprocess.Popen[bytes]) -> None:
        """Forward all signals, past and future, to a child process."""
        self.child = child
        self.send()

    def send(self) -> None:
        while self.child is not None and self.waiting:
            number = self.waiting.pop(0)
            if self.child.poll() is None:
                self.child.send_signal(number)


if __name__ == "__main__":
    sys.exit(run(main))
