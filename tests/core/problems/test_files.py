"""What is no regular file: refused at once, by every reader, in one line that says what it is."""

import gzip
import os
import socket
import sys

import pytest

from core.problems import files, qaplib, strings
from core.problems.errors import InstanceError
from tests.core.problems.test_fuzz import READERS

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.mark.timeout(60)  # a pipe that is opened blocks for ever
@needs_pipes
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these devices are Linux's")
def test_devices_and_sockets_are_refused_and_not_opened(tmp_path):
    for path in ("/dev/zero", "/dev/full"):
        with pytest.raises(InstanceError, match=f"^{path}: found a device, expected a QAPLIB file$"):
            qaplib.read(path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(InstanceError, match="socket: found a socket, expected"):
            strings.load_string(str(tmp_path / "socket"))


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
@pytest.mark.parametrize("name", READERS)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, name):
    # of this process's memory, whose first bytes nobody may read
    path = tmp_path / f"memory{READERS[name].suffix}"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(InstanceError, match=r"memory\S+: found unreadable content \(Input/output error\), expected"):
        READERS[name].read(str(path))


def test_a_packed_file_is_not_unpacked_beyond_the_limit(tmp_path):
    (tmp_path / "bomb.GZ").write_bytes(gzip.compress(bytes(10**6)))
    assert files.read_bytes(tmp_path / "bomb.GZ", "a file", 10**6) == bytes(10**6)
    with pytest.raises(InstanceError, match="bomb.GZ: found more than 999999 bytes"):
        files.read_bytes(tmp_path / "bomb.GZ", "a file", 10**6 - 1)


def test_an_error_stays_on_one_line_whatever_a_file_is_called(tmp_path):
    with pytest.raises(InstanceError) as raised:
        qaplib.read(tmp_path / "two\nlines\x1b[2J\udcff.dat")
    assert str(raised.value).endswith(r"two\nlines\x1b[2J\udcff.dat: found no such file, expected a QAPLIB file")


@needs_pipes
def test_a_file_in_the_data_folder_counts_more_than_a_pipe_of_its_name_here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    os.mkfifo("a.txt")
    (tmp_path / "a.txt").write_text("kitten\n")
    assert strings.load_string("a.txt", tmp_path) == ("a", b"kitten")
    with pytest.raises(InstanceError, match="^a.txt: found a pipe, expected a FASTA file"):
        strings.load_string("a.txt")
