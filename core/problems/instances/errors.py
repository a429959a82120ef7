"""The errors that loading or fetching an instance can end with, each worded as one line for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral

from core.errors import UserError


class InstanceError(UserError, ValueError):
    """Bad input: what was found where, and what was expected instead.

    Parameters
    ----------
    path
        File, instance name or generator specification at fault.
    line
        Line of the file, counted from 1; None where no single line is at fault.
    found, expected
        Continue the sentence "found ..., expected ...".
    """

    def __init__(self, path: object, line: int | None, found: str, expected: str) -> None:
        self.path = str(path)
        self.line = line
        self.found = found
        self.expected = expected
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(escape_unprintable(f"{place}: found {found}, expected {expected}"))

    def __reduce__(self) -> tuple:
        return InstanceError, (self.path, self.line, self.found, self.expected)


@contextmanager
def errors_at(path: object) -> Iterator[None]:
    """Name a file as the place of the errors that making its instance ends with."""
    try:
        yield
    except InstanceError as error:
        raise InstanceError(path, None, error.found, error.expected) from None


def require_integer(place: object, found: str, value: object, smallest: int, largest: int) -> None:
    """Make sure that a number is an integer of a range; those of NumPy count.

    Raises `InstanceError` for anything else, 10.0 included; `place` and `found` say what it is.
    """
    if not isinstance(value, Integral) or not smallest <= int(value) <= largest:
        raise InstanceError(place, None, found, f"an integer from {smallest} to {largest}")


class FetchError(RuntimeError):
    """A download failed or has other content than expected; the message is one line, for any reply of the server."""

    def __init__(self, text: str) -> None:
        super().__init__(escape_unprintable(text))


class UnreachableError(FetchError):
    """No connection to the site, so that further downloads from it are pointless."""


def escape_unprintable(text: str) -> str:
    """Return a text with escapes for what would break a line or disturb a terminal: names of files hold anything."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
