"""Lists of hosts: Open MPI's format, and one line with file, line, found and expected for each mistake in it."""

import os
import sys

import pytest

from cluster.launch.host_file import Host, HostFileError, is_here, read_host_file, require_reachable


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "hosts"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_hosts_have_names_slots_and_most_slots(written):
    path = written(
        "# our nodes\n\nnode1 slots=4 max_slots=8 # the fast one\nme@node2\tslots = 2\n10.0.0.3 max-slots=1\n"
    )
    assert read_host_file(path) == [Host("node1", 4, 8, 3), Host("me@node2", 2, None, 4), Host("10.0.0.3", None, 1, 5)]


SLOTS = "expected slots=N, a whole number from 1 to 65535"
WORDS = "expected a host's name, slots=N and max_slots=N"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb slots=four\n", f":2: found 'slots=four', {SLOTS}"),
        ("a slots=65536\n", f":1: found 'slots=65536', {SLOTS}"),
        ("a max_slots=" + "9" * 5000, f":1: found 'max_slots=99...9999999999999', {SLOTS.replace('sl', 'max_sl')}"),
        ("a slots=2 slots=3\n", ":1: found slots again, expected it once"),
        ("a slots=4 max_slots=2\n", ":1: found max_slots=2, expected 4 or more, as there are slots"),
        ("a cores=4\n", f":1: found 'cores=4', {WORDS}"),
        ("-oProxyCommand=x\n", f":1: found '-oProxyCommand=x', {WORDS}"),
        ("a\nb\n\na slots=2\n", ":4: found a again, expected it once (line 1 has it)"),
        ("# nothing\n\n", f": found no host, expected lines of {WORDS.removeprefix('expected ')}"),
        (b"\xff\xfe\n", ": found bytes that are no UTF-8 text, expected a list of hosts"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, message, written):
    path = written(text)
    with pytest.raises(HostFileError) as caught:
        read_host_file(path)
    assert str(caught.value) == f"{path}{message}"
    assert caught.value.exit_code == 2


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    with pytest.raises(HostFileError, match="missing: found no such file or directory, expected a list of hosts"):
        read_host_file(tmp_path / "missing")
    with pytest.raises(HostFileError, match="found is a directory, expected a list of hosts"):
        read_host_file(tmp_path)


def test_names_of_this_machine_are_told_from_others():
    assert is_here("localhost") and is_here("127.0.0.1")
    assert not is_here("192.0.2.1") and not is_here("no-such-host.invalid")


def test_of_hosts_where_nothing_could_be_started_the_first_is_told(tmp_path, monkeypatch):
    (tmp_path / "ssh").write_text("#!/bin/sh\n[ $5 = there ] && exit 0\n[ $5 = refused ] && echo refused >&2\nexit 1\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    hosts = [Host(name, None, None, line) for line, name in enumerate(("localhost", "there", "bare", "refused"), 1)]
    require_reachable("hosts", hosts[:2])
    with pytest.raises(HostFileError, match=f"hosts:3: found bare: no {sys.executable} there, expected `ssh bare`"):
        require_reachable("hosts", hosts)
    with pytest.raises(HostFileError, match="hosts:4: found refused: refused, expected"):
        require_reachable("hosts", hosts[3:])
