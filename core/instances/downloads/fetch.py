"""Downloads: from publishers of instances, and the source archive of tsplib95, which has four of TSPLIB's instances.

Only the user's command runs them. A digest decides if content is accepted: of an instance that of its parsed content
(tsplib.tsv, qaplib.tsv), which ignores differences in white space between mirrors, and of the archive that of its
bytes, before any of it is run.
"""

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from core.instances.downloads import catalogue, download, papers
from core.instances.downloads.catalogue import COLLECTIONS
from core.instances.errors import FetchError, InstanceError, UnreachableError
from core.instances.optima import ARCHIVED

ARCHIVE = "tsplib95==0.7.1"
ARCHIVE_SHA256 = "3da80175dfb0478b967b87c508f75def47371188b6401b719441f2cedc817e00"

_ARCHIVE_FOLDER = "tsplib95-0.7.1/tests/data"
_ARCHIVE_SECONDS = 180


def fetch_collection(
    collection: str, names: Iterable[str] = (), folder: str | os.PathLike | None = None
) -> Iterator[tuple[str, str]]:
    """Download instances of a collection and yield (name, result) for each; by default all of COLLECTIONS[collection].

    A correct file in the folder is kept; without a folder, one in any searched place, and files go to the cache. The
    collection's addresses are tried one after the other.

    Raises `InstanceError` if the collection has no such name. Raises `FetchError` at the end if instances could not be
    downloaded: no connection, no such page, or other content than expected.
    """
    of_collection = COLLECTIONS[collection]
    chosen = _chosen(of_collection.digests(), list(names), of_collection.title)
    yield from _fetch_all([(name, collection) for name in chosen], folder)


def fetch_paper(
    paper: str, names: Iterable[str] = (), folder: str | os.PathLike | None = None
) -> Iterator[tuple[str, str]]:
    """Download the instances of a paper, each from its collection; as `fetch_collection`.

    For an instance that needs no file, the result is its origin.
    """
    collections = {instance.name: instance.collection for instance in papers.instances_of(paper)}
    chosen = _chosen(collections, list(names), paper)
    yield from _fetch_all([(name, collections[name]) for name in chosen], folder)


def _chosen(known_names: Iterable[str], names: Sequence[str], where: str) -> list[str]:
    """Return the checked names, or all if none is given."""
    everything = list(known_names)
    for name in names:
        if name not in everything:
            raise InstanceError(name, None, "no such name", f"an instance of {where}")
    return list(names) or everything


def _fetch_all(chosen: Sequence[tuple[str, str]], folder: str | os.PathLike | None) -> Iterator[tuple[str, str]]:
    """Fetch (name, collection) pairs one by one, and continue after failures."""
    for collection in dict.fromkeys(collection for _, collection in chosen if collection not in papers.GENERATED):
        catalogue.addresses(collection, "")  # refuses a site that is no address before anything is loaded
    silent: set[str] = set()  # sites that did not answer, and are not asked again
    missing: list[Path] = []
    for name, collection in chosen:
        if collection in papers.GENERATED:
            yield name, papers.GENERATED[collection]
            continue
        path = Path(folder or catalogue.cache_subfolder(collection), name + COLLECTIONS[collection].suffix)
        there = path if folder is not None else COLLECTIONS[collection].reader.find(name)
        if there is not None and _is_pinned_content(there, name, collection):
            yield name, f"kept {there}"
            continue
        try:
            _write(_download(catalogue.addresses(collection, name), name, collection, silent), path)
        except FetchError as error:
            missing.append(path)
            yield name, f"failed: {error}"
        else:
            first = f", but {there} is found first and holds something else" if there not in (None, path) else ""
            yield name, f"fetched {path}{first}"
    if missing:
        folders = " or ".join(dict.fromkeys(str(path.parent) for path in missing))
        raise FetchError(
            f"{len(missing)} of {len(chosen)} instances could not be fetched; by hand: save what their addresses hold, "
            f"under its own name, in {folders}, or in a folder of $TSPLIB_DIR"
        )


def _is_pinned_content(path: Path, name: str, collection: str) -> bool:
    published = COLLECTIONS[collection]
    try:
        return bool(published.reader.read(path).sha256 == published.digests()[name])
    except InstanceError:
        return False


def _download(addresses: Sequence[str], name: str, collection: str, silent: set[str]) -> str:
    """Return the first address's text with the pinned content; silent sites are left out, and added to ``silent``."""
    reasons = []
    for address in addresses:
        site = urlsplit(address).netloc
        if site in silent:
            reasons.append(f"{address} was not tried, as {site} did not answer before")
            continue
        try:
            return _checked(download.download_text(address), name, collection, address)
        except FetchError as error:
            if isinstance(error, UnreachableError):
                silent.add(site)
            reasons.append(str(error))
    raise FetchError("; ".join(reasons))


def _checked(text: str, name: str, collection: str, origin: str) -> str:
    """Return a text that is the pinned instance, ended by a line break."""
    # some files end within their last line; if anything were missing there, the digest would be another
    text = text if text.endswith("\n") else text + "\n"
    try:
        digest = COLLECTIONS[collection].parse(text, path=origin).sha256
    except InstanceError as error:
        raise FetchError(f"the download is not an instance: {error}") from error
    if digest != COLLECTIONS[collection].digests()[name]:
        raise FetchError(f"{origin} sent another instance than the pinned {name}")
    return text


def _write(text: str, path: Path) -> None:
    # users may download at once: each writes a separate draft, and the last one wins
    draft = path.with_name(f".{path.name}-{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise FetchError(f"{path} cannot be written ({error.strerror})") from error


def fetch_archive() -> Iterable[tuple[str, str]]:
    """Download the source archive of tsplib95 by pip, and yield (name, result) for each of ARCHIVED.

    Correct instances in the cache are kept; if none is missing, nothing is downloaded. Raises `FetchError` without pip
    or an index, and for another archive than the pinned one.
    """
    folder = catalogue.cache_subfolder("archive")
    paths = {name: folder / f"{name}.tsp" for name in ARCHIVED}
    if all(_is_pinned_content(path, name, "tsplib") for name, path in paths.items()):
        yield from ((name, f"kept {path}") for name, path in paths.items())
        return
    import pooch  # here, because only a fetch needs it

    with tempfile.TemporaryDirectory(prefix="onekernel-") as place:
        pooch.get_logger().setLevel("WARNING")
        unpack = pooch.Untar([f"{_ARCHIVE_FOLDER}/{path.name}" for path in paths.values()])
        for file in unpack(str(_download_archive(place)), "download", None):
            _write(Path(file).read_text("latin-1"), paths[Path(file).stem])
    yield from ((name, f"fetched {path}") for name, path in paths.items())


_LIMITED_PIP = """
import resource, runpy, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__")
"""
"""pip with a limit, its first argument, for the bytes of a written file."""


def _download_archive(folder: str) -> Path:
    # A file, because only there pip takes a hash. It compares before it runs the archive's own set-up.
    requirements = Path(folder, "wanted.txt")
    requirements.write_text(f"{ARCHIVE} --hash=sha256:{ARCHIVE_SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-c", _LIMITED_PIP, str(download.LARGEST), "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ARCHIVE.partition("=")[0], "--dest", folder, "--requirement", str(requirements)]
    environment = os.environ | {"TMPDIR": folder}  # files that a killed pip leaves are removed with the folder
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_ARCHIVE_SECONDS, env=environment)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"pip took longer than {_ARCHIVE_SECONDS} s to download {ARCHIVE}") from error
    except subprocess.CalledProcessError as error:
        if os.strerror(errno.EFBIG) in error.stderr:
            raise FetchError(
                f"pip met more than {download.LARGEST} bytes for {ARCHIVE}, expected a smaller archive"
            ) from error
        lines = [line.strip() for line in error.stderr.splitlines() if line.strip()] or ["no reason given"]
        reasons = [line for line in lines if line.startswith("ERROR")] or lines
        raise FetchError(f"pip cannot download {ARCHIVE} ({reasons[-1]})") from error
    return next(Path(folder).glob("*.tar.gz"))
