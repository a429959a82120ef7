"""Standard output that nobody reads any more, or whose disk is full: told from all other files that fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

READER_LEFT = 141
"""What shells report of a program that ended because nobody read what it wrote: 128 and the signal's number, 13."""


class LostOutputError(Exception):
    """Standard output takes nothing any more. No `OSError`, which `argparse` would pass over when it prints the help.

    Attributes
    ----------
    reader_left : bool
        Nobody reads it any more, as behind `| head`: no mistake, and nothing to tell.

    """

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror}")
        self.reader_left = isinstance(error, BrokenPipeError)


class Watched:
    """A stream that raises `LostOutputError` where it cannot write."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Whatever else the stream has."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, as the stream does."""
        with self._watching():
            return int(self._stream.write(text))

    def flush(self) -> None:
        """Flush, as the stream does."""
        with self._watching():
            self._stream.flush()

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # What is still in the buffer goes nowhere, or Python would complain again when it ends. A stream in memory,
            # which has no descriptor, has no such end.
            with suppress(ValueError), open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._stream.fileno())
            raise LostOutputError(error) from None


@contextmanager
def watched() -> Iterator[None]:
    """Watch standard output; all that was written has arrived when this ends.

    Raises
    ------
    LostOutputError
        It has not.

    """
    before = sys.stdout
    if before is None:  # closed from the start
        yield
        return
    sys.stdout = Watched(before)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    finally:
        sys.stdout = before
