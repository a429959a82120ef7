"""Downloads from servers that are slow, endless or hostile, and downloads that a signal ends."""

import gzip
import hashlib
import http.server
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import pytest

from core.problems import catalogue, download, fetch, known
from core.problems.__main__ import main
from core.problems.errors import FetchError, InstanceError
from tests.patience import soon

ROOT = Path(__file__).parents[3]
NAME = next(iter(known.collection("tsplib")))


class Hostile(http.server.ThreadingHTTPServer):
    """A server whose answer is a function of the request, and which tells when it was asked."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Page)
        self.answer = answer
        self.asked, self.done = threading.Event(), threading.Event()
        self.sent = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Page(http.server.BaseHTTPRequestHandler):
    """Answers as its server says."""

    def do_GET(self):  # noqa: N802 (the base class's name)
        """Answer one request."""
        self.server.asked.set()
        try:
            self.server.answer(self)
        except OSError:
            pass  # the other side has left, as it should
        finally:
            self.close_connection = True

    def send(self, content):
        """Send some bytes, and count them."""
        self.wfile.write(content)
        self.server.sent += len(content)

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """Starts a server for a function, which stands for TSPLIB's site; ends it after the test."""
    servers = []
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("TSPLIB_DIR", raising=False)

    def start(answer):
        server = Hostile(answer)
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        servers.append(server)
        monkeypatch.setenv("TSPLIB_URL", server.url)
        return server

    yield start
    for server in servers:
        server.done.set()
        server.shutdown()
        server.server_close()


def endless(page):
    page.send_response(200)
    page.end_headers()
    while not page.server.done.is_set():
        page.send(bytes(2**16))


def silent(page):
    page.server.done.wait(60)


def slow(page):
    page.send_response(200)
    page.end_headers()
    while not page.server.done.wait(0.02):
        page.send(b"x")


def slow_headers(page):
    page.wfile.write(b"HTTP/1.1 200 OK\r\nX-Header: ")
    while not page.server.done.wait(0.02):
        page.send(b"x")


def outcome(name=NAME):
    """What `fetch` says of an instance that does not come."""
    return next(iter(fetch.fetch_collection("tsplib", [name])))[1]


def test_an_endless_file_is_given_up_at_the_largest_size(serve, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 2**18)
    server = serve(endless)
    assert outcome().endswith(f"{NAME}.tsp.gz sent more than 262144 bytes, expected a smaller file")
    assert server.sent < 2**24  # what the system's buffers held, and no more


def test_a_file_that_is_announced_to_be_too_large_is_not_loaded(serve):
    def answer(page):
        page.send_response(200)
        page.send_header("Content-Length", str(10**15))
        page.end_headers()

    serve(answer)
    assert outcome().endswith(f" announces {10**15} bytes, expected {64 * 2**20} at most")


@pytest.mark.parametrize("answer", [slow, slow_headers, silent])
def test_a_file_that_does_not_end_is_given_up_after_the_longest_time(answer, serve, monkeypatch):
    monkeypatch.setattr(download, "LONGEST_S", 0.2)
    serve(answer)
    fetched = fetch.fetch_collection("tsplib", [NAME, "gr17"])
    assert next(fetched)[1].endswith(f"{NAME}.tsp.gz sent no whole file within 0.2 s")
    assert "was not tried" in next(fetched)[1]


def test_a_file_that_unpacks_to_more_is_refused(serve, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 2**20)
    bomb = gzip.compress(bytes(2**26))
    assert len(bomb) < 2**17

    def answer(page):
        page.send_response(200)
        page.send_header("Content-Length", str(len(bomb)))
        page.end_headers()
        page.send(bomb)

    serve(answer)
    assert outcome().endswith("sent more than 1048576 bytes, expected a smaller file")


def test_a_file_that_the_server_says_to_be_packed_is_unpacked_to_no_more(serve, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 2**20)
    bomb = gzip.compress(bytes(2**26))

    def answer(page):
        page.send_response(200)
        page.send_header("Content-Length", str(len(bomb)))
        page.send_header("Content-Encoding", "gzip")
        page.end_headers()
        page.send(bomb)

    serve(answer)
    assert outcome().endswith("sent more than 1048576 bytes, expected a smaller file")


@pytest.mark.parametrize("reason", ["\x1b[2J\x1b]0;title\x07gone", "a\x9bb\x85c", "\x08\x08\x08ok", "a\tb\rc"])
def test_what_a_server_says_reaches_no_terminal_raw(reason, serve, capsys):
    serve(lambda page: page.wfile.write(f"HTTP/1.1 404 {reason}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")))
    assert main(["fetch", "tsplib", NAME]) == 1
    said = capsys.readouterr()
    assert " answers 404 " in said.out and "\\x" in said.out + said.err or "\\t" in said.out
    assert all(one.isprintable() or one == "\n" for one in said.out + said.err)
    assert len(said.out.splitlines()) == len(said.err.splitlines()) == 1


def test_an_error_of_a_download_is_one_printable_line():
    assert str(FetchError("a\x1b[1m\nb\u202e")) == "a\\x1b[1m\\nb\\u202e"


@pytest.mark.parametrize(
    "site",
    ["nonsense", "http://", "http://[::1", "http://host:port", "http://host:99999", "ftp://host", "file:///etc", "//host"]
    + ["http://a b", "http://host\n", "http://host/\x1b[1m", "http:///path", "javascript:x"],
)  # fmt: skip
@pytest.mark.parametrize("option", ["$TSPLIB_URL", "--url"])
def test_a_site_that_is_no_address_is_one_line(site, option, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.delenv("TSPLIB_DIR", raising=False)
    if option == "--url":
        monkeypatch.delenv("TSPLIB_URL", raising=False)
    else:
        monkeypatch.setenv("TSPLIB_URL", site)
    assert main(["fetch", "tsplib", NAME, *(["--url", site] if option == "--url" else [])]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert said.err.startswith(f"{option}: found ") and said.err.endswith(
        "expected an address such as https://host/folder\n"
    )


def test_an_empty_variable_names_no_site(monkeypatch):
    monkeypatch.setenv("TSPLIB_URL", "")
    assert len(catalogue.addresses("tsplib", NAME)) == 2
    with pytest.raises(InstanceError):
        catalogue.addresses("tsplib", NAME, "x")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("what", ["tsplib", "archive"])
def test_a_signal_leaves_nothing_behind(what, number, code, serve, environment, tmp_path):
    server = serve(silent if what == "archive" else slow)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    here = environment | {
        "TMPDIR": str(temporary),
        "ONEKERNEL_CACHE": str(tmp_path / "cache"),
        "TSPLIB_URL": server.url,
        "NO_PROXY": "127.0.0.1",
        "PIP_INDEX_URL": server.url,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_CACHE_DIR": str(tmp_path / "pip"),
    }
    here.pop("TSPLIB_DIR", None)
    words = [sys.executable, "-m", "core.problems", "fetch", what, *([NAME] if what == "tsplib" else [])]
    with subprocess.Popen(words, cwd=ROOT, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert soon(server.asked.is_set)
        job.send_signal(number)
        said = job.communicate(timeout=60)
    assert (job.returncode, *said) == (code, "", "")
    assert not list(temporary.iterdir()) and not list(tmp_path.glob("cache/**/*.*"))


def test_pip_writes_no_endless_archive(serve, monkeypatch, tmp_path):
    def answer(page):
        if page.path.endswith(".tar.gz"):
            endless(page)
            return
        page.send_response(200)
        page.send_header("Content-Type", "text/html")
        page.end_headers()
        page.send(b'<a href="/tsplib95-0.7.1.tar.gz">tsplib95-0.7.1.tar.gz</a>')

    server = serve(answer)
    for name, value in (
        ("INDEX_URL", server.url),
        ("CONFIG_FILE", os.devnull),
        ("NO_CACHE_DIR", "1"),
        ("RETRIES", "0"),
    ):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr(download, "LARGEST", 2**20)
    with pytest.raises(FetchError, match="pip met more than 1048576 bytes for tsplib95==0.7.1, expected a sm"):
        list(fetch.fetch_archive())
    assert server.sent < 2**24


def test_an_archive_that_unpacks_to_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 2**20)
    packed = tmp_path / "bomb.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for name in ("x/one", "x/two"):
            member = tarfile.TarInfo(name)
            member.size = 2**20 - 1
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    with pytest.raises(FetchError, match="has more than 1048576 bytes when unpacked, expected fewer"):
        fetch.extract(packed, tmp_path / "out", hashlib.sha256(packed.read_bytes()).hexdigest())
