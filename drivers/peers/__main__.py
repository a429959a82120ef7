"""List the solvers of other projects that `--peers` runs beside our search, and install those that are packages."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cluster.command_line import RankParser
from cluster.mpi import launcher
from core.program_parser import invocation, refuse_unknown
from drivers.cli.exit_codes import DONE, run_driver
from drivers.cli.messages import print_status
from drivers.peers import PEERS, packages


def main(argv: Sequence[str] | None = None) -> int:
    called, known = invocation("drivers.peers"), packages()
    parser = RankParser(prog=called, description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("list", help="list all solvers, what they solve, and how to install them (default)")
    installing = commands.add_parser("install", help="install packages")
    installing.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(known)} (all)")
    options = parser.parse_args(argv)
    if launcher.rank() > 0:
        return DONE
    if options.command != "install":
        print_peers()
        return DONE
    for name in options.names or known:
        if name not in known:
            refuse_unknown(called, name, [*known])
        print_status(f"{known[name].requirement}: environment {known[name].folder}")
        print_status(f"{name}: installed{'' if known[name].install() else ' already'}")
    return DONE


def print_peers() -> None:
    solvers = {peer.name: peer for peers in PEERS.values() for peer in peers}
    for name, peer in solvers.items():
        solved = ", ".join(workload for workload, peers in PEERS.items() if name in [peer.name for peer in peers])
        path, version = peer.find() or ("not installed", "")
        print(f"{name} ({solved}): {version or path}\n    {peer.how_to_get}")


if __name__ == "__main__":
    sys.exit(run_driver(main))
