"""Strings for the longest common subsequence: FASTA records, plain files, texts of a command line, seeded generators.

Line breaks (LF, CR) and a byte order mark are no letters. Lower-case letters of FASTA, as of soft-masked sequences,
count as their capitals.

`random:N` draws both strings from one alphabet. `half:N` is this suite's reading of the test data of `oconnell2014`,
section V.A.1 ("the length of the match sequence between the two sequences is restricted to 50%"): both strings hide one
common subsequence of half their length, and all their other letters are absent from the other string.
"""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

import numpy as np

from core.errors import warn_caller
from core.instances.errors import InstanceError, escape_unprintable
from core.instances.files import LARGEST_TEXT, describe_non_file, read_bytes
from core.instances.instance_cache import cached, file_key
from core.instances.random_words import random_words
from core.instances.specifications import SEED, Quantity, parse_specification
from core.tables.lcs.problem import LONGEST, StringPair

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
        if (path := _file(spec[:end], data)) is not None:
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
    return content, _FASTA.match(content) is not None or path.lower().removesuffix(".gz").endswith(FASTA_SUFFIXES)


def _decoded(path: str, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        found = f"byte {content[error.start]:#04x} at offset {error.start}"
        line = content.count(b"\n", 0, error.start) + 1
        raise InstanceError(path, line, found, f"a text in {encoding} (`iconv -f LATIN1 -t UTF-8` makes one)") from None


def _without_line_breaks(path: str, content: bytes) -> str:
    return _decoded(path, content, "utf-8").replace("\r", "").replace("\n", "")
