"""How long a search would take on clusters and grids, from records of one core.

python -m cluster model --records runs.jsonl                                   tables 10 and 11, every network
python -m cluster model --records runs.jsonl --network ethernet check.json --ranks 1..512 --watts 350 700
python -m cluster model --records runs.jsonl --validate several.jsonl --network check.json
python -m cluster model --published                                            the paper's own machines
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cluster import interconnects
from cluster.interconnects import Interconnect
from core.command_line import Parser, program
from core.errors import UserError
from drivers import cluster_pages, cluster_published
from drivers.cluster_pages import Question
from drivers.endings import DONE, FAILED, run_driver
from reports import cluster_plot, cluster_report
from reports.records import Record, load, merge

MOST_RANKS = 1 << 20
USUAL = ("myri10g", "ethernet", "grid5000")
AIM = 0.15
"""How close the model is meant to be."""


def main(argv: Sequence[str] | None = None) -> int:
    """Model; returns 0, or 1 where a validation is not as close as was asked.

    Raises
    ------
    UserError
        An unknown network, no records of one core, records of another workload, or options that do not fit.

    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = parser().parse_args(arguments)
    made_by = shlex.join(["python", "-m", "cluster", "model", *arguments])
    if options.published:
        return tell(cluster_published.render(made_by), options.out, f"{cluster_report.NAME}-published")
    if not options.records:
        raise UserError("--records: expected files of run records, or --published")
    networks = [network for name in options.network for network in network_of(name)]
    records = of_workload(options.records, options.workload)
    if options.validate:
        return validate(records, networks, options, made_by)
    asked = Question(
        networks,
        sorted({1, *(count for counts in options.ranks for count in counts)}),
        tuple(options.instance or ()),
        options.iterations,
        options.watts and tuple(options.watts),
        options.price and tuple(options.price),
    )
    page = cluster_pages.page(records, asked, made_by)
    if options.out:
        cluster_report.make_room(options.out)
        drawn = cluster_plot.curves(page.subjects[-1], options.out)
        page = replace(page, pictures=tuple(drawn[:1]))
    return tell(cluster_report.render(page), options.out, cluster_report.NAME)


def validate(
    records: Sequence[Record], networks: Sequence[Interconnect], options: argparse.Namespace, made_by: str
) -> int:
    """Hold the model to runs of several ranks.

    Raises
    ------
    UserError
        Several networks are named, or the runs are none of several ranks.

    """
    if len(networks) != 1:
        raise UserError(f"--validate: expected one --network, on which the runs were made, found {len(networks)}")
    runs = of_workload([options.validate], options.workload)
    found = cluster_pages.checked(records, runs, networks[0])
    within = AIM if options.within is None else options.within
    tell(cluster_report.render_checked(found, within, made_by), options.out, f"{cluster_report.NAME}-validated")
    is_off = options.within is not None and any(abs(one.error.value) > within for one in found)
    return FAILED if is_off else DONE


def tell(text: str, out: Path | None, name: str) -> int:
    """Print a report, and write it where a folder is named."""
    print(text, end="")
    if out is not None:
        print(cluster_report.write(text, out, name), file=sys.stderr)
    return DONE


# --- the command line ---


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog=program("cluster model"),
        description=__doc__,
    )
    add = made.add_argument
    add("--workload", default="ppp", metavar="W", help="whose records count (%(default)s)")
    add("--instance", nargs="+", metavar="I", help="only these (default: all that one core has recorded)")
    add("--records", nargs="+", type=Path, default=[], metavar="FILE", help="files of run records")
    known = f"{', '.join(interconnects.names())}, or files of `python -m cluster check` ({' '.join(USUAL)})"
    add("--network", nargs="+", default=list(USUAL), metavar="N", help=known)
    usual = [ranks_of("1..4096")]
    add("--ranks", nargs="+", type=ranks_of, default=usual, metavar="P", help="88 104, or 1..4096: powers of two")
    add("--validate", type=Path, metavar="FILE", help="hold the model to these runs of several ranks")
    add("--within", type=share, metavar="PERCENT", help="fail where --validate finds a larger error")
    add("--published", action="store_true", help="the paper's own machines, from its published times")
    add("--iterations", type=positive, default=10_000.0, metavar="N", help="of a run, for --watts (%(default)g)")
    add("--watts", nargs=2, type=positive, metavar=("NODE", "GPU"), help="for the energy of a run")
    add("--price", nargs=2, type=positive, metavar=("NODE", "GPU"), help="per hour, for the cost of a run")
    add("--out", type=Path, metavar="DIR", help="folder for the report and its plot")
    return made


def ranks_of(text: str) -> list[int]:
    """A number of ranks, or the powers of two from one to another, and both ends.

    Raises
    ------
    argparse.ArgumentTypeError
        It is neither.

    """
    first, dots, last = text.partition("..")
    try:
        low, high = int(first), int(last if dots else first)
    except ValueError:
        low, high = 0, 0
    if not 1 <= low <= high <= MOST_RANKS:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of ranks, or 1..4096")
    return sorted({low, high, *(1 << k for k in range(high.bit_length()) if low <= 1 << k)}) if dots else [low]


def positive(text: str) -> float:
    """A positive number.

    Raises
    ------
    argparse.ArgumentTypeError
        It is none.

    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a positive number")
    return value


def share(text: str) -> float:
    """Per cent as a part of one."""
    return positive(text) / 100


def network_of(name: str) -> list[Interconnect]:
    """Networks by name, or the one that a file of `check` describes.

    Raises
    ------
    UserError
        There is neither.

    """
    if not (name.endswith(".json") or Path(name).exists()):
        return interconnects.named(name)
    from cluster import measured

    found = measured.read(name)
    return [interconnects.fitted(name, found)]


def of_workload(files: Sequence[Path], workload: str) -> list[Record]:
    """Records of a workload, repetitions joined: of the suite's mapping, and of pairs of flips if it has those.

    Raises
    ------
    UserError
        There is none of it.

    """
    every = merge(record for file in files for record in load(file))
    found = [one for one in every if one.workload == workload and one.ways.get("mapping", "suite") == "suite"]
    names = ", ".join(map(str, files))
    if not found:
        others = ", ".join(sorted({record.workload for record in every})) or "nothing"
        raise UserError(f"{names}: no record of {workload} in the suite's mapping, only of {others}")
    pairs = [one for one in found if one.parameters.get("neighbourhood") == "flip2"]
    return pairs or found


if __name__ == "__main__":
    sys.exit(run_driver(main))
