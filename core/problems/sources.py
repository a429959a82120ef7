"""Where an instance comes from: a path, a folder of the user's, the cache, an archive, a generator."""

import difflib
import os
from pathlib import Path

from core.problems import fetch, generators, known, tsplib
from core.problems.errors import FetchError, InstanceError
from core.problems.tsp_instance import Instance

SUFFIXES = (".tsp", ".vrp", ".tsp.gz", ".vrp.gz")
SUBFOLDERS = ("", "tsplib", "national", "vrp")

DEFAULT = "kroA100"
DEFAULT_ARCHIVED = "pcb442"
DEFAULT_GENERATED = "uniform:100:seed=1"


def load(spec: str, data: str | os.PathLike | None = None) -> Instance:
    """Return an instance by path, name or generator specification.

    A name is looked up in `data`, in $TSPLIB_DIR (both with their subfolders tsplib, national and vrp),
    in the user's cache, and, for the few instances that it carries, in the source archive of tsplib95 on
    the package index.

    Parameters
    ----------
    spec : str
    data : path, optional
        Folder to search first.

    Raises
    ------
    InstanceError
        Nothing of that name at hand, or a file that is not a valid instance.
    """
    if generators.is_spec(spec) and not os.path.isfile(spec):
        return generators.generate(spec)
    if os.path.isfile(spec) or os.path.basename(spec) != spec or spec.endswith(SUFFIXES):
        return tsplib.load(spec)
    path = find(spec, data)
    if path is None and spec in fetch.ARCHIVED:
        try:
            path = fetch.archived(spec)
        except FetchError as error:
            raise _nowhere(spec, data, f"; {error}") from error
    if path is None:
        raise _nowhere(spec, data)
    return tsplib.load(path)


def find(name: str, data: str | os.PathLike | None = None) -> Path | None:
    """Return the file of a named instance that is on this machine, or None.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    for folder in _folders(data):
        for suffix in SUFFIXES:
            path = folder / (name + suffix)
            if path.is_file():
                return path
    return None


def at_hand(data: str | os.PathLike | None = None) -> dict[str, Path]:
    """Return all files that `find` would return, by name.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    found: dict[str, Path] = {}
    for folder in _folders(data):
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        for suffix in SUFFIXES:
            for path in files:
                if path.name.endswith(suffix):
                    found.setdefault(path.name.removesuffix(suffix), path)
    return found


def default_instance(data: str | os.PathLike | None = None) -> tuple[str, str]:
    """Return what to run where the user names nothing, and the reason, for the report.

    Returns
    -------
    spec : str
        kroA100 where it is at hand, else pcb442 from the archive of tsplib95, else a generated instance.
    reason : str
        One sentence.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    path = find(DEFAULT, data)
    if path is not None:
        return DEFAULT, f"{DEFAULT} of TSPLIB, the papers' first instance, found in {path.parent}."
    advice = f"{DEFAULT} is not at hand (`python -m core.problems fetch tsplib {DEFAULT}` gets it)"
    try:
        path = find(DEFAULT_ARCHIVED, data) or fetch.archived(DEFAULT_ARCHIVED)
    except FetchError as error:
        reason = f"A generated instance, not a real one, since {advice} and {DEFAULT_ARCHIVED} neither: {error}."
        return DEFAULT_GENERATED, reason
    return DEFAULT_ARCHIVED, f"{DEFAULT_ARCHIVED} of TSPLIB, found in {path.parent}, since {advice}."


def _folders(data: str | os.PathLike | None) -> list[Path]:
    """Return the folders to search, best first; some may not exist."""
    roots = []
    if data is not None:
        if not os.path.isdir(data):
            raise InstanceError(data, None, "no such folder", "a folder of instances")
        roots.append(Path(data))
    if os.environ.get("TSPLIB_DIR"):
        roots.append(Path(os.environ["TSPLIB_DIR"]))
    folders = [root / subfolder for root in roots for subfolder in SUBFOLDERS]
    return [*folders, fetch.cache_folder() / "tsplib", fetch.cache_folder() / "archive"]


def _nowhere(name: str, data: str | os.PathLike | None, why: str = "") -> InstanceError:
    places = [str(data)] if data is not None else []
    if os.environ.get("TSPLIB_DIR"):
        places.append(f"$TSPLIB_DIR ({os.environ['TSPLIB_DIR']})")
    places.append(f"the cache ({fetch.cache_folder()})")
    names = [*known.tsplib(), *at_hand(data)]
    lower = {known_name.lower(): known_name for known_name in names}
    alike = difflib.get_close_matches(name.lower(), lower, n=1)
    advice = f" (did you mean {lower[alike[0]]}?)" if alike else ""
    if name in known.tsplib():
        advice = f" (`python -m core.problems fetch tsplib {name}` gets it)"
    return InstanceError(
        name,
        None,
        f"no such instance in {' or '.join(places)}{advice}{why}",
        f"a file, the name of an instance, or a generator such as {DEFAULT_GENERATED}",
    )
