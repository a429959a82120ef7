"""Downloads, from a web server on this machine and from an archive made here."""

import gzip
import hashlib
import http.server
import io
import tarfile
import threading

import pytest

from core.problems import fetch, known, tsplib
from core.problems.errors import FetchError, InstanceError, UnreachableError
from tests.core.problems import samples


class Site(http.server.ThreadingHTTPServer):
    """A web server that holds packed files in memory and remembers what it was asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/tsp"

    def hold(self, name: str, text: str) -> None:
        """Serve a text, packed, as the instance of that name."""
        self.pages[f"/tsp/{name}.tsp.gz"] = gzip.compress(text.encode())


class Page(http.server.BaseHTTPRequestHandler):
    """Answers with the page, or 404."""

    def do_GET(self):  # noqa: N802 (the base class's name)
        """Answer one request."""
        self.server.asked.append(self.path)
        page = self.server.pages.get(self.path)
        self.send_response(404 if page is None else 200)
        self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture
def site(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("TSPLIB_URL", raising=False)
    with Site() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def five(monkeypatch):
    """Shrink TSPLIB to three names with the content of one small instance."""
    digest = tsplib.parse(samples.EUCLIDEAN).sha256
    rows = {name: known.Published(name, "tsplib", 5, None, digest) for name in ("five", "house", "home")}
    monkeypatch.setattr(known, "tsplib", lambda: rows)


def test_real_instances_arrive_in_the_cache(site, shared_data):
    for name in ("burma14", "gr17"):
        site.hold(name, (shared_data / "tsplib" / f"{name}.tsp").read_text())
    outcomes = dict(fetch.fetch_tsplib(["burma14", "gr17"], site=site.url))
    for name, optimum in (("burma14", 3323), ("gr17", 2085)):
        path = fetch.cache_folder() / "tsplib" / f"{name}.tsp"
        assert outcomes[name] == f"fetched {path}"
        assert tsplib.load(path).optimum == optimum


def test_digest_survives_another_mirrors_white_space(site, five, tmp_path):
    site.hold("five", samples.EUCLIDEAN.replace("\n", " \r\n").replace(" ", "   "))
    assert list(fetch.fetch_tsplib(["five"], tmp_path, site.url)) == [("five", f"fetched {tmp_path / 'five.tsp'}")]


def test_all_names_are_fetched_and_right_files_are_kept(site, five, tmp_path, monkeypatch):
    monkeypatch.setenv("TSPLIB_URL", site.url + "/")
    for name in ("five", "house", "home"):
        site.hold(name, samples.EUCLIDEAN)
    assert [outcome.split()[0] for _, outcome in fetch.fetch_tsplib((), tmp_path)] == ["fetched"] * 3
    (tmp_path / "house.tsp").write_text(samples.EUCLIDEAN.replace("10.5", "10.6"))
    (tmp_path / "home.tsp").write_text("half a fi")
    site.asked.clear()
    outcomes = [outcome.split()[0] for _, outcome in fetch.fetch_tsplib((), tmp_path)]
    assert outcomes == ["kept", "fetched", "fetched"]
    assert site.asked == ["/tsp/house.tsp.gz", "/tsp/home.tsp.gz"]


@pytest.mark.parametrize(
    "text, words",
    [
        (samples.EUCLIDEAN.replace("10.5", "10.6"), "sent another instance than the pinned five"),
        ("<html>Not here</html>", "not an instance: http"),
        (samples.EUCLIDEAN[:-40], "not an instance: http"),
    ],
)
def test_wrong_content_is_not_installed(site, five, tmp_path, text, words):
    site.hold("five", text)
    site.hold("home", samples.EUCLIDEAN)
    outcomes = fetch.fetch_tsplib(["five", "home"], tmp_path, site.url)
    name, outcome = next(outcomes)
    assert name == "five" and outcome.startswith("failed: ") and words in outcome
    # one bad file does not hold up the next
    assert next(outcomes)[1].startswith("fetched")
    with pytest.raises(FetchError, match="1 of 2 instances could not be fetched"):
        next(outcomes)
    assert [file.name for file in tmp_path.glob("**/*") if file.is_file()] == ["home.tsp"]


def test_content_that_is_not_packed_is_not_installed(site, five, tmp_path):
    site.pages["/tsp/five.tsp.gz"] = samples.EUCLIDEAN.encode()
    with pytest.raises(FetchError):
        list(fetch.fetch_tsplib(["five"], tmp_path, site.url))
    assert not (tmp_path / "five.tsp").exists()


def test_missing_page_and_missing_site_are_told_apart(site, five, tmp_path):
    outcomes = fetch.fetch_tsplib(["five", "home"], tmp_path, site.url)
    assert "404" in next(outcomes)[1]
    # nothing listens on port 9 of this machine
    with pytest.raises(UnreachableError, match="cannot be reached"):
        list(fetch.fetch_tsplib(["five", "home"], tmp_path, "http://127.0.0.1:9/tsp"))


def test_unknown_name_is_refused_before_any_download(site, tmp_path):
    with pytest.raises(InstanceError, match="kroA1: found no such name"):
        list(fetch.fetch_tsplib(["gr17", "kroA1"], tmp_path, site.url))
    assert site.asked == []


def test_folder_that_cannot_be_written_is_named(site, five, tmp_path):
    (tmp_path / "file").write_text("")
    site.hold("five", samples.EUCLIDEAN)
    outcome = next(iter(fetch.fetch_tsplib(["five"], tmp_path / "file", site.url)))[1]
    assert f"{tmp_path / 'file' / 'five.tsp'} cannot be written" in outcome


def archive_of(path, texts):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_archive_gives_its_instances_once(shared_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    texts = {
        f"tsplib95-0.7.1/tests/data/{name}.tsp": (shared_data / "tsplib" / f"{name}.tsp").read_text()
        for name in fetch.ARCHIVED
    }
    packed = archive_of(tmp_path / "source.tar.gz", {**texts, "setup.py": "raise SystemExit"})
    monkeypatch.setattr(fetch.extract, "__defaults__", (digest_of(packed),))
    downloads = []
    monkeypatch.setattr(fetch, "_download_archive", lambda folder: downloads.append(folder) or packed)
    folder = tmp_path / "cache" / "archive"
    for outcome in ("fetched", "kept"):
        assert dict(fetch.fetch_archive()) == {name: f"{outcome} {folder / name}.tsp" for name in fetch.ARCHIVED}
        for name in fetch.ARCHIVED:
            assert tsplib.load(folder / f"{name}.tsp").sha256 == known.tsplib()[name].sha256
    assert len(downloads) == 1


def test_damaged_or_incomplete_archive_is_refused(tmp_path):
    def refused(path, words):
        with pytest.raises(FetchError, match=words):
            fetch.extract(path, tmp_path / "out", digest_of(path))

    (tmp_path / "a.tar.gz").write_text("no archive")
    refused(tmp_path / "a.tar.gz", "not a source archive")
    refused(archive_of(tmp_path / "b.tar.gz", {"x/gr17.tsp": samples.FULL}), "lacks pcb442, att532, gr666")
    whole = archive_of(tmp_path / "c.tar.gz", {f"x/{name}.tsp": samples.FULL for name in fetch.ARCHIVED})
    refused(whole, "sent another instance than the pinned gr17")
    content = whole.read_bytes()
    for k in range(0, len(content), 7):
        # somewhere a byte that was not there, of the same digest as far as `extract` knows
        whole.write_bytes(content[:k] + bytes([content[k] ^ 0x55]) + content[k + 1 :])
        refused(whole, "archive")
    assert not (tmp_path / "out").exists()


def test_an_archive_with_other_bytes_than_the_pinned_ones_is_not_opened(tmp_path, monkeypatch):
    packed = archive_of(tmp_path / "a.tar.gz", {f"x/{name}.tsp": samples.FULL for name in fetch.ARCHIVED})
    monkeypatch.setattr(tarfile, "open", None)
    with pytest.raises(
        FetchError, match=f"a.tar.gz has the SHA-256 {digest_of(packed)}, expected {fetch.ARCHIVE_SHA256}"
    ):
        fetch.extract(packed, tmp_path / "out")


@pytest.mark.parametrize(
    "name, kind, target, words",
    [
        ("x/gr17.tsp", tarfile.SYMTYPE, "/etc/passwd", "a link or device, 'x/gr17.tsp'"),
        ("x/gr17.tsp", tarfile.SYMTYPE, "nowhere.tsp", "a link or device, 'x/gr17.tsp'"),
        ("x/gr17.tsp", tarfile.SYMTYPE, "gr17.tsp", "a link or device, 'x/gr17.tsp'"),
        ("x/gr17.tsp", tarfile.LNKTYPE, "x/other.tsp", "a link or device, 'x/gr17.tsp'"),
        ("x/other", tarfile.FIFOTYPE, "", "a link or device, 'x/other'"),
        ("../gr17.tsp", tarfile.REGTYPE, "", "the member '../gr17.tsp', expected a path within the archive"),
        ("x/../../gr17.tsp", tarfile.REGTYPE, "", r"the member 'x/../../gr17.tsp'"),
        ("/tmp/gr17.tsp", tarfile.REGTYPE, "", "the member '/tmp/gr17.tsp'"),
    ],
)
def test_an_archive_that_leads_out_of_itself_is_refused(tmp_path, name, kind, target, words):
    packed = tmp_path / "a.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        archive.addfile(member)
    with pytest.raises(FetchError, match=words):
        fetch.extract(packed, tmp_path / "out", digest_of(packed))


def test_pip_without_an_index_is_reported_in_its_own_words(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(FetchError, match="pip cannot download tsplib95==0.7.1 .*No matching distribution"):
        list(fetch.fetch_archive())


def test_pip_does_not_run_an_archive_with_other_bytes_than_the_pinned_ones(monkeypatch, tmp_path):
    setup = f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit('it ran')"
    archive_of(tmp_path / "tsplib95-0.7.1.tar.gz", {"tsplib95-0.7.1/setup.py": setup})
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # as pip reads it: build with what is installed here
    with pytest.raises(FetchError, match="DO NOT MATCH THE HASHES"):
        list(fetch.fetch_archive())
    assert not (tmp_path / "ran").exists()
