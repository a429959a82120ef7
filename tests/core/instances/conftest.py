"""A web server on this machine that replaces the sites of all collections, and a user without instances."""

import gzip
import http.server
import threading

import pytest

from core.instances.downloads import catalogue


class Site(http.server.ThreadingHTTPServer):
    """A server with files in memory, or with a function as answer, that notes its requests."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.pages: dict[str, bytes] = {}
        self.breaks_off: set[str] = set()
        self.unpacks: set[str] = set()
        self.asked: list[str] = []
        self.answer = Page.from_memory
        self.done = threading.Event()
        self.sent = 0
        self.root = f"http://127.0.0.1:{self.server_address[1]}"
        self.url = f"{self.root}/tsplib"

    def hold(self, name: str, text: str, collection: str = "tsplib") -> str:
        path = f"/{collection}/" + catalogue.COLLECTIONS[collection].addresses[0].rpartition("/")[2].format(name=name)
        self.pages[path] = gzip.compress(text.encode()) if path.endswith(".gz") else text.encode()
        return path


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802 (the base class's name)
        self.server.asked.append(self.path)
        try:
            self.server.answer(self)
        except OSError:
            pass  # the other side has left, as it should
        finally:
            self.close_connection = True

    def from_memory(self):
        page = self.server.pages.get(self.path)
        unpacked = {"Content-Encoding": "gzip"} if self.path in self.server.unpacks else {}
        self.begin(404 if page is None else 200, {"Content-Length": str(len(page or b"")), **unpacked})
        self.send((page or b"")[: -5 if self.path in self.server.breaks_off else None])

    def begin(self, code=200, headers=()):
        self.send_response(code)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()

    def send(self, content):
        self.wfile.write(content)
        self.server.sent += len(content)

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture
def site(monkeypatch, no_instances):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Site() as server:
        for collection in catalogue.COLLECTIONS:
            monkeypatch.setenv(catalogue.site_variable(collection), f"{server.root}/{collection}/")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.done.set()
        server.shutdown()
        thread.join()
