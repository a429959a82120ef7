"""Sources of an instance: a path, a folder, the cache, a generator; never a download."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from core.instances import folders, matrix_text, optima, tsplib
from core.instances.errors import InstanceError
from core.instances.readers import InstanceReader
from core.tours import generators
from core.tours.instance import TspInstance

SUBFOLDERS = ("", "tsplib", "archive", "national", "burkardt", "vrp")

DEFAULT = "kroA100"
DEFAULT_ARCHIVED = "pcb442"
DEFAULT_GENERATED = "uniform:100:seed=1"


def local_files(data: str | os.PathLike | None = None) -> dict[str, Path]:
    """Return all files that `find` would return, by name; raises `InstanceError` if `data` is not a folder."""
    paths: dict[str, Path] = {}
    for folder in [root / subfolder for root in folders.search_path(data) for subfolder in SUBFOLDERS]:
        files = [folder / name for name in _names(folder)]
        for suffix in READER.suffixes:
            for path in files:
                if path.name.endswith(suffix) and os.path.isfile(path):
                    paths.setdefault(path.name.removesuffix(suffix), path)
    return paths


def default_instance(data: str | os.PathLike | None = None) -> tuple[str, str]:
    """Return the default instance and the reason, one sentence for the report.

    This is kroA100 if there is a local file, else pcb442 if there is, else a generated instance. Raises `InstanceError`
    if `data` is not a folder.
    """
    path = find(DEFAULT, data)
    if path is not None:
        return DEFAULT, f"{DEFAULT} of TSPLIB, the papers' first instance, found in {path.parent}."
    advice = f"{DEFAULT} is not at hand (`onekernel fetch tsplib {DEFAULT}` gets it)"
    path = find(DEFAULT_ARCHIVED, data)
    if path is None:
        other = f"{DEFAULT_ARCHIVED} neither (`onekernel fetch archive`)"
        return DEFAULT_GENERATED, f"A generated instance, not a real one, since {advice} and {other}."
    return DEFAULT_ARCHIVED, f"{DEFAULT_ARCHIVED} of TSPLIB, found in {path.parent}, since {advice}."


def _names(folder: Path) -> list[str]:
    """Return the sorted names in a folder; none if it is missing or may not be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _missing(name: str, data: str | os.PathLike | None) -> InstanceError:
    path_error = READER.path_error(name)
    if path_error is not None:
        return path_error
    published = {row.name: row.collection for row in optima.table()}
    lower = {known_name.lower(): known_name for known_name in [*published, *local_files(data)]}
    alike = difflib.get_close_matches(name.lower(), lower, n=1)
    advice = f" (did you mean {lower[alike[0]]}?)" if alike else ""
    if name in published:
        either = ", or `fetch archive`," if name in optima.ARCHIVED else ""
        advice = f" (`onekernel fetch {published[name]} {name}`{either} gets it)"
    fault = f"no such instance in {folders.describe_search_path(data)}{advice}"
    return InstanceError(name, None, fault, READER.expected)


def _generate(spec: str, drop: Sequence[str] = (), symmetric: bool = True) -> TspInstance:
    tsplib.refuse_drop(spec, drop)
    return generators.generate(spec)


READER = InstanceReader(
    tsplib.FORMAT,
    matrix_text.FORMAT,
    expected=f"a file, the name of an instance, or a generator such as {DEFAULT_GENERATED}",
    subfolders=SUBFOLDERS,
    specification=generators.SPECIFICATION,
    generate=_generate,
    missing=_missing,
)
"""Files such as kroA100, which `onekernel fetch` puts into the cache; "uniform:100:seed=1".

Keywords ``drop`` and ``symmetric`` are those of `core.instances.tsplib.parse`.
"""
load, read, find = READER.load, READER.read, READER.find
