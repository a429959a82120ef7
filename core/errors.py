"""Errors for the user to correct: shown as their message alone, exit code 2, no traceback. Texts of their messages."""

import re
import reprlib
from collections.abc import Iterable

LONGEST_FOUND, MOST_BITS = 60, 2000
"""Most characters of a value found, and bits of such an integer that is printed at all."""
LONG = re.compile(r"\d{41,}|\S{1001,}")
"""Numbers and words, such as paths, that a message does not repeat."""


class UserError(Exception):
    """A mistake in the user's input.

    The message names the file, line, option or instance, the value found and the value expected. A program ends with
    `exit_code` and prints the message alone. Exceptions derived from other classes have the same attribute.
    """

    exit_code = 2

    def __str__(self) -> str:
        return shorten(super().__str__())


def escape_unprintable(text: str) -> str:
    """Return a text with escapes for line breaks and control characters, which names of files may have."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shorten(message: str) -> str:
    """Return a message in one line of printable characters, without long numbers and words."""
    text = escape_unprintable(message)
    return LONG.sub(lambda long: f"{long[0][:20]}...{long[0][-20:]} ({len(long[0])} characters)", text)


class _Found(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() <= MOST_BITS:
            return super().repr_int(x, level)
        return f"<an integer of about {round(x.bit_length() * 0.30103)} digits>"  # Python refuses to print it


def shown(value: object) -> str:
    """Return a value found as a short text in one line for a message."""
    text = " ".join(_Found().repr(value).splitlines())
    return text if len(text) <= LONGEST_FOUND else f"{text[: LONGEST_FOUND - 20]}...{text[-17:]}"


def did_you_mean(name: object, known: Iterable[str], least: float = 0.6) -> str:
    """Return the known name that a wrong one begins, or that is most similar, as a question; empty if there is none.

    ``least`` is the least similarity, as `difflib`'s ratio.
    """
    import difflib

    names = [one for one in known if isinstance(name, str) and name]
    near = [one for one in names if one.startswith(str(name))] or difflib.get_close_matches(str(name), names, 1, least)
    return f" (did you mean {near[0]}?)" if near else ""


class LaunchRefused(UserError):
    """The device cannot run this launch: team too large, too much shared memory, arguments that do not fit."""


class TeamTooLarge(LaunchRefused):
    """The kernel needs too many registers for the team size; the device runs it with smaller teams."""
