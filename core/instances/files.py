"""First steps of every reader of instances: find a file, check its kind, and limit its size."""

import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterable

from core.instances.errors import InstanceError, escape_unprintable

LARGEST_TEXT = 64 * 2**20
"""Most bytes of a text; TSPLIB's largest file has 2 MiB."""

_PART = 16 * 2**20

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def describe_non_file(places: Iterable[str]) -> str:
    """Describe the first existing place, none of which is a file; or report that none exists."""
    there = next(filter(os.path.exists, places), None)
    return "no such file" if there is None else _kind(os.stat(there).st_mode)


def instance_name(path: str | os.PathLike, suffix: str) -> str:
    """Return the printable name of a file's instance, without .gz and a ``suffix`` given by a regular expression."""
    return escape_unprintable(re.sub(rf"({suffix})?(\.gz)?$", "", os.path.basename(path)))


def read_bytes(path: str | os.PathLike, expected: str, largest: int, smaller: str = "a smaller file") -> bytes:
    """Return the content of a regular file, unpacked if its name ends in .gz.

    Raises `InstanceError` if the file does not exist or cannot be read, is a folder, pipe or device (not opened, since
    that might wait forever), is a damaged archive, or has more than ``largest`` bytes when unpacked. ``expected`` is
    the kind of file for messages, "a TSPLIB file", and ``smaller`` one that is small enough.
    """
    opener = gzip.open if os.fspath(path).lower().endswith(".gz") else open
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise InstanceError(path, None, _kind(mode), expected)
        parts, room = [], largest + 1  # one byte more than allowed, so that a gzip bomb is not unpacked whole
        with opener(path, "rb") as file:
            # By parts, since a read takes memory for all that it is asked for.
            while part := file.read(min(room, _PART)):
                parts.append(part)
                room -= len(part)
        content = b"".join(parts)
    except FileNotFoundError:
        raise InstanceError(path, None, "no such file", expected) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InstanceError(path, None, f"unreadable content ({reason})", expected) from None
    if len(content) > largest:
        raise InstanceError(path, None, f"more than {largest} bytes", smaller)
    return content


def read_text(path: str | os.PathLike, expected: str) -> str:
    """Return the text of a file; see `read_bytes`."""
    return decode_text(read_bytes(path, expected, LARGEST_TEXT))


def decode_text(content: bytes) -> str:
    """Return the text of bytes, as UTF-8 or else Latin-1, without a DOS end of file (Ctrl-Z)."""
    content = re.sub(rb"\x1a[\x1a\s\0]*\Z", b"", content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # comments of the 1990s carry Latin-1 umlauts
        return content.decode("latin-1")


def _kind(mode: int) -> str:
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "something that is no file")
