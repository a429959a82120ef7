"""Where an instance comes from: a path, a folder of the user's, the cache, a generator; never a download."""

import difflib
import os
from pathlib import Path

from core.problems import fetch, generators, known, tsplib
from core.problems.errors import InstanceError
from core.problems.tsp_instance import Instance

SUFFIXES = (".tsp", ".vrp", ".tsp.gz", ".vrp.gz")
SUBFOLDERS = ("", "tsplib", "national", "vrp")

DEFAULT = "kroA100"
DEFAULT_ARCHIVED = "pcb442"
DEFAULT_GENERATED = "uniform:100:seed=1"


def load(spec: str, data: str | os.PathLike | None = None) -> Instance:
    """Return an instance by path, name or generator specification.

    A name is looked up in `data`, in $TSPLIB_DIR (both with their subfolders tsplib, national and vrp), and in the
    user's cache, which `python -m core.problems fetch` fills.

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
    if path is None and os.path.exists(spec):
        path = Path(spec)
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
            # not Path.is_file, which raises for a folder that cannot be searched
            if os.path.isfile(path):
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
        files = [folder / name for name in _names(folder)]
        for suffix in SUFFIXES:
            for path in files:
                if path.name.endswith(suffix) and os.path.isfile(path):
                    found.setdefault(path.name.removesuffix(suffix), path)
    return found


def default_instance(data: str | os.PathLike | None = None) -> tuple[str, str]:
    """Return what to run where the user names nothing, and the reason, for the report.

    Returns
    -------
    spec : str
        kroA100 where it is at hand, else pcb442 where that is, else a generated instance.
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
    path = find(DEFAULT_ARCHIVED, data)
    if path is None:
        other = f"{DEFAULT_ARCHIVED} neither (`python -m core.problems fetch archive`)"
        return DEFAULT_GENERATED, f"A generated instance, not a real one, since {advice} and {other}."
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


def _names(folder: Path) -> list[str]:
    """Return what is in a folder, in order; nothing where there is none, or one that may not be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _nowhere(name: str, data: str | os.PathLike | None) -> InstanceError:
    places = [str(data)] if data is not None else []
    if os.environ.get("TSPLIB_DIR"):
        places.append(f"$TSPLIB_DIR ({os.environ['TSPLIB_DIR']})")
    places.append(f"the cache ({fetch.cache_folder()})")
    names = [*known.tsplib(), *at_hand(data)]
    lower = {known_name.lower(): known_name for known_name in names}
    alike = difflib.get_close_matches(name.lower(), lower, n=1)
    advice = f" (did you mean {lower[alike[0]]}?)" if alike else ""
    if name in known.tsplib():
        either = ", or `fetch archive`," if name in fetch.ARCHIVED else ""
        advice = f" (`python -m core.problems fetch tsplib {name}`{either} gets it)"
    return InstanceError(
        name,
        None,
        f"no such instance in {' or '.join(places)}{advice}",
        f"a file, the name of an instance, or a generator such as {DEFAULT_GENERATED}",
    )
