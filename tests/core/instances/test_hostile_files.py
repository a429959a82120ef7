"""Files made to harm, and what is no regular file: each is refused by every reader in one line, cheaply."""

import gzip
import os
import pickle
import socket
import struct
import tracemalloc

import pytest

from core.instances import files, tsplib
from core.instances.errors import InstanceError
from core.qap import qaplib
from core.tables.lcs import strings
from tests.core.instances.test_fuzz import PERCEPTRONS, PISINGER, QAPS, READERS

B = 10**12
MOST_BYTES = 48 << 20  # readers take blocks of 16 MiB; the promised sizes need a thousand times as much
TSP = "NAME: x\nTYPE: TSP\nDIMENSION: {}\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 1 1\n2 2 2\n3 3 3\nEOF\n"
MATRIX_TSP = "NAME: x\nTYPE: TSP\nDIMENSION: {}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n1\n"


class Harm:
    def __reduce__(self):
        return os.mkdir, ("unpickled",)


def array(shape, kind="<f8", data=b""):
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


HEADERS = {
    "TSPLIB": [TSP.format(B), TSP.format("9" * 100_000), MATRIX_TSP.format(B), TSP.format(3).replace("2 2 2", f"{B} 2 2"), ":" * 10**5],
    "TSPLIB, packed": [gzip.compress(gzip.compress(TSP.format(3).encode())), gzip.compress(b"NAME: x")[:-9], b"PK\x03\x04"],
    "tour": [f"TYPE : TOUR\nDIMENSION : {B}\nTOUR_SECTION\n1 3 2\n-1\n", f"TYPE : TOUR\nTOUR_SECTION\n{B} 1 2\n-1\n"],
    "QAPLIB": [f"{B}\n1 2 3\n", "70000 1 1\n", "9" * 100_000],
    "perceptron": [f"{B} 3\n1 1 1\n", f"3 {B}\n1\n", "100000 100000\n1\n"],
    "knapsack": [f"{B} 10\n5 4\n", f"2 10\n{B**3} 4\n1 1\n"],
    "knapsack by Pisinger": [PISINGER.replace("n 3", f"n {B}")],
    "FASTA record": [">x\n\0\0\n", b"\xff\xfe>\0x\0\n\0A"],
    "matrix": ["1e308 1e999\n0 0\n", b"\xff\xfe1\0 \0", "1 " * 10_000],
    "array": [
        array((B, B)), array((10**9,)), array((-1, -1)), array((2**62, 8)), array((2, 2), "|O", pickle.dumps(Harm())),
        pickle.dumps(Harm()), array((3, 3), "<U1000000000"), b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b" " * 99,
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_promise_too_much_are_refused_without_the_memory(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"hostile{READERS[name].suffix}"
    for content in HEADERS[name]:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        tracemalloc.start()
        try:
            with pytest.raises(InstanceError) as refusal:
                READERS[name].read(str(path))
            assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
        finally:
            tracemalloc.stop()
        assert str(refusal.value).isprintable() and len(str(refusal.value)) < 1000
    assert os.listdir() == [path.name]


STRANGE, SHOWN = "a\n\x1b[2J\udcffb", r"a\n\x1b[2J\udcffb"
GOOD = {
    "TSPLIB": TSP.format(3), "QAPLIB": QAPS[0], "perceptron": PERCEPTRONS[0], "knapsack": "1 5\n3 5\n",
    "matrix": "0 1\n1 0\n", "matrix of an instance": "0 1 2\n1 0 3\n2 3 0\n",
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_an_instance_has_a_printable_name_whatever_its_file_is_called(tmp_path, name):
    path = tmp_path / (STRANGE + READERS[name].suffix)
    path.write_text(GOOD[name])
    name_read = READERS[name].read(str(path)).name
    assert name_read.startswith(SHOWN) and name_read.isprintable()


def test_names_within_files_are_printable_too(tmp_path):
    (tmp_path / "a.csv").write_text(PISINGER.replace("knapPI", "knap\x1b[2JPI"))
    assert READERS["knapsack by Pisinger"].read(str(tmp_path / "a.csv")).name == r"knap\x1b[2JPI_1_3"
    (tmp_path / "a.fa").write_text(">one\x1b[2J first\nACGT\n>two\x07\nAC\n")
    assert strings.load(str(tmp_path / "a.fa")).name == r"one\x1b[2J, two\x07"
    (tmp_path / (STRANGE + ".npy")).write_bytes(READERS["array"].good[0])
    assert READERS["array"].read(str(tmp_path / (STRANGE + ".npy"))).name == SHOWN


# --- what is no regular file ---


@pytest.mark.timeout(60)  # a pipe that is opened blocks for ever
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_and_a_folder_are_refused_and_not_opened(tmp_path, name):
    reader = READERS[name]
    pipe, folder, gone = (tmp_path / f"{stem}{reader.suffix}" for stem in ("pipe", "folder", "gone"))
    os.mkfifo(pipe)
    folder.mkdir()
    for path, what in ((pipe, "a pipe"), (folder, "a folder"), (gone, "no such file")):
        with pytest.raises(InstanceError) as raised:
            reader.read(str(path))
        assert str(raised.value).startswith(f"{path}: found {what}") and ", expected " in str(raised.value)


def test_devices_sockets_and_links_to_nowhere_are_refused_and_not_opened(tmp_path):
    for path in ("/dev/zero", "/dev/full"):
        with pytest.raises(InstanceError, match=f"^{path}: found a device, expected a QAPLIB file$"):
            qaplib.read(path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(InstanceError, match="socket: found a socket, expected"):
            strings.load_string(str(tmp_path / "socket"))
    for target, found in (("loop.tsp", "Too many levels of symbolic links"), ("/dev/zero", "a device")):
        (tmp_path / "loop.tsp").unlink(missing_ok=True)
        (tmp_path / "loop.tsp").symlink_to(target)
        with pytest.raises(InstanceError, match=found):
            tsplib.load(tmp_path / "loop.tsp")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, name):
    # this process's memory; its first bytes cannot be read
    path = tmp_path / f"memory{READERS[name].suffix}"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(InstanceError, match=r"memory\S+: found unreadable content \(Input/output error\), expected"):
        READERS[name].read(str(path))


def test_a_packed_file_is_not_unpacked_beyond_the_limit(tmp_path):
    (tmp_path / "bomb.GZ").write_bytes(gzip.compress(bytes(10**6)))
    assert files.read_bytes(tmp_path / "bomb.GZ", "a file", 10**6) == bytes(10**6)
    with pytest.raises(InstanceError, match="bomb.GZ: found more than 999999 bytes"):
        files.read_bytes(tmp_path / "bomb.GZ", "a file", 10**6 - 1)
    (tmp_path / "text.gz").write_bytes(gzip.compress(bytes(files.LARGEST_TEXT + 1), 1))
    with pytest.raises(InstanceError, match="text.gz: found more than 67108864 bytes, expected an unpacked file"):
        strings.load_string(str(tmp_path / "text.gz"))


def test_a_file_in_the_data_folder_counts_more_than_a_pipe_of_its_name_here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    os.mkfifo("a.txt")
    (tmp_path / "a.txt").write_text("kitten\n")
    assert strings.load_string("a.txt", tmp_path) == ("a", "kitten")
    with pytest.raises(InstanceError, match="^a.txt: found a pipe, expected a FASTA file"):
        strings.load_string("a.txt")
