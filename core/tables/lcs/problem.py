"""Pairs of strings, the instances of the longest common subsequence problem, and their plain scorer.

Letters are Unicode code points as they are, so a composed and a decomposed é differ.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from core.instances.errors import InstanceError

LONGEST = 2**31 - 65
"""Most letters of a string: positions fit 32-bit integers, also rounded up to a multiple of 64."""
MOST_NARROW, MOST_SHARED = 254, 65_533
"""Largest numbers of letters in both strings, for codes of 8 and of 16 bits. Two more codes are for other letters."""


class StringPair:
    """Two strings: an instance of the longest common subsequence problem.

    Parameters
    ----------
    a, b : str, bytes or array_like of uint8
        Of any length from 0 to `LONGEST`.
    optimum
        Length of a longest common subsequence, if known from the generator.
    source
        Origin of the strings.

    Attributes
    ----------
    a, b : ndarray, shape (n,) and (m,), uint8 or uint16, C-contiguous
        Codes of the letters: code points if all are below 256. Else 0 is each letter of `a` alone, 1 each of `b` alone,
        and the letters of both follow in the order of their code points.
    letters : ndarray, uint32
        Code points of the codes.
    sha256 : str
        Digest of the content.

    Raises
    ------
    InstanceError
        A string that is too long, or more than `MOST_SHARED` letters in both strings.
    """

    def __init__(
        self,
        name: str,
        a: str | bytes | np.ndarray,
        b: str | bytes | np.ndarray,
        *,
        optimum: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name, self.source, self.optimum = name, source, optimum
        strings = [_code_points(string) for string in (a, b)]
        for string in strings:
            if len(string) > LONGEST:
                raise InstanceError(name, None, f"a string of {len(string)} letters", f"at most {LONGEST}")
        is_wide = any(string.itemsize > 1 for string in strings)
        content = hashlib.sha256(f"strings {len(a)} {len(b)}\n".encode())
        for string in strings:
            content.update(string.astype("<u4").data if is_wide else string.data)
        self.sha256 = content.hexdigest()
        self.letters = np.arange(256, dtype="<u4")
        if is_wide:
            shared = np.intersect1d(strings[0], strings[1])
            if len(shared) > MOST_SHARED:
                raise InstanceError(name, None, f"{len(shared)} letters in both strings", f"at most {MOST_SHARED}")
            self.letters = np.concatenate([[0, 0], shared]).astype("<u4")
            strings = [_coded(string, shared, code) for code, string in enumerate(strings)]
        self.a, self.b = strings
        for array in (self.a, self.b, self.letters):
            array.flags.writeable = False

    def objection(self, length: int, pairs: np.ndarray | None = None) -> str | None:
        """Return the fault of a result, as the end of "the scorer finds ..."; None if there is none.

        ``length`` is the claimed length of a longest common subsequence, ``pairs``, integers of shape (length, 2), the
        matched positions in a and in b.
        """
        limit = self.most_in_common()
        if not 0 <= length <= limit:
            return f"at most {limit} letters in common, not {length}"
        if self.optimum not in (None, length):
            return f"length {self.optimum} by the strings' making"
        if pairs is not None and pairs.shape != (length, 2):
            return f"pairs of shape {pairs.shape}, not {(length, 2)}"
        if pairs is None or not length:
            return None
        if pairs.min() < 0 or (pairs.max(axis=0) >= (len(self.a), len(self.b))).any():
            return "a position outside the strings"
        falls = (np.diff(pairs, axis=0) <= 0).any(axis=1)
        if falls.any():
            return f"pair {falls.argmax() + 1} not behind the one before"
        differs = self.a[pairs[:, 0]] != self.b[pairs[:, 1]]
        return f"different letters in pair {differs.argmax()}" if differs.any() else None

    def most_in_common(self) -> int:
        """Return an upper bound: the number of letters common to both strings, at any places."""
        codes = len(self.letters)
        return int(np.minimum(*(np.bincount(string, minlength=codes) for string in (self.a, self.b))).sum())

    def subsequence(self, pairs: np.ndarray) -> str:
        """Return the letters of matched pairs, as of `objection`."""
        return self.letters[self.a[pairs[:, 0]]].tobytes().decode("utf-32-le")


def lcs_length(a: str | bytes | np.ndarray, b: str | bytes | np.ndarray) -> int:
    """Return the length of a longest common subsequence in plain Python: a row of the table is one large integer.

    H. Hyyro, "Bit-parallel LCS-length computation revisited", 2004, after M. Crochemore et al. 2001: bit j is 0 if the
    row's value rises from column j to j + 1. Takes about len(a) * len(b) / 2 / 10**10 seconds.
    """
    first, columns = _code_points(a), _code_points(b)
    where = dict.fromkeys(np.unique(first).tolist(), 0)
    for letter in where:
        where[letter] = int.from_bytes(np.packbits(columns == letter, bitorder="little").tobytes(), "little")
    row = everywhere = (1 << len(columns)) - 1
    rows_between_cuts = 32  # each row may add one bit beyond the last column
    for begin in range(0, len(first), rows_between_cuts):
        for letter in first[begin : begin + rows_between_cuts].tolist():
            matches = row & where[letter]
            row = (row + matches) | (row ^ matches)  # the paper's row - matches; all bits of matches are in row
        row &= everywhere
    return len(columns) - row.bit_count()


def _code_points(string: str | bytes | np.ndarray) -> np.ndarray:
    """Return letters as read-only integers, of 8 bits if all fit; no copy of bytes, as strings are long."""
    if isinstance(string, str):
        try:
            return np.frombuffer(string.encode("latin-1"), np.uint8)
        except UnicodeEncodeError:
            return np.frombuffer(string.encode("utf-32-le"), "<u4")
    if isinstance(string, bytes):
        return np.frombuffer(string, np.uint8)
    letters = np.ascontiguousarray(string, getattr(string, "dtype", np.uint8)).view()
    letters.flags.writeable = False
    return letters


def _coded(string: np.ndarray, shared: np.ndarray, code: int) -> np.ndarray:
    """Return the codes of code points: from 2 on for those in both strings, else ``code``."""
    codes = np.full(sys.maxunicode + 1, code, np.uint8 if len(shared) <= MOST_NARROW else np.uint16)
    codes[shared] = np.arange(2, 2 + len(shared))
    return np.asarray(codes[string])
