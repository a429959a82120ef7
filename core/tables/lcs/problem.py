"""Pairs of strings: FASTA records, plain files, texts, seeded generators; and the plain scorer of their LCS.

Letters are Unicode code points as they are, so a composed and a decomposed é differ. Line breaks (LF, CR) and a byte
order mark are no letters. Lower-case letters of FASTA, as of soft-masked sequences, count as their capitals.

`random:N` draws both strings from one alphabet. `half:N` is this suite's reading of the test data of `oconnell2014`,
section V.A.1 ("the length of the match sequence between the two sequences is restricted to 50%"): both strings hide one
common subsequence of half their length, and all their other letters are absent from the other string.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from typing import NamedTuple

import numpy as np

from core.errors import warn_caller
from core.instances.errors import InstanceError, escape_unprintable
from core.instances.files import LARGEST_TEXT, describe_non_file, read_bytes
from core.instances.instance_cache import cached, file_key
from core.instances.random_words import random_words
from core.instances.specifications import SEED, Quantity, parse_specification

LONGEST = 2**31 - 65
"""Most letters of a string: positions fit 32-bit integers, also rounded up to a multiple of 64."""
MOST_NARROW, MOST_SHARED = 254, 65_533
"""Most letters in both strings whose codes fit 8 bits, and 16 bits. Two more codes are for letters of one string."""
EXPECTED = "a FASTA file, FILE:RECORD of one, a text file, or for both strings a generator such as random:1000"
FASTA_SUFFIXES = (".fasta", ".fas", ".fa", ".fna", ".ffn", ".faa", ".frn")

ALPHABET = bytes(dict.fromkeys(b"ACGTABCDEFGHIJKLMNOPQRSTUVWXYZ" + bytes(range(256))))
"""All 256 letters in the order of the generators: A, C, G, T, the other capitals, then all others."""
_COMMON, _FIRST, _SECOND = b"ACGT", b"BDEF", b"HIJK"
"""Letters of `half:N`: of the hidden subsequence, and the others of either string."""

GENERATED = "generated from its name"
_LENGTH = Quantity("length", 0, LONGEST)
SPECIFICATION = re.compile(r"(random|half)(?::(.*))?")
"""Specifications of generated strings, well-formed or not."""
_SUFFIX = re.compile(rf"({'|'.join(map(re.escape, (*FASTA_SUFFIXES, '.txt')))})?(\.gz)?$", re.IGNORECASE)
_SYMBOLS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-"
_SPACE = b" \t\v\f"
_CHUNK = 1 << 20

_FASTA = re.compile(rb"(?:;[^\r\n]*|[\r\n])*>")
_OTHER = re.compile(rb"@[^\r\n]*[\r\n]+[A-Za-z.*~\r\n-]+[\r\n]\+|LOCUS {2,}\S+ |ID {3}\S+; ")


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
        if pairs is None:
            return None
        if pairs.shape != (length, 2):
            return f"pairs of shape {pairs.shape}, not {(length, 2)}"
        if not length:
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


# --- generators ---


def random_strings(
    length: int, other: int | None = None, letters: int = 4, seed: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return two strings of independent letters, each of the first `letters` of `ALPHABET` equally likely.

    ``other`` is the length of the second string, by default that of the first. The k-th letter of both strings, one
    after the other, is the k-th word of `random_words`.
    """
    other = length if other is None else other
    return _drawn(seed, 0, length, ALPHABET[:letters]), _drawn(seed, length, other, ALPHABET[:letters])


def half_strings(length: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return two strings of a length with a longest common subsequence of ``length // 2`` letters.

    Both contain a subsequence of that length, of random letters A, C, G, T, at random places; the others of the first
    are drawn from B, D, E, F, those of the second from H, I, J, K.
    """
    half = length // 2
    hidden = _drawn(seed, 0, half, _COMMON)
    strings = []
    for first_word, others in ((length, _FIRST), (3 * length, _SECOND)):
        string = _drawn(seed, first_word, length, others)
        string[_least(random_words(seed, first_word + length, length), half)] = hidden
        strings.append(string)
    return strings[0], strings[1]


def _least(words: np.ndarray, count: int) -> np.ndarray:
    """Return the ascending indices of the ``count`` smallest words, of equal ones the first, without a sort."""
    if not count:
        return np.empty(0, np.int64)
    largest = np.partition(words, count - 1)[count - 1]
    below, equal = np.flatnonzero(words < largest), np.flatnonzero(words == largest)
    return np.sort(np.append(below, equal[: count - len(below)]))


def _drawn(seed: int, start: int, count: int, letters: bytes) -> np.ndarray:
    """Return letters by the words from `start` on, in parts, since a word takes eight times their memory."""
    table = np.frombuffer(letters, np.uint8)
    drawn = np.empty(count, np.uint8)
    for first in range(0, count, _CHUNK):
        words = random_words(seed, start + first, min(_CHUNK, count - first))
        drawn[first : first + len(words)] = table[(words >> np.uint64(32)) * np.uint64(len(letters)) >> np.uint64(32)]
    return drawn


def generate(spec: str) -> StringPair:
    """Return the strings of a specification FAMILY:N[:OPTION=INTEGER]...

    Families are random (other, letters, seed) and half (seed), as in "random:100000:letters=4:seed=1". The name lists
    all options, so that equal names mean equal strings. Raises `InstanceError` for an unknown family or option, or a
    value out of range.
    """
    if SPECIFICATION.fullmatch(spec) is None:
        raise InstanceError(spec, None, "no such generator", "random:N or half:N")
    family, size, *_ = [*spec.split(":"), ""]
    if family == "half":
        name, (length, seed) = parse_specification(spec, [_LENGTH], [SEED])
        return StringPair(name, *half_strings(length, seed), optimum=length // 2, source=GENERATED)
    options = [Quantity("other", 0, LONGEST, size), Quantity("letters", 1, 256, "4"), SEED]
    name, sizes = parse_specification(spec, [_LENGTH], options)
    return StringPair(name, *random_strings(*sizes), source=GENERATED)


# --- files and texts ---


class FastaRecord(NamedTuple):
    """A record of a FASTA file: the first word after its >, its letters, and the line of its header."""

    name: str
    letters: bytes
    line: int


def load(first: str, second: str | None = None, data: str | os.PathLike | None = None) -> StringPair:
    """Return a pair of strings from two files (see `load_string`).

    Without the second, ``first`` is a generator's specification, or a FASTA file with the pair as its first two
    records. Raises `InstanceError` if there is no such file or it is invalid, with file and line.
    """
    if second is not None:
        (name, a), (other, b) = load_string(first, data), load_string(second, data)
        return StringPair(f"{name}, {other}", a, b, source=f"{first} and {second}")
    if SPECIFICATION.fullmatch(first) and _file(first, data) is None:
        return cached((load, first), lambda: generate(first))
    path, record = _file_and_record(first, data)
    return cached(file_key(path, load, record), lambda: _first_two(path, record))


def _first_two(path: str, record: str | None) -> StringPair:
    """Return the first two records of a FASTA file; refuse a single `record`."""
    content, is_fasta = _content(path)
    if not is_fasta:
        raise InstanceError(path, None, "one string", "two files, or a FASTA file with two records")
    records = read_fasta(content, path)
    if record is not None or len(records) < 2:
        raise InstanceError(path, None, "one record", "two: a second file, or a FASTA file with two records")
    a, b = _capitals(path, records, 2)
    return StringPair(f"{a.name}, {b.name}", a.letters, b.letters, source=f"the first two records of {path}")


def load_string(spec: str, data: str | os.PathLike | None = None) -> tuple[str, str]:
    """Return the name and the letters of one string.

    ``spec`` is a FASTA file (by its suffix, or because it begins with >) for its first record, FILE:RECORD for another
    one, or a text in UTF-8, or in UTF-16 or UTF-32 if a byte order mark or zero bytes show it. It is unpacked if the
    name ends in .gz. Raises `InstanceError` as `load`, and for a file of another format or encoding.
    """
    path, record = _file_and_record(spec, data)
    content, is_fasta = _content(path)
    name = escape_unprintable(_SUFFIX.sub("", os.path.basename(path)))
    if not is_fasta:
        if record is not None:
            raise InstanceError(path, None, f"a text, and record {record!r} asked for", "a FASTA file")
        return name, _without_line_breaks(path, content)
    records = read_fasta(content, path)
    if record is None:
        (first,) = _capitals(path, records, 1)
        return first.name or name, first.letters.decode()
    matches = [each for each in records if each.name == record]
    if not matches:
        names = ", ".join(each.name for each in records[:5]) + (", ..." if len(records) > 5 else "")
        raise InstanceError(path, None, f"no record {record!r}", f"one of {names}")
    if len(matches) > 1:
        raise InstanceError(path, matches[1].line, f"record {record!r} again", "one record of this name")
    return record, _capitals(path, matches, 1)[0].letters.decode()


def _capitals(path: str, records: list[FastaRecord], used: int) -> list[FastaRecord]:
    """Return the first records with lower-case letters as capitals; warn of these, and of further records."""
    path = escape_unprintable(path)
    if len(records) > used:
        warn_caller(f"{path}: the first {used} of {len(records)} records are read; FILE:RECORD names another")
    capitals = [record._replace(letters=record.letters.upper()) for record in records[:used]]
    if capitals != records[:used]:
        warn_caller(f"{path}: lower-case (soft-masked) letters count as their capitals")
    return capitals


def read_fasta(content: bytes, path: str | os.PathLike = "text") -> list[FastaRecord]:
    """Return the records of a FASTA file, in order; lower case stays lower case.

    A record is a line that begins with > and the lines after it. Empty lines, lines that begin with ; and white space
    are left out. Raises `InstanceError` for no record, letters before the first one, or anything but letters, * and -.
    """
    records: list[tuple[str, list[bytes], int]] = []
    for number, row in enumerate(content.splitlines(), 1):
        if row.startswith(b">"):
            name = (row[1:].decode(errors="replace").split() or [""])[0]
            records.append((escape_unprintable(name), [], number))
        elif not row.startswith(b";"):
            letters = row.translate(None, _SPACE)
            if strange := letters.translate(None, _SYMBOLS):
                raise InstanceError(path, number, repr(strange[:1])[1:], "letters, * or -")
            if letters and not records:
                raise InstanceError(path, number, repr(letters[:20])[1:], "a header, > and a name, before any letters")
            if letters:
                records[-1][1].append(letters)
    if not records:
        raise InstanceError(path, None, "no record", "a header, > and a name, and lines of letters")
    return [FastaRecord(name, b"".join(parts), line) for name, parts, line in records]


def from_texts(a: str, b: str) -> StringPair:
    """Return two texts of the command line as strings; Python may have read their bytes in another encoding."""
    texts = (_without_line_breaks("--text", os.fsencode(text)) for text in (a, b))
    return StringPair("texts", *texts, source="the command line")


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


def _file(name: str, data: str | os.PathLike | None) -> str | None:
    if data is not None and not os.path.isdir(data):
        raise InstanceError(data, None, "no such folder", "a folder of files")
    return next(filter(os.path.isfile, _places(name, data)), None)


def _places(name: str, data: str | os.PathLike | None) -> list[str]:
    return [name] if data is None else [os.path.join(data, name), name]


def _file_and_record(spec: str, data: str | os.PathLike | None) -> tuple[str, str | None]:
    """Return a file and the name after its colon; the longest existing file, since its name may have colons."""
    end = len(spec)
    while end > 0:
        path = _file(spec[:end], data)
        if path is not None:
            return path, spec[end + 1 :] if end < len(spec) else None
        end = spec.rfind(":", 0, end)
    raise InstanceError(spec, None, describe_non_file(_places(spec, data)), EXPECTED)


def _content(path: str) -> tuple[bytes, bool]:
    """Return the content of a file, in UTF-8, and True if it is in FASTA format; refuse other formats."""
    limit = (LARGEST_TEXT, "an unpacked file") if path.lower().endswith(".gz") else (LONGEST,)
    content = read_bytes(path, EXPECTED, *limit)
    encoding = json.detect_encoding(content)  # by a byte order mark, or by zero bytes
    if encoding != "utf-8":
        content = _decoded(path, content, encoding).encode()
    if _OTHER.match(content):
        raise InstanceError(path, 1, "a FASTQ, GenBank or EMBL file", "FASTA or a plain text: convert it first")
    is_fasta = _FASTA.match(content) is not None or path.lower().removesuffix(".gz").endswith(FASTA_SUFFIXES)
    return content, is_fasta


def _decoded(path: str, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte {content[error.start]:#04x} at offset {error.start}"
        line = content.count(b"\n", 0, error.start) + 1
        raise InstanceError(path, line, found, f"a text in {encoding} (`iconv -f LATIN1 -t UTF-8` makes one)") from None


def _without_line_breaks(path: str, content: bytes) -> str:
    return _decoded(path, content, "utf-8").replace("\r", "").replace("\n", "")
