"""Download of a file into memory by pooch, within limits of time and size."""

from __future__ import annotations

import gzip
import io
import re
import threading
import zlib
from typing import TYPE_CHECKING

from core.instances.errors import FetchError, UnreachableError
from core.instances.files import LARGEST_TEXT, decode_text

if TYPE_CHECKING:
    import requests
    from _typeshed import ReadableBuffer

SILENT_S, LONGEST_S = 30, 120
"""Longest wait in seconds for a server that sends nothing, and for a whole file."""
LARGEST = LARGEST_TEXT
"""Most bytes of a file, packed or not."""
_PIECE = 2**16
_GZIP = b"\x1f\x8b"


def download_text(address: str) -> str:
    """Download a file, and unpack it unless the server has done so.

    Raises `UnreachableError` for no connection, or no whole file within `LONGEST_S`; `FetchError` for a missing page, a
    broken file, or more than `LARGEST` bytes.
    """
    content = _within_time(address)
    if content.startswith(_GZIP):
        try:
            # one byte more than allowed, so that a gzip bomb is not unpacked whole
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FetchError(f"{address} sent unreadable content ({error})") from error
        if len(content) > LARGEST:
            raise FetchError(_too_much(address))
    return decode_text(content)


def _too_much(address: str) -> str:
    return f"{address} sent more than {LARGEST} bytes, expected a smaller file"


class _Content(io.BytesIO):
    """Bytes of an address; more than `LARGEST` are refused."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.answered = False

    def write(self, piece: ReadableBuffer) -> int:
        if self.tell() + memoryview(piece).nbytes > LARGEST:
            raise FetchError(_too_much(self.address))
        return super().write(piece)

    def check_headers(self, response: requests.Response, *_: object, **__: object) -> None:
        """Note that the site answered, and refuse a file that is announced to be too large."""
        self.answered = True
        declared = response.headers.get("Content-Length", "")
        if re.fullmatch("[0-9]{1,18}", declared) and int(declared) > LARGEST:
            raise FetchError(f"{self.address} announces {declared} bytes, expected {LARGEST} at most")


def _within_time(address: str) -> bytes:
    """Download a file into memory, and give up after `LONGEST_S`, however slowly the server sends.

    A thread loads, since no timeout of a connection covers names, headers and content together.
    """
    content, errors = _Content(address), list[Exception]()

    def load() -> None:
        try:
            _load(address, content)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(LONGEST_S)
    if thread.is_alive():
        content.close()  # so the next piece ends the thread
        raise UnreachableError(f"{address} sent no whole file within {LONGEST_S} s")
    if errors:
        raise errors[0]
    return content.getvalue()


def _load(address: str, content: _Content) -> None:
    import pooch  # here, because only a fetch needs it

    download = pooch.HTTPDownloader(chunk_size=_PIECE, timeout=SILENT_S, hooks={"response": content.check_headers})
    try:
        download(address, content, None)
    except OSError as error:  # of the package requests
        response = getattr(error, "response", None)
        if response is not None:
            raise FetchError(f"{address} answers {response.status_code} {response.reason}") from error
        if content.answered:
            raise FetchError(f"{address} sent no whole file ({error})") from error
        inner = error.args[0] if error.args else error
        raise UnreachableError(f"{address} cannot be reached ({getattr(inner, 'reason', inner)})") from error
    except ValueError as error:
        raise FetchError(f"{address} cannot be loaded ({error})") from error
