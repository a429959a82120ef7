"""Errors of loading or fetching an instance; each message is one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from core.errors import UserError, escape_unprintable


class InstanceError(UserError, ValueError):
    """Invalid input: its place, the content found and the content expected.

    ``path`` is the file, instance name or generator specification, ``line`` its line from 1 or None. ``found`` and
    ``expected`` continue the sentence "found ..., expected ...".
    """

    def __init__(self, path: object, line: int | None, found: str, expected: str) -> None:
        self.path = str(path)
        self.line = line
        self.found = found
        self.expected = expected
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: found {found}, expected {expected}")

    def __reduce__(self) -> tuple:
        return InstanceError, (self.path, self.line, self.found, self.expected)


@contextmanager
def errors_at(path: object) -> Iterator[None]:
    """Name a file as the place of the errors of making its instance."""
    try:
        yield
    except InstanceError as error:
        raise InstanceError(path, None, error.found, error.expected) from None


def require_integer(place: object, found: str, value: object, smallest: int, largest: int) -> None:
    """Check that a number, of NumPy too, is an integer of a range.

    Raises `InstanceError` for anything else, 10.0 included; `place` and `found` describe it.
    """
    if not isinstance(value, Integral) or not smallest <= int(value) <= largest:
        raise InstanceError(place, None, found, f"an integer from {smallest} to {largest}")


class FetchError(RuntimeError):
    """A download failed or has other content than expected; the message is one line."""

    def __init__(self, text: str) -> None:
        super().__init__(escape_unprintable(text))


class UnreachableError(FetchError):
    """No connection to the site; further downloads from it are pointless."""
