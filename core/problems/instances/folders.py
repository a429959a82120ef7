"""Folders of instances on this machine: one that the user names, those of $TSPLIB_DIR, the cache."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.problems.instances.errors import InstanceError
from core.problems.instances.files import describe_non_file


def cache_folder() -> Path:
    """Return the user's folder for downloads: $ONEKERNEL_CACHE, or the platform's place for caches."""
    # here, because every rank imports this module
    import platformdirs

    return Path(os.environ.get("ONEKERNEL_CACHE") or platformdirs.user_cache_dir("onekernel", appauthor=False))


def search_path(data: str | os.PathLike | None = None) -> list[Path]:
    """Return the folders to search, best first; some may not exist.

    Parameters
    ----------
    data : path, optional
        Folder to search before those of $TSPLIB_DIR (several, as in $PATH) and the cache.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    if data is not None and not os.path.isdir(data):
        raise InstanceError(data, None, "no such folder", "a folder of instances")
    return [*([] if data is None else [Path(data)]), *_environment(), cache_folder()]


def find(name: str, data: str | os.PathLike | None, subfolders: Sequence[str], suffixes: Sequence[str]) -> Path | None:
    """Return the first file of an instance's name, or None: folder by folder, in each suffix by suffix.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    places = (
        root / folder / (name + suffix) for root in search_path(data) for folder in subfolders for suffix in suffixes
    )
    # not Path.is_file, which raises for a folder that cannot be searched
    return next(filter(os.path.isfile, places), None)


def locate_file(
    spec: str, data: str | os.PathLike | None, subfolders: Sequence[str], suffixes: Sequence[str], generator: str
) -> str:
    """Return the path of the file that a text names: by the path itself, or as `find` does.

    Parameters
    ----------
    spec : str
    data, subfolders, suffixes
        See `find`; a name may have its suffix.
    generator : str
        What else a text may be, for messages: "random:100".

    Raises
    ------
    InstanceError
        There is no such file, or `data` is not a folder.
    """
    found = find(spec, data, subfolders, ("", *suffixes)) if os.path.basename(spec) == spec else None
    if os.path.isfile(spec):
        return spec
    if found is not None:
        return os.fspath(found)
    looked = f"no such instance in {describe_search_path(data)}" if os.path.basename(spec) == spec else "no such file"
    there = describe_non_file([spec]) if os.path.exists(spec) else looked
    raise InstanceError(spec, None, there, f"a file, the name of an instance, or a generator such as {generator}")


def describe_search_path(data: str | os.PathLike | None) -> str:
    """Say which folders are searched, for messages."""
    environment = [f"$TSPLIB_DIR ({os.environ['TSPLIB_DIR']})"] if os.environ.get("TSPLIB_DIR") else []
    return " or ".join([*([] if data is None else [str(data)]), *environment, f"the cache ({cache_folder()})"])


def _environment() -> Iterator[Path]:
    return map(Path, filter(None, os.environ.get("TSPLIB_DIR", "").split(os.pathsep)))
