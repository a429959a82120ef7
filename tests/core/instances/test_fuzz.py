"""Damaged files: a reader returns a valid instance or raises one error, on one line, with the file's name.

File k of a reader is the same in every run: `damaged_file(reader, k)`.
"""

import gzip
import io
import random
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from core import tours as tsp
from core.instances import matrix_text, sources, tsplib
from core.instances.errors import InstanceError
from core.ppp import perceptron
from core.qap import qaplib
from core.tables.knapsack import problem as knapsack
from core.tables.lcs import problem, strings
from core.tours import tour_files
from drivers.workload.matrix_files import load_matrix
from tests.core.instances import samples

SHARED = Path(__file__).parents[4] / "shared" / "data"
SMALL = ["tsplib/burma14.tsp", "tsplib/gr17.tsp", "tsplib/bayg29.tsp", "tsplib/att48.tsp", "vrp/eil7.vrp"]
REAL = [file.read_text() for file in map(SHARED.joinpath, SMALL) if file.is_file()]
P01 = SHARED / "national" / "p01.tsp"  # the rows of its matrix are those of Burkardt's p01_d.txt
BURKARDT = [P01.read_text().partition("SECTION\n")[2].removesuffix("EOF\n")] if P01.is_file() else []

NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "3", "-0.0", "2.5", "1_000", "0x10", "1e-400"]
NUMBERS += ["1e308", "-1e308", "1e999"]
LARGE = ["361", "4097", "65536", "100000", str(2**31 - 1), str(2**31), str(2**32), str(2**63), str(2**64), "9" * 5000]
WORDS = ["EOF", "TSP", "ATSP", "EXPLICIT", "GEO", "FULL_MATRIX", "UPPER_COL", "TOUR_SECTION", "TYPE:", "n", "z"]
WORDS += [">", ";"]
CHARACTERS = [*" \n\x00\x0c\x1a\u0663\u2028\ud800\xff\r\t.,:#>*'-"]
KINDS = ["cut", "drop line", "double line", "swap lines", "line", "token", "token", "token", "character", "byte"]


# --- what a valid result is ---


def check_tsp(instance: tsp.TspInstance, content: bytes) -> None:
    matrix = instance.distances
    assert matrix.shape == (instance.n, instance.n) and (matrix == matrix.T).all()
    assert matrix.dtype in (np.uint16, np.uint32) and not matrix.diagonal().any()
    identity = np.arange(instance.n)
    total = sum(int(matrix[i, (i + 1) % instance.n]) for i in range(instance.n))
    assert tsp.tour_length(matrix, identity) == instance.tour_length(identity) == total


def check_tour(tour: np.ndarray, content: bytes) -> None:
    assert sorted(tour.tolist()) == list(range(len(tour))) and len(tour) >= 3


def text_of(content: bytes) -> str:
    """Decode UTF-8 with or without a mark, else Latin-1; a Ctrl-Z may end a text."""
    content = re.sub(rb"\x1a[\x1a\s\0]*$", b"", content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def rows_of(content: bytes) -> list[str]:
    return [row for row in re.split(r"[\r\n]+", text_of(content)) if row.strip()]


def integers(content: bytes) -> list[int]:
    return [int(token) for token in text_of(content).split()]


def check_qap(instance: qaplib.QapInstance, content: bytes) -> None:
    read = [instance.n, *instance.flows.ravel().tolist(), *instance.distances.ravel().tolist()]
    assert integers(content) == read


def check_perceptron(instance: perceptron.PerceptronInstance, content: bytes) -> None:
    m, n, *rest = integers(content)
    assert instance.matrix.ravel().tolist() == rest[: m * n]
    assert instance.targets.tolist() == sorted(rest[m * n :]) and len(instance.targets) == m


def check_knapsack(instance: knapsack.Knapsack, content: bytes) -> None:
    pairs = zip(instance.values.tolist(), instance.weights.tolist(), strict=True)
    read = [instance.n, instance.capacity, *(number for pair in pairs for number in pair)]
    found = integers(content.replace(b",", b" "))
    solution = found[len(read) :]  # a zero or one for each item, or nothing
    assert found == read + solution and len(solution) in (0, instance.n) and {*solution} <= {0, 1}


def check_pisinger(instance: knapsack.Knapsack, content: bytes) -> None:
    rows = [row.replace(",", " ").split() for row in rows_of(content)[5 : 5 + instance.n]]
    assert [(int(row[1]), int(row[2])) for row in rows] == [*zip(instance.values, instance.weights, strict=True)]
    assert instance.capacity == int(re.search(r"^\s*c\s+(\+?\d+)", text_of(content), re.M)[1])


def check_fasta(string: tuple[str, str], content: bytes) -> None:
    assert set(string[1]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ*-") & set(content.decode("latin-1").upper())
    assert b">" in content


def check_pair(pair: problem.StringPair, content: bytes) -> None:
    assert content.count(b">") >= 2 and len(pair.a) + len(pair.b) < len(content)


def check_text(string: tuple[str, str], content: bytes) -> None:
    if not content.startswith((b">", b"\n", b"\r", b";")) and 0 not in content[:4]:  # zero bytes: UTF-16 or UTF-32
        assert string[1].encode() == content.removeprefix(b"\xef\xbb\xbf").translate(None, b"\r\n")


def check_matrix(instance: Any, content: bytes) -> None:
    rows = [row.partition("#")[0].replace(",", " ").split() for row in rows_of(content)]
    expected = np.array([[float(word) for word in row] for row in rows if row])
    check_symmetric(instance, expected)


def check_array(instance: Any, content: bytes) -> None:
    with warnings.catch_warnings(action="ignore"):
        expected = np.load(io.BytesIO(content), allow_pickle=False)
    check_symmetric(instance, expected)


def check_symmetric(instance: Any, expected: np.ndarray) -> None:
    off_diagonal = ~np.eye(len(expected), dtype=bool)
    assert (instance.distances == instance.distances.T).all() and not instance.distances.diagonal().any()
    assert (instance.distances[off_diagonal] == expected[off_diagonal]).all()


# --- the readers, and a few good files of each ---


class Reader(NamedTuple):
    """A kind of files: its suffix, valid examples, and the function that reads and checks them."""

    suffix: str
    good: list[bytes]
    read: Callable[[str], Any]
    check: Callable[[Any, bytes], None]


def texts(*good: str) -> list[bytes]:
    return [text.encode() for text in good]


def arrays(*good: np.ndarray) -> list[bytes]:
    saved = []
    for array in good:
        file = io.BytesIO()
        np.save(file, array)
        saved.append(file.getvalue())
    return saved


def longest(matrix: np.ndarray) -> np.ndarray:
    """The matrix as the widest floats, column by column, with 0 for unused bytes."""
    wide = np.asfortranarray(matrix.astype(np.longdouble))
    if np.finfo(np.longdouble).nmant == 63:  # 80 bits, in 12 or 16 bytes
        wide.T.view(np.uint8).reshape(wide.size, -1)[:, 10:] = 0
    return wide


MATRIX = np.array([[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [14, 24, 34, 0]])
TOUR = "NAME : a\nTYPE : TOUR\nDIMENSION : 5\nTOUR_SECTION\n1 3\n5 2\n4\n-1\nEOF\n"
QAPS = ["3\n\n0 1 2\n3 0 4\n5 6 0\n\n 0 7 8\n 9 0 10\n 11 12 0\n", "1\n5\n7\n", "2 0 -3 4 0\n0 99999 1 0\n"]
PERCEPTRONS = ["2 3\n1 -1 1\n-1 -1 +1\n1 3\n", "3 2\n1 1\n1 -1\n-1 -1\n0 2\n2\n"]
PISINGER = "knapPI_1_3\nn 3\nc 995\nz 94\ntime 0.00\n1,94,485,0\n2,506,326,1\n3,416,248,1\n-----\n\nknapPI_1_3\nn 3\n"
FASTA = ">one first of two\nACGTacgt\nTTGA-*\n\n;remark\n>two\nCCGT\nAA\n"
MATRICES = ["0 1\n1 0\n", "# of 3\n9,2,3\n2,0,4e0\n\n3 4 0.0 # last\n", "5\n"]
TABLES = ["0 1 2\n1 0 3\n2 3 0\n", "   0    29    82\n  29     0    55\n  82    55     0\n\n"]
ARRAYS = [MATRIX, MATRIX.astype(np.uint8), MATRIX.astype(">f4"), longest(MATRIX)]
PACKED = [gzip.compress(text, mtime=0) for text in texts(*samples.ALL)]

READERS = {
    "TSPLIB": Reader(".tsp", texts(*samples.ALL, *REAL), tsplib.load, check_tsp),
    "TSPLIB, packed": Reader(".tsp.gz", PACKED, tsplib.load, check_tsp),
    "tour": Reader(".tour", texts(TOUR, TOUR.replace("DIMENSION : 5\n", "")), tour_files.read, check_tour),
    "QAPLIB": Reader(".dat", texts(*QAPS), qaplib.read, check_qap),
    "perceptron": Reader(".ppp", texts(*PERCEPTRONS), perceptron.load, check_perceptron),
    "knapsack": Reader(".kp", texts("3 10\n5 4\n40 7\n4294967295 0\n", "1 5\n3 5\n"), knapsack.load, check_knapsack),
    "knapsack by Pisinger": Reader(".csv", texts(PISINGER), knapsack.load, check_pisinger),
    "FASTA record": Reader(".fa", texts(FASTA), strings.load_string, check_fasta),
    "FASTA pair": Reader(".fasta", texts(FASTA), strings.load, check_pair),
    "string": Reader(".txt", texts("kitten\n", "sitting", "\r\n", FASTA), strings.load_string, check_text),
    "matrix": Reader(".txt", texts(*MATRICES), load_matrix, check_matrix),
    "matrix of an instance": Reader(matrix_text.SUFFIX, texts(*TABLES, *BURKARDT), sources.read, check_matrix),
    "array": Reader(".npy", arrays(*ARRAYS), load_matrix, check_array),
}


# --- damage ---


def damaged(text: str, draw: random.Random) -> str:
    kind, lines = draw.choice(KINDS), text.split("\n")
    line, there = draw.randrange(len(lines)), draw.randrange(len(lines))
    token = draw.choice([*NUMBERS, *LARGE, *WORDS, *CHARACTERS, str(draw.randint(-9, 99)), repr(draw.uniform(-99, 99))])
    if kind in ("cut", "character", "byte"):
        place = draw.randrange(len(text) + 1)
        put = {"cut": "", "character": token, "byte": chr(draw.randrange(256))}[kind]
        return text[:place] + put + (text[place + 1 :] if put else "")
    if kind == "drop line":
        del lines[line]
    elif kind == "double line":
        lines.insert(there, lines[line])
    elif kind == "swap lines":
        lines[line], lines[there] = lines[there], lines[line]
    elif kind == "line":
        lines.insert(line, token)
    else:
        words = lines[line].split(" ")
        words[draw.randrange(len(words))] = token
        lines[line] = " ".join(words)
    return "\n".join(lines)


def damaged_file(name: str, k: int) -> bytes:
    draw = random.Random(f"{name} {k}")
    # Bytes are characters below 256; a character above represents its UTF-8 bytes.
    text = draw.choice(READERS[name].good).decode("latin-1")
    for _ in range(draw.randint(1, 4)):
        text = damaged(text, draw)
    return b"".join(bytes([ord(c)]) if ord(c) < 256 else c.encode(errors="surrogatepass") for c in text)


def outcome(reader: Reader, path: Path, content: bytes) -> str:
    """Read a file, check what comes of it, and return "read" or "refused"."""
    path.write_bytes(content)
    try:
        with warnings.catch_warnings(action="error"):
            warnings.simplefilter("ignore", UserWarning)  # notes
            result = reader.read(str(path))
            reader.check(result, gzip.decompress(content) if path.suffix == ".gz" else content)
            return "read"
    except InstanceError as error:
        assert str(error).startswith(str(path)) and str(error).isprintable() and len(str(error)) < 1000
        assert error.found and error.expected
        assert error.line is None or 1 <= error.line <= 1 + content.count(b"\n") + content.count(b"\r")
        return "refused"


def read_damaged_files(name: str, folder: Path, numbers: range) -> set[str]:
    path = folder / f"fuzzed{READERS[name].suffix}"
    outcomes = set()
    for k in numbers:
        content = damaged_file(name, k)
        begin = time.process_time()
        try:
            outcomes.add(outcome(READERS[name], path, content))
        except Exception as error:
            error.add_note(f"damaged_file({name!r}, {k}) is {content[:400]!r}")
            raise
        # processor time, and much more than any file takes, so that no test fails on a busy machine
        assert time.process_time() - begin < 10.0
    return outcomes


@pytest.mark.parametrize("name", READERS)
def test_good_files_are_read(tmp_path, name):
    for content in READERS[name].good:
        assert outcome(READERS[name], tmp_path / f"good{READERS[name].suffix}", content) == "read"


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_a_valid_instance_or_one_error(tmp_path, name):
    read_damaged_files(name, tmp_path, range(50))


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_a_thousand_damaged_files_are_valid_instances_or_one_error_each(tmp_path, name):
    # damage that is always seen, or never, would test nothing
    assert read_damaged_files(name, tmp_path, range(50, 1050)) == {"read", "refused"}
