"""Downloads from servers that are slow, endless or hostile, and downloads that a signal ends."""

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.instances import optima
from core.instances.__main__ import main
from core.instances.downloads import catalogue, download, fetch
from core.instances.errors import FetchError
from tests.patience import soon

ROOT = Path(__file__).parents[3]
NAME = next(iter(optima.collection("tsplib")))
SLOW = pytest.mark.slow


def endless(page):
    page.begin()
    while not page.server.done.is_set():
        page.send(bytes(2**16))


def silent(page):
    page.server.done.wait(60)


def slow(page):
    page.begin()
    while not page.server.done.wait(0.02):
        page.send(b"x")


def slow_headers(page):
    page.wfile.write(b"HTTP/1.1 200 OK\r\nX-Header: ")
    while not page.server.done.wait(0.02):
        page.send(b"x")


def outcome():
    return next(iter(fetch.fetch_collection("tsplib", [NAME])))[1]


def test_an_endless_file_is_given_up_at_the_largest_size(site, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", 2**18)
    site.answer = endless
    assert outcome().endswith(f"{NAME}.tsp.gz sent more than 262144 bytes, expected a smaller file")
    assert site.sent < 2**24  # the content of the system's buffers and no more


def test_a_file_that_is_announced_to_be_too_large_is_not_loaded(site):
    site.answer = lambda page: page.begin(headers={"Content-Length": str(10**15)})
    assert outcome().endswith(f" announces {10**15} bytes, expected {64 * 2**20} at most")


@pytest.mark.parametrize("answer", [slow, slow_headers, silent])
def test_a_file_that_does_not_end_is_given_up_after_the_longest_time(answer, site, monkeypatch):
    monkeypatch.setattr(download, "LONGEST_S", 0.2)
    site.answer = answer
    fetched = fetch.fetch_collection("tsplib", [NAME, "gr17"])
    assert next(fetched)[1].endswith(f"{NAME}.tsp.gz sent no whole file within 0.2 s")
    assert "was not tried" in next(fetched)[1]


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}], ids=["packed file", "packed page"])
def test_a_file_that_unpacks_to_more_is_refused(site, monkeypatch, headers):
    monkeypatch.setattr(download, "LARGEST", 2**20)
    bomb = gzip.compress(bytes(2**24))

    def answer(page):
        page.begin(headers={"Content-Length": str(len(bomb)), **headers})
        page.send(bomb)

    site.answer = answer
    assert outcome().endswith("sent more than 1048576 bytes, expected a smaller file")


@pytest.mark.parametrize("reason", ["\x1b[2J\x1b]0;title\x07gone", "a\x9bb\x85c", "a\tb\rc"])
def test_what_a_server_says_reaches_no_terminal_raw(reason, site, capsys):
    site.answer = lambda page: page.wfile.write(f"HTTP/1.1 404 {reason}\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
    assert main(["fetch", "tsplib", NAME]) == 1
    said = capsys.readouterr()
    assert " answers 404 " in said.out and "\\x" in said.out + said.err or "\\t" in said.out
    assert all(one.isprintable() or one == "\n" for one in said.out + said.err)
    assert len(said.out.splitlines()) == len(said.err.splitlines()) == 1


NO_SITES = "nonsense|http://|http://[::1|http://host:port|http://host:99999|ftp://host|file:///etc|//host|http://a b"


@pytest.mark.parametrize("site", [*NO_SITES.split("|"), "http://host\n", "http://host/\x1b[1m", "http:///path"])
def test_a_site_that_is_no_address_is_one_line(site, monkeypatch, capsys, no_instances):
    monkeypatch.setenv("TSPLIB_URL", site)
    assert main(["fetch", "tsplib", NAME]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    assert said.err.startswith("$TSPLIB_URL: found ")
    assert said.err.endswith("expected an address such as https://host/folder\n")


def test_an_empty_variable_names_no_site(monkeypatch):
    monkeypatch.setenv("TSPLIB_URL", "")
    assert len(catalogue.addresses("tsplib", NAME)) == 2


@pytest.mark.parametrize(
    ("what", "number", "code"),
    [
        ("tsplib", signal.SIGTERM, 143),
        pytest.param("tsplib", signal.SIGINT, 130, marks=SLOW),
        pytest.param("archive", signal.SIGTERM, 143, marks=SLOW),
        pytest.param("archive", signal.SIGINT, 130, marks=SLOW),
    ],
)
def test_a_signal_leaves_nothing_behind(what, number, code, site, environment, tmp_path):
    site.answer = silent if what == "archive" else slow
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    env = environment | {
        "TMPDIR": str(temporary),
        "ONEKERNEL_CACHE": str(tmp_path / "cache"),
        "TSPLIB_URL": site.url,
        "NO_PROXY": "127.0.0.1",
        "PIP_INDEX_URL": site.root,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_CACHE_DIR": str(tmp_path / "pip"),
    }
    env.pop("TSPLIB_DIR", None)
    words = [sys.executable, "-m", "core.instances", "fetch", what, *([NAME] if what == "tsplib" else [])]
    with subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        assert soon(lambda: site.asked)
        job.send_signal(number)
        said = job.communicate(timeout=60)
    assert (job.returncode, *said) == (code, "", "")
    assert not list(temporary.iterdir()) and not list(tmp_path.glob("cache/**/*.*"))


@pytest.mark.slow
def test_pip_writes_no_endless_archive(site, monkeypatch):
    def answer(page):
        if page.path.endswith(".tar.gz"):
            endless(page)
            return
        page.begin(headers={"Content-Type": "text/html"})
        page.send(b'<a href="/tsplib95-0.7.1.tar.gz">tsplib95-0.7.1.tar.gz</a>')

    site.answer = answer
    settings = {"INDEX_URL": site.root, "CONFIG_FILE": os.devnull, "NO_CACHE_DIR": "1", "RETRIES": "0"}
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr(download, "LARGEST", 2**20)
    with pytest.raises(FetchError, match="pip met more than 1048576 bytes for tsplib95==0.7.1, expected a sm"):
        list(fetch.fetch_archive())
    assert site.sent < 2**24
