"""Abort of a whole job by a failing rank, so that no other rank waits for it in a reduction.

An exception, or an exit with a code, on one rank leaves the rest inside MPI. MPI's Abort releases them, and so does a
launcher that ends all ranks when one leaves with a code: then that is the way, since Open MPI words an Abort in two
banners of 16 lines and a code in one of 7, and neither can be switched off.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import TracebackType
from typing import Any

from cluster.mpi import launcher

FAILED = 1
USER_ERROR = 2
INTERRUPTED = 130
# By then the launcher has ended the ranks of all hosts.
HOLD_S = 2.0
# Open MPI's launcher ends its daemons and waits for them; at the third signal it leaves, or may not.
END_LAUNCHER = "for one in 1 2 3; do kill -TERM {0}; sleep 0.2; done; sleep 0.5; kill -KILL {0}"
END_LOCAL_RANKS = "kill -KILL $(cat /proc/{0}/task/{0}/children); sleep 0.5"
# A launcher may need so long to pass on what ranks have said.
READ_S = 1
# How long rank 0 has to name a mistake that all ranks see: on a crowded host ranks start over a second apart.
FIRST_RANK_S = 2.0
# Further ranks come up one after the other, so that the first that speaks ends the job before the next does.
NEXT_RANK_S = 0.02
# What the launcher has not read of a message when the job ends is lost.
FLUSH_S = 0.2
_ends_without_mpi = False


def install() -> None:
    """From here on an uncaught exception ends all ranks: with its traceback, or as one line for a mistake."""
    sys.excepthook = _end_by_exception


def handle_launcher_signal() -> None:
    """From here on SIGUSR1 is taken for SIGTERM, unless somebody hears it already.

    `mpirun` and `srun` pass SIGUSR1 on to the ranks of all hosts. SIGTERM they take for themselves: they end all ranks
    within a second, which is too short to keep a state in, and with an exit code of their own.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL:
        return
    signal.signal(signal.SIGUSR1, lambda *_: signal.raise_signal(signal.SIGTERM))


def end_job(code: int) -> None:
    """End all ranks with this exit code; return where there is no other rank, or MPI has not started.

    A launcher ends a job itself when a process leaves with a code before MPI has started. Nothing that is registered
    for the end of a process runs: it would wait for the others.
    """
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized() or mpi.COMM_WORLD.Get_size() == 1:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    if launcher.ends_all_ranks():
        if launcher.over_several_hosts():
            hold_connections()
        os._exit(code)
    if launcher.survives_lost_ranks() and launcher.parent_name() in (*launcher.LAUNCHERS, launcher.DAEMON):
        # Such a launcher mostly ends this rank alone (Open MPI 5.0.11), and no call of another tells of it. If it is
        # gone, the parent is the system's first process, whose children are not of this job.
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
    """From here on this process ends without MPI's own end, which waits now and then for ranks that were lost."""
    global _ends_without_mpi
    import atexit

    if not _ends_without_mpi:
        _ends_without_mpi = True
        atexit.register(leave, 0)


def leave(code: int) -> None:
    """End this process with a code, if it ends without MPI; else return."""
    if _ends_without_mpi:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def report_user_error(message: object) -> None:
    """Print a mistake of the user once: rank 0 at once, another only if rank 0 has not ended the job soon."""
    rank = launcher.rank()
    if rank:
        wait_for_first_rank()
    print(f"error{f' (rank {rank})' if rank else ''}: {message}", file=sys.stderr, flush=True)
    flush_to_launcher()


def flush_to_launcher() -> None:
    """Wait until what this rank has said is on its way to the terminal; at once where no launcher listens."""
    if launcher.launched():
        import time

        sys.stderr.flush()
        time.sleep(FLUSH_S)


def wait_for_first_rank() -> None:
    """Give rank 0 the first word, on every other rank."""
    rank = launcher.rank()
    if rank:
        import time

        time.sleep(FIRST_RANK_S + NEXT_RANK_S * min(rank, 50))


def _end_by_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    code = FAILED
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
    """Keep this rank's connections to other hosts open until the launcher has heard how it ended.

    A rank that finds a connection closed ends the job too, with a banner and an exit code of Open MPI's own, and would
    often be the first. A child that does nothing else holds the connections; the streams it gives back, since the
    launcher waits for their end.
    """
    import time

    if os.fork() == 0:
        for stream in range(3):
            os.close(stream)
        time.sleep(HOLD_S)
        os._exit(0)
