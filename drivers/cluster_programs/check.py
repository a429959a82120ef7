"""Measure the ranks of this job: messages between pairs, reductions, and the speed of each rank.

mpirun -n 4 python -m cluster check                          the ranks of this machine
mpirun -n 4 python -m cluster check --output cluster.json    the same, saved for `python -m cluster model`
python -m cluster launch --hosts FILE check                  a rank for every slot of several hosts

Prints tables and anomalies: slow, throttled or crowded ranks, different versions, and clocks that differ.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from drivers.cli.exit_codes import DONE, run_driver
from drivers.cli.messages import print_note, print_status
from drivers.options.declaration import add_common_option
from drivers.options.output_files import OutputFile, require_writable_files

if TYPE_CHECKING:
    from cluster.measure.measurement_file import ClusterMeasurement

INSTANCE = "201-217"
"""Its scan takes about a millisecond on a core, and keeps a GPU busy enough to be told from a core."""
PLACE = ("backend", "device", "cores")
"""Options in which ranks may differ."""


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
    from cluster.measure import clock_offsets, ping_pong, reductions
    from cluster.measure.measurement_file import ClusterMeasurement, RankSpeed
    from drivers.cluster_programs.rank_speeds import measure_rank, versions_here
    from drivers.ppp import PppOptions
    from drivers.runs.seeds import pin_ranks

    place = {name: getattr(options, name) for name in (*PLACE, "pin_cores")}
    own = PppOptions(instance=options.instance, walks=1, level="iteration", **place)
    if own.pin_cores:
        pin_ranks(ranks, own)
    hosts = ranks.bcast(ranks.gather(name_of_host()))
    versions, computed = versions_here(ranks), measure_rank(ranks, own, hosts)
    ranks.assemble()
    links = ping_pong.measure_links(ranks.world, hosts)
    ranks.assemble()
    reduced = reductions.measure_reductions(ranks.world, hosts)
    ranks.assemble()
    offsets = clock_offsets.measure_clock_offsets(ranks.world, hosts)
    ranks.assemble()
    everyone = ranks.gather((links, versions, computed))
    if everyone is None:
        return None, []
    kernel = f"ppp {options.instance} flip2"
    found = [
        RankSpeed(
            rank=rank,
            host=hosts[rank],
            unit="neighbours",
            kernel=kernel,
            clock_offset_s=offset,
            versions=versions,
            **{name: value for name, value in one._asdict().items() if name not in ("conditions", "paces")},
        )
        for rank, ((_, versions, one), offset) in enumerate(zip(everyone, offsets, strict=True))
    ]
    measured = ClusterMeasurement(
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        found[0].versions["mpi"],
        tuple(link for links, _, _ in everyone for link in links),
        tuple(reduced),
        tuple(everyone[0][2].paces),
        tuple(found),
    )
    return measured, [one.conditions for _, _, one in everyone]


def name_of_host() -> str:
    """The host as MPI knows it, where processes share memory."""
    from mpi4py import MPI

    return MPI.Get_processor_name()


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
