"""Folders of instances on this machine: the user's, those of $TSPLIB_DIR, the cache."""

import os
from collections.abc import Sequence
from pathlib import Path

from core.instances.errors import InstanceError


def cache_folder() -> Path:
    """Return the user's folder for downloads: $ONEKERNEL_CACHE, or the platform's place for caches."""
    # here, because every rank imports this module
    import platformdirs

    return Path(os.environ.get("ONEKERNEL_CACHE") or platformdirs.user_cache_dir("onekernel", appauthor=False))


def search_path(data: str | os.PathLike | None = None) -> list[Path]:
    """Return the folders to search, best first: ``data``, those of $TSPLIB_DIR (several, as in $PATH), the cache.

    Some may not exist. Raises `InstanceError` if ``data`` is not a folder.
    """
    if data is not None and not os.path.isdir(data):
        raise InstanceError(data, None, "no such folder", "a folder of instances")
    named = filter(None, os.environ.get("TSPLIB_DIR", "").split(os.pathsep))
    return [*([] if data is None else [Path(data)]), *map(Path, named), cache_folder()]


def find(name: str, data: str | os.PathLike | None, subfolders: Sequence[str], suffixes: Sequence[str]) -> Path | None:
    """Return the first file of an instance, or None: folder by folder, suffix by suffix.

    Raises `InstanceError` if `data` is not a folder.
    """
    places = (
        root / folder / (name + suffix) for root in search_path(data) for folder in subfolders for suffix in suffixes
    )
    # not Path.is_file, which raises for a folder that cannot be searched
    return next(filter(os.path.isfile, places), None)


def describe_search_path(data: str | os.PathLike | None) -> str:
    environment = [f"$TSPLIB_DIR ({os.environ['TSPLIB_DIR']})"] if os.environ.get("TSPLIB_DIR") else []
    return " or ".join([*([] if data is None else [str(data)]), *environment, f"the cache ({cache_folder()})"])
