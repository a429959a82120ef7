"""Verify records on this machine: run their work again, and compare hashes and costs.

onekernel verify reports/gallery/oneil2011.jsonl         all works of a file, on the fastest backend here
onekernel verify reports/gallery/oneil2011.jsonl 3       the work of the file's third record
onekernel verify reports/gallery/*2*.jsonl --backend cpu several files, on one core

A record has an instance, parameters, and the hash of a stated amount of work, its proof. For papers the amount is
small, so two cores verify in minutes what a GPU recorded. A line says that cost and hash are equal, what the hash
covers, and which verifiers confirm the result here: the workload's scorer, which computes the cost in plain Python, or
another. Some results have no verifier, such as the length of a long subsequence: "not confirmed".
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from core.instances.errors import InstanceError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED, run_driver
from drivers.cli.messages import print_error
from drivers.experiments.options import PlanParser
from drivers.library.minimize import run_workload
from drivers.library.results import Result
from drivers.workload.registry import get_workload
from reports.records.files import Record, group_by, load
from reports.text.formatting import duration


class Verification(NamedTuple):
    """Work that some records share, and its result here.

    Attributes
    ----------
    difference : str
        First difference from the records; empty if there is none.
    proof : str
        Scope of the equal hash, and the verdict of the verifiers, as programs print them.
    """

    records: Sequence[Record]
    seconds: float
    difference: str
    proof: str

    def __str__(self) -> str:
        first = self.records[0]
        ranks = sorted({f"{one.backend} x {one.ranks}" if one.ranks > 1 else one.backend for one in self.records})
        work = f"{first.workload} {first.instance}, hash {first.hash} of {', '.join(ranks)}"
        return f"{work}: {self.difference or f'equal cost, equal hash of {self.proof}'} ({duration(self.seconds)})"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the works of files of records; return 0, 1 if a result differs, or 2 if an instance is not here.

    Raises `UserError` for a file that is no file of records, a row that it does not have, or records of other programs.
    """
    options = verify_parser().parse_args(argv)
    paths = options.records
    row = int(paths.pop()) if len(paths) > 1 and paths[-1].isdecimal() else None
    records = [record for path in paths for record in load(Path(path))]
    if row is not None and not 1 <= row <= len(records):
        raise UserError(f"row {row}: {', '.join(paths)} has {len(records)} records")
    records = records if row is None else [records[row - 1]]
    failed = missing = False
    for same in group_by(records, lambda one: [one.workload, one.instance_sha256, one.parameters, one.seed]):
        try:
            verification = verify(same, options.backend, options.device, options.data)
        except InstanceError as error:
            print_error(str(error))
            missing = True
            continue
        print(verification, flush=True)
        failed = failed or bool(verification.difference)
    return FAILED if failed else InstanceError.exit_code if missing else DONE


def verify(records: Sequence[Record], backend: str, device: str, data: str | None) -> Verification:
    """Run the work of some records, which have the same, on a device here.

    Raises `UserError` for a workload or an instance that is not here, or a device that is not usable, and `Unconfirmed`
    if a verifier rejects the result.
    """
    first, began = records[0], time.perf_counter()
    workload = get_workload(first.workload)
    # A record is data: it names no file to be written.
    left_out = {one.name for one, about in workload.options.declared() if about.decides in ("nothing", "place")}
    options = first.details.get("options", {})
    asked = {name: options[name] for name in options if name in first.parameters and name not in left_out}
    place = {"backend": backend, "device": device, "data": data, "instance": first.instance}
    seed = {"seed": first.seed} if first.seed else {}
    found = run_workload(workload, {**asked, **place, **seed, "progress": False})[0]
    proof = found.words.rpartition(f"hash {found.hash} of ")[2]
    return Verification(records, time.perf_counter() - began, difference_of(records, found), proof)


def difference_of(records: Iterable[Record], found: Result) -> str:
    """Return the first difference between some records and the result of their work here; empty: none."""
    for record in records:
        for name, recorded, here in (("hash", record.hash, found.hash), ("cost", record.best_cost, found.cost)):
            if recorded != here:
                return f"DIFFERS: {name} {here}, in {record.origin} {recorded}"
    return ""


def verify_parser() -> PlanParser:
    assert __doc__
    parser = PlanParser(prog=invocation("drivers.verify"), description=__doc__)
    add = parser.add_argument
    add("records", nargs="+", metavar="FILE [ROW]", help="files of run records; with a number only that record, from 1")
    add("--backend", default="auto", metavar="B", help="backend of the runs (%(default)s: the fastest here)")
    add("--device", default="0", metavar="D", help="device of the backend (%(default)s)")
    add("--data", metavar="DIR", help="folder with instance files")
    return parser


if __name__ == "__main__":
    sys.exit(run_driver(main))
