"""Estimate the duration of a search on clusters and grids, from records of one core.

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
from typing import Any

from cluster.model import interconnects
from cluster.model.interconnects import Interconnect
from core.arguments import number, refuse
from core.errors import UserError
from core.program_parser import CompletingParser, invocation
from drivers.cli.exit_codes import DONE, FAILED, run_driver
from drivers.cluster_programs import pages, published_tables
from drivers.cluster_programs.pages import ModelScenario
from drivers.options.values import ValueType
from reports.pages import cluster_model as pages_cluster_model
from reports.pages.markdown import written_into
from reports.plots import scaling as scaling_plots
from reports.records.files import Record, load, merge

MOST_RANKS = 1 << 20
DEFAULT_NETWORKS = ("myri10g", "ethernet", "grid5000")
DEFAULT_TOLERANCE = 0.15
"""Largest relative error that the model should have."""


def check_positive(name: str, value: Any) -> float:
    return float(number(name, value, 0)) or refuse(name, value, "a positive number")


positive = ValueType("a positive number", check_positive, float)
share = ValueType("a positive number", check_positive, lambda text: float(text) / 100)
"""Per cent as a fraction."""


def main(argv: Sequence[str] | None = None) -> int:
    """Model; return 1 if a validation is less close than requested, else 0."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = parser().parse_args(arguments)
    made_by = shlex.join(["python", "-m", "cluster", "model", *arguments])
    if options.published:
        return print_report(published_tables.render(made_by), options.out, f"{pages_cluster_model.NAME}-published")
    if not options.records:
        raise UserError("--records: expected files of run records, or --published")
    networks = [network for name in options.network for network in network_of(name)]
    records = workload_records(options.records, options.workload)
    if options.validate:
        return validate(records, networks, options, made_by)
    asked = ModelScenario(
        networks,
        sorted({1, *(count for counts in options.ranks for count in counts)}),
        tuple(options.instance or ()),
        options.iterations,
        options.watts and tuple(options.watts),
        options.price and tuple(options.price),
    )
    page = pages.page(records, asked, made_by)
    if options.out:
        with written_into(options.out):
            last = page.subjects[-1]
            drawn = scaling_plots.modelled(last.instance, last.curves, last.gpu_speedup, options.out)
        page = replace(page, pictures=tuple(drawn[:1]))
    return print_report(pages_cluster_model.render(page), options.out, pages_cluster_model.NAME)


def validate(
    records: Sequence[Record], networks: Sequence[Interconnect], options: argparse.Namespace, made_by: str
) -> int:
    """Compare the model with runs of several ranks. Raises `UserError` for several networks, or without such runs."""
    if len(networks) != 1:
        raise UserError(f"--validate: expected one --network, on which the runs were made, found {len(networks)}")
    runs = workload_records([options.validate], options.workload)
    checks = pages.validate_runs(records, runs, networks[0])
    within = DEFAULT_TOLERANCE if options.within is None else options.within
    print_report(
        pages_cluster_model.render_checks(checks, within, made_by), options.out, f"{pages_cluster_model.NAME}-validated"
    )
    is_off = options.within is not None and any(abs(one.error.value) > within for one in checks)
    return FAILED if is_off else DONE


def print_report(text: str, out: Path | None, name: str) -> int:
    print(text, end="")
    if out is not None:
        print(pages_cluster_model.write(text, out, name), file=sys.stderr)
    return DONE


# --- the command line ---


def parser() -> argparse.ArgumentParser:
    command = CompletingParser(prog=invocation("cluster model"), description=__doc__)
    add = command.add_argument
    add("--workload", default="ppp", metavar="W", help="workload of the records (%(default)s)")
    add("--instance", nargs="+", metavar="I", help="only these instances (default: all with records of one core)")
    add("--records", nargs="+", type=Path, default=[], metavar="FILE", help="files of run records")
    names = ", ".join(interconnects.interconnect_names())
    known = f"{names}, or files of `python -m cluster check` ({' '.join(DEFAULT_NETWORKS)})"
    add("--network", nargs="+", default=list(DEFAULT_NETWORKS), metavar="N", help=known)
    ranks, usual = "numbers of ranks, as in 88 104, or powers of two, as in 1..4096", [ranks_of("1..4096")]
    add("--ranks", nargs="+", type=ranks_of, default=usual, metavar="P", help=ranks)
    add("--validate", type=Path, metavar="FILE", help="compare the model with these runs on several ranks")
    add("--within", type=share, metavar="PERCENT", help="fail if --validate finds a larger error")
    add("--published", action="store_true", help="model the paper's own machines, from its published times")
    iterations = "iterations of a run, for --watts and --price (%(default)g)"
    add("--iterations", type=positive, default=10_000.0, metavar="N", help=iterations)
    watts = "power of a node and of a GPU in watts, for the energy of a run"
    add("--watts", nargs=2, type=positive, metavar=("NODE", "GPU"), help=watts)
    price = "price of a node and of a GPU per hour, for the cost of a run"
    add("--price", nargs=2, type=positive, metavar=("NODE", "GPU"), help=price)
    add("--out", type=Path, metavar="DIR", help="folder for the report and its plot")
    return command


def ranks_of(text: str) -> list[int]:
    """Read a number of ranks, or the powers of two from one to another with both ends."""
    first, dots, last = text.partition("..")
    try:
        low, high = int(first), int(last if dots else first)
    except ValueError:
        low, high = 0, 0
    if not 1 <= low <= high <= MOST_RANKS:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of ranks, or 1..4096")
    return sorted({low, high, *(1 << k for k in range(high.bit_length()) if low <= 1 << k)}) if dots else [low]


def network_of(name: str) -> list[Interconnect]:
    """Return networks by name, or the one in a file of `check`. Raises `UserError` if there is neither."""
    if not (name.endswith(".json") or Path(name).exists()):
        return interconnects.find_interconnects(name)
    from cluster.measure import measurement_file

    measurement = measurement_file.read_measurement(name)
    return [interconnects.fit_interconnect(name, measurement)]


def workload_records(files: Sequence[Path], workload: str) -> list[Record]:
    """Records of a workload with joined repetitions, in the native mapping, and of pairs of flips if it has those.

    Raises `UserError` if there are none.
    """
    records = merge(record for file in files for record in load(file))
    of_workload = [one for one in records if one.workload == workload and one.execution.get("mapping") == "native"]
    names = ", ".join(map(str, files))
    if not of_workload:
        others = ", ".join(sorted({record.workload for record in records})) or "nothing"
        raise UserError(f"{names}: no record of {workload} in the native mapping, only of {others}")
    pairs = [one for one in of_workload if one.parameters.get("neighbourhood") == "flip2"]
    return pairs or of_workload


if __name__ == "__main__":
    sys.exit(run_driver(main))
