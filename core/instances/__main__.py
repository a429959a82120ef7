"""`onekernel instances`: fetch instances of a collection or a paper, list local ones, show one."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from core.instances import optima, sources
from core.instances.downloads import fetch, papers
from core.instances.downloads.catalogue import COLLECTIONS
from core.instances.errors import FetchError, InstanceError
from core.program_parser import ProgramParser, invocation
from core.standard_output import run_watched


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 2 user mistake, 1 failed download."""
    parser = ProgramParser(prog=invocation("core.instances"), description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    fetching = commands.add_parser("fetch", help="download instances; $TSPLIB_URL and the like name mirrors")
    kinds = (
        f"a collection ({', '.join(COLLECTIONS)}), a paper's instances ({', '.join(papers.PAPERS)}), or archive: "
        f"{', '.join(optima.ARCHIVED)}, out of the source archive of tsplib95, from the package index"
    )
    fetching.add_argument("what", choices=(*COLLECTIONS, "archive", *papers.PAPERS), metavar="WHAT", help=kinds)
    fetching.add_argument("names", nargs="*", metavar="NAME", help="instances of it (all)")
    fetching.add_argument("--data", metavar="DIR", help="folder to put them in (the user's cache)")

    listing = commands.add_parser("list", help="list the published tours' instances and all that are at hand")
    listing.add_argument("--data", metavar="DIR", help="folder to search first")
    listing.add_argument("--paper", choices=papers.PAPERS, help="instances of this paper, and places that have them")

    showing = commands.add_parser("show", help="describe one instance")
    showing.add_argument("instance", help="name, file, or generator such as uniform:100:seed=1")
    showing.add_argument("--data", metavar="DIR", help="folder to search first")

    options = parser.parse_args(arguments)
    what = options.what if options.command == "fetch" else None
    if what == "archive" and (options.names or options.data):
        parser.error("fetch archive takes no names or --data: all goes to the user's cache")
    try:
        {"fetch": _fetch, "list": _list, "show": _show}[options.command](options)
    except InstanceError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """End the program by an exception at SIGTERM, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _fetch(options: argparse.Namespace) -> None:
    if options.what == "archive":
        outcomes = fetch.fetch_archive()
    elif options.what in papers.PAPERS:
        outcomes = fetch.fetch_paper(options.what, options.names, options.data)
    else:
        outcomes = fetch.fetch_collection(options.what, options.names, options.data)
    with _sigterm_raises():
        for name, outcome in outcomes:
            print(f"{name}: {outcome}", flush=True)


def _list(options: argparse.Namespace) -> None:
    if options.paper:
        _list_paper(options)
        return
    files = sources.local_files(options.data)
    print(f"{'name':<12}{'cities':>8}{'optimum':>12}  at hand")
    for row in optima.table():
        print(f"{row.name:<12}{row.n:>8}{row.optimum or '-':>12}  {files.pop(row.name, '-')}")
    for name, path in sorted(files.items()):
        print(f"{name:<12}{'?':>8}{'?':>12}  {path}")


def _list_paper(options: argparse.Namespace) -> None:
    instances = papers.instances_of(options.paper)
    missing = [instance for instance in instances if not instance.is_available(options.data)]
    print(f"{'name':<12}{'collection':<12}at hand")
    for instance in instances:
        where = f"no: {instance.source}" if instance in missing else instance.file(options.data) or instance.source
        print(f"{instance.name:<12}{instance.collection:<12}{where}")
    if missing:
        print(f"missing: {len(missing)} (`onekernel fetch {options.paper}` gets what its sites send)")


def _show(options: argparse.Namespace) -> None:
    instance = sources.load(options.instance, options.data, symmetric=False)
    described = {
        "name": instance.name,
        "cities": instance.n,
        "distances": instance.edge_weight_type,
        "optimum": instance.optimum or "not known",
        "sha256": instance.sha256,
        "source": instance.source,
    }
    for label, value in [*described.items(), *(("note", note) for note in instance.notes)]:
        print(f"{label:<10} {value}")


if __name__ == "__main__":
    sys.exit(run_watched(main))
