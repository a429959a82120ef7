"""Abort of a whole job by a failing rank, so that no other rank waits for it in a reduction.

An exception, or an exit with a code, on one rank leaves the others inside MPI. MPI's Abort ends them, and so do some
launchers when one rank exits with a code. The exit code is preferred, since Open MPI prints two banners of 16 lines for
an Abort and one of 7 for a code, and neither can be switched off.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import TracebackType

from cluster.mpi import launcher

FAILED = 1
USER_ERROR = 2
INTERRUPTED = 130
# By then the launcher has ended the ranks of all hosts.
HOLD_S = 2.0
# Open MPI's launcher ends its daemons and waits for them; at the third signal it leaves, or may not.
END_LAUNCHER = "for one in 1 2 3; do kill -TERM {0}; sleep 0.2; done; sleep 0.5; kill -KILL {0}"
END_LOCAL_RANKS = "kill -KILL $(cat /proc/{0}/task/{0}/children); sleep 0.5"
# Seconds that a launcher may need to forward the output of ranks.
READ_S = 1
# Seconds for rank 0 to report an error that all ranks see: on a busy host ranks start over a second apart.
FIRST_RANK_S = 2.0
# Additional seconds of each further rank, so that the first report ends the job before the next one.
NEXT_RANK_S = 0.02
# Output that the launcher has not read when the job ends is lost.
FLUSH_S = 0.2
_ends_without_mpi = False


def install() -> None:
    """Make an uncaught exception end all ranks, with its traceback, or one line for a user error."""
    sys.excepthook = end_by_exception


def handle_launcher_signal() -> None:
    """Handle SIGUSR1 like SIGTERM from now on, unless it has a handler.

    `mpirun` and `srun` forward SIGUSR1 to the ranks of all hosts. On SIGTERM they end all ranks within a second, too
    short for a checkpoint, and with another exit code.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL:
        return
    signal.signal(signal.SIGUSR1, lambda *_: signal.raise_signal(signal.SIGTERM))


def end_job(code: int) -> None:
    """End all ranks with this exit code; returns if there is no other rank, or MPI has not started.

    A launcher ends a job itself when a process exits with a code before MPI has started. Exit handlers do not run,
    since they would wait for the other ranks.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized() or mpi.COMM_WORLD.Get_size() == 1:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    if launcher.ENDS_ALL_RANKS in os.environ and not launcher.survives_lost_ranks():
        if launcher.over_several_hosts():
            hold_connections()
        os._exit(code)
    if launcher.survives_lost_ranks() and launcher.parent_name() in (*launcher.LAUNCHERS, launcher.DAEMON):
        # Such a launcher mostly ends this rank alone (Open MPI 5.0.11), which no call of another rank reports. If the
        # launcher is gone, the parent is the system's first process, with children that are not of this job.
        end_launcher(END_LOCAL_RANKS, END_LAUNCHER)
    mpi.COMM_WORLD.Abort(code)


def end_launcher(*commands: str) -> None:
    """Run shell commands with the launcher's number a second from now, in a process that outlives this one."""
    import subprocess

    script = "; ".join((f"sleep {READ_S}", *commands)).format(os.getppid())
    # The launcher waits for the end of streams that it reads.
    nothing = subprocess.DEVNULL
    subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True, stdout=nothing, stderr=nothing)


def end_without_mpi() -> None:
    """Make this process end without MPI's finalisation, which sometimes waits for lost ranks."""
    global _ends_without_mpi
    import atexit

    if not _ends_without_mpi:
        _ends_without_mpi = True
        atexit.register(leave, 0)


def leave(code: int) -> None:
    """End this process with a code, if it ends without MPI's finalisation; else return."""
    if _ends_without_mpi:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def report_user_error(message: object) -> None:
    """Report a user error once: rank 0 at once, another rank only if rank 0 does not end the job soon."""
    rank = launcher.rank()
    wait_for_first_rank()
    print(f"error{f' (rank {rank})' if rank else ''}: {message}", file=sys.stderr, flush=True)
    flush_to_launcher()


def flush_to_launcher() -> None:
    """Wait until this rank's output has been sent; returns at once without a launcher."""
    if launcher.launched():
        sys.stderr.flush()
        time.sleep(FLUSH_S)


def wait_for_first_rank() -> None:
    """Let rank 0 report first; called on every other rank."""
    rank = launcher.rank()
    if rank:
        time.sleep(FIRST_RANK_S + NEXT_RANK_S * min(rank, 50))


def wait_for_reporter(error: BaseException) -> None:
    """Let the rank that raised an error report it and end the job; other ranks raise it too (`Communicator.on_all`)."""
    if getattr(error, "on_rank", launcher.rank()) != launcher.rank():
        # A rank other than 0 reports late, see `report_user_error`.
        time.sleep(2 * FIRST_RANK_S)


def end_by_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Report an error that nothing catches, and end all ranks."""
    code = FAILED
    wait_for_reporter(error)
    if getattr(error, "exit_code", None) == USER_ERROR:
        code = USER_ERROR
        report_user_error(error)
    else:
        if issubclass(kind, KeyboardInterrupt):
            code = INTERRUPTED
        if launcher.launched():
            print(f"rank {launcher.rank()} failed:", file=sys.stderr)
        sys.__excepthook__(kind, error, traceback)
        flush_to_launcher()
    end_job(code)
    raise SystemExit(code)


def hold_connections() -> None:
    """Keep this rank's connections to other hosts open until the launcher knows its exit code.

    A rank that loses a connection ends the job too, often earlier, with Open MPI's banner and exit code. So a child
    process holds the connections. It closes the output streams, since the launcher waits for their end.
    """
    if os.fork() == 0:
        for stream in range(3):
            os.close(stream)
        time.sleep(HOLD_S)
        os._exit(0)
