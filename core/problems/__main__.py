"""`python -m core.problems`: fetch TSPLIB's instances, list what is at hand, show one."""

import argparse
import sys

from core.problems import fetch, known, sources
from core.problems.errors import FetchError, InstanceError
from core.standard_output import run_watched


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 done, 2 user mistake, 1 failed download."""
    parser = argparse.ArgumentParser(prog="python -m core.problems", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    fetching = commands.add_parser("fetch", help="download instances and check what came")
    fetching.add_argument(
        "collection",
        choices=("tsplib", "archive"),
        help=f"tsplib: from TSPLIB's site; archive: {', '.join(fetch.ARCHIVED)}, out of the source "
        "archive of tsplib95, from the package index",
    )
    fetching.add_argument("names", nargs="*", metavar="NAME", help="instances of TSPLIB (all)")
    fetching.add_argument("--data", metavar="DIR", help="folder to put them in (the user's cache)")
    fetching.add_argument("--url", help=f"site to fetch from ($TSPLIB_URL or {fetch.SITE})")

    listing = commands.add_parser("list", help="list TSPLIB and all instances at hand")
    listing.add_argument("--data", metavar="DIR", help="folder to search first")

    showing = commands.add_parser("show", help="describe one instance")
    showing.add_argument("instance", help="name, file, or generator such as uniform:100:seed=1")
    showing.add_argument("--data", metavar="DIR", help="folder to search first")

    options = parser.parse_args(arguments)
    to_archive = options.command == "fetch" and options.collection == "archive"
    if to_archive and (options.names or options.url or options.data):
        parser.error("fetch archive takes no names, --data or --url: all goes to the user's cache")
    try:
        {"fetch": _fetch, "list": _list, "show": _show}[options.command](options)
    except InstanceError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _fetch(options: argparse.Namespace) -> None:
    from_site = options.collection == "tsplib"
    outcomes = fetch.fetch_tsplib(options.names, options.data, options.url) if from_site else fetch.fetch_archive()
    for name, outcome in outcomes:
        print(f"{name}: {outcome}", flush=True)


def _list(options: argparse.Namespace) -> None:
    files = sources.at_hand(options.data)
    print(f"{'name':<12}{'cities':>8}{'optimum':>12}  at hand")
    for row in known.table():
        if row.collection == "tsplib" or row.name in files:
            print(f"{row.name:<12}{row.n:>8}{row.optimum or '-':>12}  {files.pop(row.name, '-')}")
    for name, path in sorted(files.items()):
        print(f"{name:<12}{'?':>8}{'?':>12}  {path}")


def _show(options: argparse.Namespace) -> None:
    instance = sources.load(options.instance, options.data)
    described = {
        "name": instance.name,
        "cities": instance.n,
        "distances": instance.edge_weight_type,
        "optimum": instance.optimum or "not known",
        "sha256": instance.sha256,
        "source": instance.source,
    }
    for label, value in described.items():
        print(f"{label:<10} {value}")


if __name__ == "__main__":
    sys.exit(run_watched(main))
