"""Download of a file into memory, within limits of time and size."""

import gzip
import io
import queue
import re
import threading
import zlib

from core.problems.instances.errors import FetchError, UnreachableError
from core.problems.instances.files import LARGEST_TEXT, decode_text

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
        raise FetchError(f"{address} sent more than {LARGEST} bytes, expected a smaller file")
    return decode_text(content)


def _within_time(address: str) -> bytes:
    """Download a file into memory, and give up after `LONGEST_S`, however slowly the server sends.

    A thread loads, since no timeout of a connection covers names, headers and content together.
    """
    outcomes: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
    late = threading.Event()

    def load() -> None:
        try:
            outcomes.put(_read_response(address, late))
        except Exception as error:
            outcomes.put(error)

    threading.Thread(target=load, daemon=True).start()
    try:
        outcome = outcomes.get(timeout=LONGEST_S)
    except queue.Empty:
        raise UnreachableError(f"{address} sent no whole file within {LONGEST_S} s") from None
    finally:
        late.set()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _read_response(address: str, late: threading.Event) -> bytes:
    """Download a file into memory, until ``late`` is set."""
    # here, because only a fetch needs it
    import requests

    content = bytearray()
    try:
        with requests.get(address, stream=True, timeout=SILENT_S) as response:
            response.raise_for_status()
            declared = response.headers.get("Content-Length", "")
            pieces = response.iter_content(_PIECE)
            if re.fullmatch("[0-9]{1,18}", declared) and int(declared) > LARGEST:
                raise FetchError(f"{address} announces {declared} bytes, expected {LARGEST} at most")
            while len(content) <= LARGEST and not late.is_set() and (piece := next(pieces, b"")):
                content += piece
    except requests.HTTPError as error:
        raise FetchError(f"{address} answers {error.response.status_code} {error.response.reason}") from error
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError) as error:
        raise FetchError(f"{address} sent no whole file ({error})") from error
    except requests.RequestException as error:
        inner = error.args[0] if error.args else error
        raise UnreachableError(f"{address} cannot be reached ({getattr(inner, 'reason', inner)})") from error
    except ValueError as error:
        raise FetchError(f"{address} cannot be loaded ({error})") from error
    return bytes(content)
