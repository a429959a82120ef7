"""Downloads: TSPLIB's site, and the source archive of tsplib95, which carries four real instances.

Nothing here runs unless the user asks for it. What comes is trusted by a digest alone: an instance by that of its
parsed content (tsplib.tsv), which survives differences in white space between mirrors, and the archive by that of its
bytes, before a line of it is run.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from core.problems import known, tsplib
from core.problems.errors import FetchError, InstanceError, UnreachableError
from core.problems.files import read_text
from core.problems.layout import quoted

SITE = "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/tsp"
"""TSPLIB's home; another one can be named by $TSPLIB_URL."""

ARCHIVE = "tsplib95==0.7.1"
ARCHIVE_SHA256 = "3da80175dfb0478b967b87c508f75def47371188b6401b719441f2cedc817e00"
ARCHIVED = ("gr17", "pcb442", "att532", "gr666")

_DOWNLOAD_SECONDS = 30
_ARCHIVE_SECONDS = 180
_LARGEST_MEMBER = 16 * 2**20


def cache_folder() -> Path:
    """Return the user's folder for downloads: $ONEKERNEL_CACHE, or the platform's place for caches."""
    # here, because every rank imports this module
    import platformdirs

    return Path(os.environ.get("ONEKERNEL_CACHE") or platformdirs.user_cache_dir("onekernel", appauthor=False))


def fetch_tsplib(
    names: Iterable[str] = (), folder: str | os.PathLike | None = None, site: str | None = None
) -> Iterable[tuple[str, str]]:
    """Download instances from TSPLIB's site and yield (name, what happened) for each.

    Parameters
    ----------
    names : iterable of str
        Names of TSPLIB's symmetric instances; none means all.
    folder : path, optional
        Where to put NAME.tsp; by default the cache. Files that are there and right are kept.
    site : str, optional
        Address that NAME.tsp.gz is appended to; by default $TSPLIB_URL, else TSPLIB's home.

    Raises
    ------
    InstanceError
        A name that TSPLIB does not have.
    UnreachableError
        No connection to the site; raised at once.
    FetchError
        The site lacks instances, or sent something else than the pinned content; raised at the end.
    """
    published = known.tsplib()
    names = list(names) or list(published)
    for name in names:
        if name not in published:
            raise InstanceError(name, None, "no such name", "a symmetric instance of TSPLIB")
    target = Path(folder) if folder is not None else cache_folder() / "tsplib"
    site = (site or os.environ.get("TSPLIB_URL") or SITE).rstrip("/")
    failures = 0
    for name in names:
        path = target / f"{name}.tsp"
        if path.is_file() and _is_right(path, name):
            yield name, f"kept {path}"
            continue
        try:
            _download(f"{site}/{name}.tsp.gz", name, path)
        except UnreachableError:
            raise
        except FetchError as error:
            failures += 1
            yield name, f"failed: {error}"
        else:
            yield name, f"fetched {path}"
    if failures:
        raise FetchError(f"{failures} of {len(names)} instances could not be fetched from {site}")


def _is_right(path: Path, name: str) -> bool:
    try:
        return tsplib.load(path).sha256 == known.tsplib()[name].sha256
    except InstanceError:
        return False


def _download(url: str, name: str, path: Path) -> None:
    # here, because only a fetch needs them
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    with tempfile.TemporaryDirectory(prefix="onekernel-") as folder:
        try:
            packed = pooch.retrieve(
                url,
                known_hash=None,  # `_install` demands that of the parsed content
                fname=f"{name}.tsp.gz",
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=_DOWNLOAD_SECONDS),
            )
            text = read_text(packed, "a packed TSPLIB file")
        except requests.HTTPError as error:
            raise FetchError(str(error)) from error
        except requests.RequestException as error:
            inner = error.args[0] if error.args else error
            raise UnreachableError(f"{url} cannot be reached ({getattr(inner, 'reason', inner)})") from error
        except InstanceError as error:
            raise FetchError(f"{url} sent {error.found}") from error
    _install(text, name, path, url)


def _install(text: str, name: str, path: Path, origin: str) -> None:
    """Put an instance in its place at once, or not at all if it is not the pinned one."""
    try:
        digest = tsplib.parse(text, path=origin).sha256
    except InstanceError as error:
        raise FetchError(f"what came is not an instance: {error}") from error
    if digest != known.tsplib()[name].sha256:
        raise FetchError(f"{origin} sent another instance than the pinned {name}")
    # ranks and users may fetch at once: each writes a draft of its own, and the last one wins
    draft = path.with_name(f".{name}-{os.getpid()}.draft")
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
    """Download the source archive of tsplib95 by pip, and yield (name, what happened) for each of ARCHIVED.

    Instances that are in the cache and right are kept; without a missing one, nothing is downloaded.

    Raises
    ------
    FetchError
        No pip, no index, or another archive than the pinned one.
    """
    folder = cache_folder() / "archive"
    paths = {name: folder / f"{name}.tsp" for name in ARCHIVED}
    if all(_is_right(path, name) for name, path in paths.items()):
        yield from ((name, f"kept {path}") for name, path in paths.items())
        return
    with tempfile.TemporaryDirectory(prefix="onekernel-") as place:
        extract(_download_archive(place), folder)
    yield from ((name, f"fetched {path}") for name, path in paths.items())


def _download_archive(folder: str) -> Path:
    # A file, because only there pip takes a hash. It compares before it runs the archive's own set-up.
    wanted = Path(folder, "wanted.txt")
    wanted.write_text(f"{ARCHIVE} --hash=sha256:{ARCHIVE_SHA256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ARCHIVE.partition("=")[0], "--dest", folder, "--requirement", str(wanted)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_ARCHIVE_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"pip took longer than {_ARCHIVE_SECONDS} s to download {ARCHIVE}") from error
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in error.stderr.splitlines() if line.strip()] or ["no reason given"]
        reasons = [line for line in lines if line.startswith("ERROR")] or lines
        raise FetchError(f"pip cannot download {ARCHIVE} ({reasons[-1]})") from error
    packed = next(Path(folder).glob("*.tar.gz"), None)
    if packed is None:
        raise FetchError(f"pip brought no source archive of {ARCHIVE}")
    return packed


def extract(archive: str | os.PathLike, folder: Path, sha256: str = ARCHIVE_SHA256) -> None:
    """Put the instances of a source archive into a folder.

    Parameters
    ----------
    archive : path
    folder : Path
    sha256 : str
        Of the archive's bytes.

    Raises
    ------
    FetchError
        Other bytes; not an archive; one with links or with names that lead out of it; one of ARCHIVED is missing
        or not the pinned one.
    """
    try:
        with open(archive, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != sha256:
                raise FetchError(f"{archive} has the SHA-256 {digest}, expected {sha256} of {ARCHIVE}")
            file.seek(0)
            with tarfile.open(fileobj=file, mode="r:gz") as members:
                texts = dict(_instances(archive, members))
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise FetchError(f"{archive} is not a source archive ({error})") from error
    missing = [name for name in ARCHIVED if name not in texts]
    if missing:
        raise FetchError(f"the archive of {ARCHIVE} lacks {', '.join(missing)}")
    for name, text in texts.items():
        _install(text, name, folder / f"{name}.tsp", f"the archive of {ARCHIVE}")


def _instances(archive: str | os.PathLike, members: tarfile.TarFile) -> Iterator[tuple[str, str]]:
    """Yield name and text of each of ARCHIVED; a member is read, never unpacked by its own path."""
    for member in members:
        if not (member.isfile() or member.isdir()):
            raise FetchError(f"{archive} has a link or device, {quoted(member.name)}, expected files and folders alone")
        parts = PurePosixPath(member.name.replace("\\", "/")).parts
        if ".." in parts or parts[:1] == ("/",):
            raise FetchError(f"{archive} has the member {quoted(member.name)}, expected a path within the archive")
        name = os.path.basename(member.name).removesuffix(".tsp")
        file = members.extractfile(member) if name in ARCHIVED else None
        if file:
            yield name, file.read(_LARGEST_MEMBER).decode("latin-1")
