"""Tokens of instance files: their quotation in messages, and integers of a range."""

import os
import re

from core.instances.errors import InstanceError

LONGEST_NUMBER = 64
"""Most characters of a number."""

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{LONGEST_NUMBER}}}")


def lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def rows_of(text: str) -> list[tuple[int, list[str]]]:
    """Return number, from 1, and tokens of each line that is not empty."""
    return [(number, line.split()) for number, line in enumerate(lines_of(text), 1) if line.strip()]


def quoted(text: str) -> str:
    """Return ``text`` in quotes for a message, shortened to fit on a line."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def parse_integer(path: str | os.PathLike, line: int, token: str, noun: str, least: int, most: int) -> int:
    """Return the integer of a token, called ``noun`` in messages.

    Raises `InstanceError` if it is no integer, or outside ``least`` to ``most``.
    """
    if not _INTEGER.fullmatch(token) or not least <= int(token) <= most:
        raise InstanceError(path, line, f"{noun} {quoted(token)}", f"an integer from {least} to {most}")
    return int(token)
