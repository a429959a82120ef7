"""Measure the ranks of this job: messages between pairs, reductions, and the speed of each rank.

mpirun -n 4 python -m cluster check            the ranks of this machine
python -m cluster launch --hosts FILE check    a rank for every slot of several hosts

Prints tables and anomalies: slow, throttled or crowded ranks, and different versions.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from drivers.cli.exit_codes import DONE, run_driver
from drivers.cli.messages import print_note
from drivers.options.declaration import add_common_option

if TYPE_CHECKING:
    from cluster import Mpi
    from cluster.measure.measurement import ClusterMeasurement, RankSpeed
    from core.local_search import LocalSearch
    from core.ppp.problem import Ppp
    from core.run.protocol import Search
    from drivers.ppp import PppOptions
    from drivers.workload.declaration import SearchPlace

INSTANCE = "201-217"
"""A scan of it takes about a millisecond on a core, and keeps a GPU busy enough to tell it from a core."""
PLACE = ("backend", "device", "cores", "compiler")
"""Options in which ranks may differ."""
TOGETHER_S = 0.5
"""Seconds for which all ranks compute at once."""
IN_TURN_S, LEAST_IN_TURN_S, MOST_IN_TURN_S = 2.0, 0.03, 0.5
"""Seconds for all ranks of a host in turn, and least and most for each."""


def main(argv: Sequence[str] | None = None) -> int:
    options = parse(argv)
    ranks = require_several_ranks(options)
    measured = measure(ranks, options)
    if measured is not None:
        print_tables(measured)
    return DONE


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    from cluster.command_line import RankParser
    from core.program_parser import invocation

    parser = RankParser(prog=invocation("cluster check"), description=__doc__)
    instance = "instance of the permuted perceptron problem; all ranks evaluate its neighbours (%(default)s)"
    parser.add_argument("--instance", default=INSTANCE, metavar="NAME", help=instance)
    for name in (*PLACE, "pin_cores"):
        add_common_option(parser, name)
    options: argparse.Namespace = parser.parse_args(argv)
    return options


def require_several_ranks(options: argparse.Namespace) -> Mpi:
    """Return the communicator. Raises `UserError` for a single rank, or ranks with different options."""
    from cluster import Mpi, default_communicator, require_equal_arguments
    from core.errors import UserError

    ranks = default_communicator()
    if not isinstance(ranks, Mpi) or ranks.size == 1:
        raise UserError(
            "found one rank, expected several: `mpirun -n 4 python -m cluster check`, or over several hosts `python "
            "-m cluster launch --hosts FILE check`"
        )
    settings = {f"--{name.replace('_', '-')}": str(value) for name, value in vars(options).items() if name not in PLACE}
    require_equal_arguments(ranks, {"program": "python -m cluster check", "--help": "not given", **settings})
    return ranks


# --- measuring ---


def measure(ranks: Mpi, options: argparse.Namespace) -> ClusterMeasurement | None:
    """Measure everything; return the results of every rank on rank 0, else None."""
    from mpi4py import MPI

    from cluster.measure import ping_pong, reductions
    from cluster.measure.measurement import ClusterMeasurement
    from core.ranks import gather_on_all
    from drivers.ppp import PppOptions
    from drivers.runs.seeds import pin_ranks

    place = {name: getattr(options, name) for name in (*PLACE, "pin_cores")}
    own = PppOptions(instance=options.instance, walks=1, level="iteration", **place)
    if own.pin_cores:
        pin_ranks(ranks, own)
    hosts = gather_on_all(ranks, MPI.Get_processor_name())
    speed = measure_rank(ranks, own, hosts, versions_here(ranks))
    ranks.assemble()
    links = ping_pong.measure_links(ranks.world, hosts)
    ranks.assemble()
    reduced = reductions.measure_reductions(ranks.world)
    ranks.assemble()
    everyone = ranks.gather((links, speed))
    if everyone is None:
        return None
    all_links = tuple(link for links, _ in everyone for link in links)
    return ClusterMeasurement(all_links, tuple(reduced), tuple(speed for _, speed in everyone))


def measure_rank(ranks: Mpi, own: PppOptions, hosts: Sequence[str], versions: Mapping[str, str]) -> RankSpeed:
    """Measure the speed of this rank; all ranks call this.

    ``own`` are this rank's options: one walk, of which every rank scans all neighbours.
    """
    from cluster import Solo
    from cluster.measure.measurement import RankSpeed
    from cluster.mpi import idle_waiting
    from core.run.stop import Iterations
    from drivers.ppp import PPP, PppWorkload
    from drivers.runs.seeds import prepare_search, share_task
    from reports.records.environment import cores
    from reports.records.meters import Meter

    task = share_task(lambda: PPP.load(own, 1), own, ranks)

    class WholeScan(PppWorkload):
        def make_search(self, place: SearchPlace, problem: Ppp, options: PppOptions) -> LocalSearch:
            """Scan all neighbours on every rank, as if it were alone."""
            return super().make_search((place[0], Solo()), problem, options)

    search = prepare_search(WholeScan(), ranks, task.problem, task.options)
    search.run(Iterations(1), ranks=Solo())
    device = search.backend.device
    meter = Meter(device.kind, device.index)
    ranks.assemble()
    ranks.barrier()
    with meter:
        together = measure_rate(search, TOGETHER_S)
    ranks.assemble()
    of_host = [rank for rank, host in enumerate(hosts) if host == hosts[ranks.rank]]
    before, after = of_host[: of_host.index(ranks.rank)], of_host[of_host.index(ranks.rank) + 1 :]
    if before:
        idle_waiting.wait_for_turn(ranks.world, before[-1])
    in_turn = measure_rate(search, min(max(IN_TURN_S / len(of_host), LEAST_IN_TURN_S), MOST_IN_TURN_S))
    if after:
        idle_waiting.pass_turn(ranks.world, after[0])
    ranks.assemble()
    search.backend.close()
    return RankSpeed(
        rank=ranks.rank,
        host=hosts[ranks.rank],
        device=device.name,
        backend=search.backend.name,
        cores=device.compute_units if device.kind == "cores" else 1,
        host_cores=cores(),
        rate=together,
        kernel=f"ppp {own.instance} flip2",
        rate_in_turn=in_turn,
        versions=versions,
        conditions=meter.values["conditions"] or {},
    )


def measure_rate(search: Search, seconds: float) -> float:
    """Neighbours per second of a search on this rank alone, over some seconds."""
    from cluster import Solo
    from core.run.stop import Iterations, Seconds, Stop

    def evaluated(stop: Stop) -> int:
        return search.run(stop, ranks=Solo()).evaluations

    began = time.perf_counter()
    # On a crowded host a rank may not have begun when the time is over.
    count = evaluated(Seconds(seconds)) or evaluated(Iterations(1))
    return count / (time.perf_counter() - began)


def versions_here(ranks: Mpi) -> dict[str, str]:
    """Versions of Python, NumPy, mpi4py, MPI and the suite's sources here; one rank reads a folder's sources."""
    import mpi4py
    import numpy as np
    from mpi4py import MPI

    from cluster.launch.commands import ROOT
    from core.ranks import gather_on_all
    from drivers.runs.rank_start import sources_digest

    places = gather_on_all(ranks, (ranks.host(), str(ROOT)))
    first = places.index(places[ranks.rank])
    digests = gather_on_all(ranks, ranks.on_all(lambda: sources_digest(ROOT) if first == ranks.rank else ""))
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi4py": mpi4py.__version__,
        # The first words of the library's description.
        "mpi": MPI.Get_library_version().split(",")[0].split("\n")[0].strip("\0 ").replace(" v", " "),
        "sources": digests[first],
    }


# --- showing ---


def print_tables(measured: ClusterMeasurement) -> None:
    from cluster.measure.anomalies import find_anomalies
    from drivers.cluster_programs.check_tables import check_tables

    ranks = measured.ranks
    hosts = f"{measured.hosts} host{'s' if measured.hosts > 1 else ''}"
    versions = ranks[0].versions
    print(f"{len(ranks)} ranks on {hosts}, {versions['mpi']}, Python {versions['python']}")
    for table in check_tables(measured):
        print(f"\n{table.terminal()}")
    for anomaly in find_anomalies(ranks):
        print_note(anomaly)


if __name__ == "__main__":
    sys.exit(run_driver(main))
