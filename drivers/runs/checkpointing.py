"""Runs that survive their process: regular checkpoints, also on SIGTERM, and `--resume`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from cluster.mpi import launcher
from core.errors import UserError
from drivers.cli.messages import print_note
from drivers.options.declaration import CHECKPOINT_EVERY_S, Options

if TYPE_CHECKING:
    from cluster import Communicator
    from core.run.checkpoint import Checkpoint, Checkpointer
    from drivers.runs.checkpoint_file import CheckpointIdentity, RunCheckpointLock


def refuse_to_overwrite(options: Options) -> None:
    """Refuse options that would lose a checkpoint or have no effect, before any work.

    These are an existing checkpoint without `--resume`, several searches without a record of finished ones, and
    `--resume` or an interval without a file.
    """
    if options.checkpoint is None:
        # Ranks that survive others hold checkpoints in memory.
        has_interval = options.checkpoint_every != CHECKPOINT_EVERY_S and not launcher.survives_lost_ranks()
        if options.resume or has_interval:
            raise UserError(f"--{'resume' if options.resume else 'checkpoint-every'}: expected it with --checkpoint")
        return
    if os.path.exists(options.checkpoint) and not options.resume:
        raise UserError(f"--checkpoint {options.checkpoint}: found a checkpoint, expected --resume or another file")
    if not options.record and (options.repeats > 1 or options.seeds is not None):
        several = f"--repeats {options.repeats}" if options.repeats > 1 else "--seeds"
        raise UserError(f"--checkpoint with {several}: expected --record too, which lists the finished runs")


class RecoveryState:
    """State of all runs so far on every rank, for the remaining ranks after a loss; frees the checkpoint at its end.

    Attributes
    ----------
    attempts : int
        Number of starts of the program, each with fewer ranks.
    done : dict
        Finished repetitions of each seed's run.
    held : tuple of (CheckpointIdentity, Checkpoint) or None
        The last checkpoint with its identity.
    lock : RunCheckpointLock or None
        Of the checkpoint; on the first rank.
    """

    def __init__(self) -> None:
        self.attempts = 0
        self.done: dict[int, int] = {}
        self.held: tuple[CheckpointIdentity, Checkpoint] | None = None
        self.lock: RunCheckpointLock | None = None

    def __enter__(self) -> RecoveryState:
        return self

    def __exit__(self, *error: object) -> None:
        if self.lock is not None:
            self.lock.free()

    def claim(self, options: Options) -> None:
        """Keep other runs from the checkpoint; the first rank calls this in every attempt, since it may be a new one.

        Raises `UserError` if another run uses the file, or as `refuse_to_overwrite` does.
        """
        folder = os.path.dirname(os.path.realpath(options.checkpoint or ""))
        # Without a name or a folder the file is refused with the run's other files.
        if options.checkpoint and self.lock is None and os.path.isdir(folder):
            from drivers.runs.checkpoint_file import RESUME_WAIT_S, WITHOUT_RANK_S, RunCheckpointLock

            wait_s = WITHOUT_RANK_S if self.attempts > 1 else RESUME_WAIT_S if options.resume else 0.0
            self.lock = RunCheckpointLock(options.checkpoint, wait_s)
        if self.attempts == 1:
            refuse_to_overwrite(options)


class RunCheckpoints:
    """The checkpoints of one run, on every rank.

    Parameters
    ----------
    memory
        State of this rank's runs.

    Attributes
    ----------
    checkpointer : Checkpointer or None
        Of the current repetition; None without checkpoints.
    before_s : float
        Seconds of the repetition before it resumed here.
    resumed : int
        Number of times that repetition has resumed from a file.
    """

    def __init__(self, options: Options, ranks: Communicator, memory: RecoveryState | None = None) -> None:
        self.options = options
        self.ranks = ranks
        self.memory = memory or RecoveryState()
        self.path = options.checkpoint
        self.checkpointer: Checkpointer | None = None
        self.before_s = 0.0
        self.resumed = 0

    def begin(self, about: Callable[[], CheckpointIdentity]) -> Checkpointer | None:
        """Begin a repetition, or resume it from its checkpoint, and return its checkpointer; all ranks call this.

        ``about`` returns the identity of the run, and the number of finished repetitions; only the first rank calls it,
        if needed.

        Raises
        ------
        Terminated
            A signal requested the end of the previous repetition, but it was complete first.
        UserError
            See `read_checkpoint`.
        """
        if self.path is None and not self.ranks.survives:
            return None
        from core.run.checkpoint import Checkpointer, Terminated
        from drivers.runs import checkpoint_file

        if self.checkpointer is not None and self.ranks.sum(int(self.checkpointer.asked)):
            if self.ranks.rank == 0:
                print("ended by SIGTERM between two repetitions: --resume continues", file=sys.stderr)
            raise Terminated
        whose, earlier = self.ranks.on_first(lambda: self.earlier(about()))
        self.resumed = whose.resumed
        self.memory.done[self.options.seed] = whose.repetition

        def write(state: Checkpoint) -> None:
            assert self.path is not None
            checkpoint_file.write_checkpoint(self.path, whose, state)

        def hold(state: Checkpoint) -> None:
            self.memory.held = whose, state

        self.checkpointer = Checkpointer(
            write if self.path is not None else None,
            earlier,
            self.options.checkpoint_every,
            hold if self.ranks.survives else None,
            self.path or "the state in memory",
        )
        self.before_s = self.checkpointer.before_s
        if earlier is not None and self.ranks.survives:
            hold(earlier)  # a rank may be lost before the next state
        if earlier is not None and self.memory.attempts < 2 and self.ranks.rank == 0:
            print_note(f"{self.path}: the run resumes after {self.before_s:.1f} s")
        return self.checkpointer

    @property
    def done(self) -> int:
        return self.memory.done.get(self.options.seed, 0)

    @property
    def conditions(self) -> dict[str, object]:
        """Reasons why this repetition's time is not of one process and all ranks, for the record."""
        resumed = {"resume_count": self.resumed} if self.resumed else {}
        return {**resumed, **({"lost_ranks": list(self.ranks.lost)} if self.ranks.lost else {})}

    def earlier(self, whose: CheckpointIdentity) -> tuple[CheckpointIdentity, Checkpoint | None]:
        """Return the identity of this repetition's checkpoints, and its checkpoint in memory or in the file, if any.

        Raises `UserError` if the file has a later repetition, or as `read_checkpoint` does.
        """
        from msgspec.structs import replace

        from drivers.runs.checkpoint_file import read_checkpoint

        held = self.memory.held
        if held is not None and replace(held[0], resumed=0) == whose:
            return held
        if self.path is None or not self.options.resume or self.memory.attempts > 1:
            return whose, None
        if not os.path.exists(self.path):
            print_note(f"{self.path}: found no checkpoint, so the run starts from the beginning")
            return whose, None
        about, state = read_checkpoint(self.path, whose)
        if about.repetition > whose.repetition:
            raise UserError(
                f"{self.path}: found a checkpoint of repetition {about.repetition + 1}, expected one of "
                f"repetition {whose.repetition + 1}: the record lacks the earlier ones"
            )
        if about.repetition < whose.repetition:
            # It was recorded as done before its checkpoint could be removed.
            return whose, None
        return replace(whose, resumed=about.resumed + 1), state

    def forget(self) -> None:
        self.memory.done[self.options.seed] = self.options.repeats

    def finish(self) -> None:
        if self.path is not None:
            with suppress(FileNotFoundError):
                os.unlink(self.path)

    @contextmanager
    def handling_sigterm(self) -> Iterator[None]:
        """Turn SIGTERM inside into a request to save and end; the second one ends the process at once."""
        checkpointer, path = self.checkpointer, self.path
        if checkpointer is None or path is None or threading.current_thread() is not threading.main_thread():
            yield
            return

        def request_end(number: int, frame: FrameType | None) -> None:
            checkpointer.asked = True
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

        before = signal.signal(signal.SIGTERM, request_end)
        try:
            yield
        except SystemExit:
            if checkpointer.asked and self.ranks.rank == 0:
                print(f"ended by SIGTERM; the checkpoint is in {path}: --resume continues", file=sys.stderr)
            raise
        finally:
            signal.signal(signal.SIGTERM, before)
