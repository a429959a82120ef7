"""Measure the ranks of this job: messages between pairs, reductions, and the speed of each rank.

mpirun -n 4 python -m cluster check                          the ranks of this machine
mpirun -n 4 python -m cluster check --output cluster.json    the same, saved for `python -m cluster model`
python -m cluster launch --hosts FILE check                  a rank for every slot of several hosts

Prints tables and anomalies: slow, throttled or crowded ranks, different versions, and clocks that differ.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from drivers.cli.exit_codes import DONE, run_driver
from drivers.cli.messages import print_note, print_status
from drivers.options.declaration import add_common_option
from drivers.options.output_files import OutputFile, require_writable_files

if TYPE_CHECKING:
    from cluster.measure.measurement_file import ClusterMeasurement, Pace, RankSpeed
    from drivers.ppp import PppOptions

INSTANCE = "201-217"
"""Its scan takes about a millisecond on a core, and keeps a GPU busy enough to be distinguished from a core."""
PLACE = ("backend", "device", "cores")
"""Options in which ranks may differ."""
TOGETHER_S = 0.5
"""Seconds for which all ranks compute at once."""
ALONE_S, LEAST_ALONE_S, MOST_ALONE_S = 2.0, 0.03, 0.5
"""All ranks of a host one after another, and each of them, at least and at most."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write; returns the exit code."""
    options = parse(argv)
    ranks = require_several_ranks(options)
    if ranks.rank == 0:
        require_writable_files(options)
    measured, conditions = measure(ranks, options)
    if measured is not None:
        print_tables(measured, conditions)
        if options.output:
            from cluster.measure import measurement_file as file

            file.write_measurement(measured, options.output)
            print_status(f"wrote {options.output}")
    return DONE


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    from cluster.command_line import RankParser
    from core.program_parser import invocation

    parser = RankParser(prog=invocation("cluster check"), description=__doc__)
    output = "write the measurements to FILE, for `python -m cluster model`"
    parser.add_argument("--output", type=OutputFile, metavar="FILE", help=output)
    instance = "instance of the permuted perceptron problem; all ranks evaluate its neighbours (%(default)s)"
    parser.add_argument("--instance", default=INSTANCE, metavar="NAME", help=instance)
    for name in (*PLACE, "pin_cores"):
        add_common_option(parser, name)
    options: argparse.Namespace = parser.parse_args(argv)
    return options


def require_several_ranks(options: argparse.Namespace) -> Any:
    """The communicator, once all ranks know that they were started alike.

    Raises
    ------
    UserError
        There is one rank alone, or two have different options.

    """
    from cluster import default_communicator, require_equal_arguments
    from core.errors import UserError

    ranks = default_communicator()
    if ranks.size == 1:
        raise UserError(
            "found one rank, expected several: `mpirun -n 4 python -m cluster check`, or over several hosts `python "
            "-m cluster launch --hosts FILE check`"
        )
    given = {f"--{name.replace('_', '-')}": str(value) for name, value in vars(options).items() if name not in PLACE}
    require_equal_arguments(ranks, {"program": "python -m cluster check", "--help": "not given", **given})
    return ranks


# --- measuring ---


def measure(ranks: Any, options: argparse.Namespace) -> tuple[ClusterMeasurement | None, list[Mapping[str, Any]]]:
    """Measure everything; on rank 0 what came out and the conditions of every rank, None elsewhere."""
    from msgspec.structs import replace

    from cluster.measure import clock_offsets, ping_pong, reductions
    from cluster.measure.measurement_file import ClusterMeasurement
    from drivers.ppp import PppOptions
    from drivers.runs.seeds import pin_ranks

    place = {name: getattr(options, name) for name in (*PLACE, "pin_cores")}
    own = PppOptions(instance=options.instance, walks=1, level="iteration", **place)
    if own.pin_cores:
        pin_ranks(ranks, own)
    hosts = ranks.bcast(ranks.gather(name_of_host()))
    speed, conditions, paces = measure_rank(ranks, own, hosts, versions_here(ranks))
    ranks.assemble()
    links = ping_pong.measure_links(ranks.world, hosts)
    ranks.assemble()
    reduced = reductions.measure_reductions(ranks.world, hosts)
    ranks.assemble()
    offsets = clock_offsets.measure_clock_offsets(ranks.world, hosts)
    ranks.assemble()
    everyone = ranks.gather((links, speed, conditions))
    if everyone is None:
        return None, []
    measured = ClusterMeasurement(
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        speed.versions["mpi"],
        tuple(link for links, _, _ in everyone for link in links),
        tuple(reduced),
        tuple(paces),
        tuple(replace(one, clock_offset_s=offset) for (_, one, _), offset in zip(everyone, offsets, strict=True)),
    )
    return measured, [one for _, _, one in everyone]


def name_of_host() -> str:
    """The host as MPI knows it, where processes share memory."""
    from mpi4py import MPI

    return MPI.Get_processor_name()


def measure_rank(
    ranks: Any, own: PppOptions, hosts: Sequence[str], versions: Mapping[str, str]
) -> tuple[RankSpeed, Mapping[str, Any], Sequence[Pace]]:
    """Measure how fast this rank computes; every rank calls it.

    Returns its speed, without the offset of its clock, its conditions, and on rank 0 how fast ranks are that meet after
    every scan.

    Parameters
    ----------
    ranks
        The communicator.
    own
        This rank's options: one walk, of which every rank scans all neighbours.
    hosts
        Of every rank the host's name.
    versions
        Of this rank.

    """
    from cluster import Solo
    from cluster.measure import compute_rates, serialised_timing
    from cluster.measure.measurement_file import RankSpeed
    from core.search.stop import Iterations
    from drivers.options.declaration import options_for_rank
    from drivers.ppp import PPP, PppWorkload
    from drivers.runs.seeds import broadcast_task, prepare_search
    from reports.records.environment import cores
    from reports.records.meters import Meter

    task = broadcast_task(PPP.load(own, 1) if ranks.rank == 0 else None, own, ranks)

    class WholeScan(PppWorkload):
        def search(self, backend: Any, ranks: Any, problem: Any, options: Any) -> Any:
            """Every rank scans all neighbours, as if it were the only one."""
            return super().search(backend, Solo(), problem, options)

    search = prepare_search(WholeScan(), ranks, task.problem, options_for_rank(task.options, own))
    search.run(Iterations(1), ranks=Solo())
    device = search.backend.device
    meter = Meter(device.kind, device.index if device.kind == "gpu" else 0)
    ranks.assemble()
    ranks.barrier()
    with meter:
        together = measure_rate(search, TOGETHER_S)
    ranks.assemble()
    here = [rank for rank, host in enumerate(hosts) if host == hosts[ranks.rank]]
    before, after = here[: here.index(ranks.rank)], here[here.index(ranks.rank) + 1 :]
    if before:
        serialised_timing.wait_for_turn(ranks.world, before[-1])
    alone = measure_rate(search, min(max(ALONE_S / len(here), LEAST_ALONE_S), MOST_ALONE_S))
    if after:
        serialised_timing.pass_turn(ranks.world, after[0])
    ranks.assemble()
    in_step = compute_rates.measure_compute_rates(ranks.world, iteration_of(search), search.plan.sizes[0], hosts)
    ranks.assemble()
    search.backend.close()
    speed = RankSpeed(
        rank=ranks.rank,
        host=hosts[ranks.rank],
        device=device.name,
        backend=search.backend.name,
        cores=device.compute_units if device.kind == "cores" else 1,
        host_cores=cores(),
        rate=together,
        unit="neighbours",
        kernel=f"ppp {own.instance} flip2",
        rate_alone=alone,
        clock_offset_s=0.0,
        versions=versions,
    )
    return speed, meter.values["conditions"] or {}, in_step


def iteration_of(search: Any) -> Callable[[], None]:
    """Return a function that makes one iteration of a search on this rank alone, and waits for its end."""
    from core.search.stop import Stop

    search.walks.begin(Stop(), None)

    def scan() -> None:
        search.iterate(1)
        search.backend.synchronize()

    return scan


def measure_rate(search: Any, seconds: float) -> float:
    """Neighbours that a search on this rank alone evaluates in a second, watched for some seconds."""
    from cluster import Solo
    from core.search.stop import Iterations, Seconds, Stop

    def evaluated(stop: Stop) -> int:
        return int(search.run(stop, ranks=Solo()).evaluations)

    began = time.perf_counter()
    # On a crowded host a rank may not have begun when its time is over.
    count = evaluated(Seconds(seconds)) or evaluated(Iterations(1))
    return count / (time.perf_counter() - began)


def versions_here(ranks: Any) -> dict[str, str]:
    """Of Python, NumPy, mpi4py, MPI and the suite's sources, on this rank; one rank reads the sources of a folder."""
    import mpi4py
    import numpy as np

    from cluster.launch.commands import ROOT
    from drivers.runs.rank_start import sources_digest

    places = ranks.bcast(ranks.gather((ranks.host(), str(ROOT))))
    first = places.index(places[ranks.rank])
    digests = ranks.bcast(ranks.gather(sources_digest(ROOT) if first == ranks.rank else ""))
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi4py": mpi4py.__version__,
        "mpi": mpi_library(),
        "sources": digests[first],
    }


def mpi_library() -> str:
    """The MPI library's name and version: the first words of what it says of itself."""
    from mpi4py import MPI

    return MPI.Get_library_version().split(",")[0].split("\n")[0].strip("\0 ").replace(" v", " ")


# --- showing ---


def print_tables(measured: ClusterMeasurement, conditions: Sequence[Mapping[str, Any]]) -> None:
    """Print the tables and what is doubtful."""
    from cluster.measure.anomalies import find_anomalies
    from drivers.cluster_programs.check_tables import check_tables

    ranks = measured.ranks
    hosts = f"{measured.hosts} host{'s' if measured.hosts > 1 else ''}"
    print(f"{len(ranks)} ranks on {hosts}, {measured.mpi}, Python {ranks[0].versions['python']}")
    for table in check_tables(measured):
        print(f"\n{table.terminal()}")
    for caution in find_anomalies(measured, conditions):
        print_note(caution)


if __name__ == "__main__":
    sys.exit(run_driver(main))
