"""Output of programs: errors of standard output, distinguished from those of other files, and warnings as notes."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from core.errors import refusal

BROKEN_PIPE_EXIT = 141
"""Exit code that shells report for a program ended by a closed pipe: 128 and the signal's number, 13."""


class LostOutputError(Exception):
    """Standard output is closed or full. Not an `OSError`, which `argparse` would ignore when it prints the help.

    ``exit_code`` is `BROKEN_PIPE_EXIT` for a closed pipe, as with `| head`, which is no error; 1 for a full disk.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror}")
        self.exit_code = BROKEN_PIPE_EXIT if isinstance(error, BrokenPipeError) else 1

    def report(self) -> int:
        """Print the error, unless the reader has closed the pipe; return the exit code."""
        if self.exit_code != BROKEN_PIPE_EXIT:
            print(f"error: {self}", file=sys.stderr)
        return self.exit_code


class WatchedStream:
    """A stream that raises `LostOutputError` if it cannot write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._watching():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._watching():
            self._stream.flush()

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # The rest of the buffer is discarded; Python would otherwise report an error at its end. Streams in memory
            # have no descriptor.
            with suppress(ValueError), open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())
            raise LostOutputError(error) from None


@contextmanager
def watched() -> Iterator[None]:
    """Watch standard output; it is flushed at the end.

    Raises `LostOutputError` if some output was lost.
    """
    before = sys.stdout
    if before is None:  # closed from the start
        yield
        return
    if isinstance(before, io.TextIOWrapper):
        before.reconfigure(errors="backslashreplace")  # names of files may have any bytes
    sys.stdout = WatchedStream(before)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    finally:
        sys.stdout = before


@contextmanager
def warnings_as_notes(show: Callable[[str], object]) -> Iterator[None]:
    """Show Python's warnings, those of other packages too, as notes in a line, without the place in the source."""

    def show_note(message: Warning | str, *_: object, **__: object) -> None:
        show(" ".join(str(message).split()))

    before, warnings.showwarning = warnings.showwarning, show_note
    try:
        yield
    finally:
        warnings.showwarning = before


def run_watched(main: Callable[[], int]) -> int:
    """Run a program that prints, and return its exit code, or the code of its lost output or of a refusal."""
    try:
        with watched():
            return run_program(main)
    except LostOutputError as lost:
        return lost.report()


def run_program(main: Callable[[], int]) -> int:
    """Run a program with warnings as notes; return its exit code, or 2 after a line if the system refuses something."""
    try:
        with warnings_as_notes(lambda words: print("note:", words, file=sys.stderr)):
            return main()
    except (OSError, RuntimeError, MemoryError, ImportError) as error:
        line = refusal(error)
        if line is None:
            raise
        print(f"error: {line}", file=sys.stderr)
        return 2
