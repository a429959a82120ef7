"""Collections of instances: publishers, addresses of files, and their readers.

A download is accepted only by the digest of its parsed content (tsplib.tsv, qaplib.tsv), so any mirror will do.
`papers` lists the instances of each paper.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from core.instances import folders, matrix_text, optima, sources, tsplib
from core.instances.errors import InstanceError
from core.instances.readers import InstanceReader
from core.instances.tokens import quoted
from core.qap import qaplib
from core.tours.instance import TspInstance

_HEIDELBERG = "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95"
_JORLIB = (
    "https://raw.githubusercontent.com/coin-or/jorlib/b3a41ce773e9b3b5b73c149d4c06097ea1511680/"
    "jorlib-core/src/test/resources/tspLib/vrp"
)
_MASTQE = "https://raw.githubusercontent.com/mastqe/tsplib/775541365dc3f7f3cd6faa8d0e206036d2c45e0e"


class Collection(NamedTuple):
    """Files that are published together.

    Parameters
    ----------
    title
        Publisher and content.
    addresses
        Addresses of the file of {name}, the publisher's first; .gz files are packed.
    suffix
        Suffix of the stored, unpacked file.
    parse
        Function of a text and of `path` for messages; returns an instance with a `sha256`.
    reader
        Finds and reads the local file of a name.
    digests
        Function; returns the digest of each name's content.
    """

    title: str
    addresses: tuple[str, ...]
    suffix: str
    parse: Callable[..., Any]
    reader: InstanceReader
    digests: Callable[[], Mapping[str, str]]


def _tours(
    collection: str, title: str, *addresses: str, suffix: str = ".tsp", parse: Callable[..., TspInstance] = tsplib.parse
) -> Collection:
    def digests() -> Mapping[str, str]:
        return {name: row.sha256 for name, row in optima.collection(collection).items()}

    return Collection(title, addresses, suffix, parse, sources.READER, digests)


COLLECTIONS = {
    "tsplib": _tours(
        "tsplib", "TSPLIB, symmetric instances (University of Heidelberg)",
        f"{_HEIDELBERG}/tsp/{{name}}.tsp.gz", f"{_MASTQE}/{{name}}.tsp",
    ),
    "vrp": _tours(
        "vrp", "TSPLIB, nodes of vehicle routing problems (University of Heidelberg)",
        f"{_HEIDELBERG}/vrp/{{name}}.vrp.gz", f"{_JORLIB}/{{name}}.vrp", suffix=".vrp",
    ),
    "national": _tours(
        "national", "World TSP, national instances (University of Waterloo)",
        "https://www.math.uwaterloo.ca/tsp/world/{name}.tsp",
    ),
    "burkardt": _tours(
        "burkardt", "TSP data sets of J. Burkardt (Florida State University)",
        "https://people.sc.fsu.edu/~jburkardt/datasets/tsp/{name}_d.txt",
        suffix=matrix_text.SUFFIX, parse=matrix_text.parse,
    ),
    "qaplib": Collection(
        "QAPLIB (Polytechnique Montréal)",
        (
            "https://qaplib.mgi.polymtl.ca/data.d/{name}.dat",
            "https://coral.ise.lehigh.edu/wp-content/uploads/2014/07/data.d/{name}.dat",
        ),
        ".dat",
        qaplib.parse,
        qaplib.READER,
        lambda: {row.name: row.sha256 for row in qaplib.published().values()},
    ),
}  # fmt: skip


def site_variable(collection: str) -> str:
    """Return the environment variable that names another site for a collection: $TSPLIB_URL and so on."""
    return f"{collection.upper()}_URL"


def addresses(collection: str, name: str) -> tuple[str, ...]:
    """Return the addresses of an instance's file.

    The collection's `site_variable` replaces everything before the file's name. Raises `InstanceError` if it is no web
    address.
    """
    published = COLLECTIONS[collection].addresses
    site = os.environ.get(site_variable(collection))
    if site:
        _check_site(f"${site_variable(collection)}", site)
        published = (f"{site.rstrip('/')}/{published[0].rpartition('/')[2]}",)
    return tuple(address.replace("{name}", name) for address in published)


def _check_site(variable: str, site: str) -> None:
    try:
        parts = urlsplit(site)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not site.isprintable() or any(letter.isspace() for letter in site):
        raise InstanceError(variable, None, quoted(site), "an address such as https://host/folder")


def cache_subfolder(collection: str) -> Path:
    return folders.cache_folder() / collection
