"""Verify records on this machine: run their work again, and compare hashes and costs.

onekernel verify reports/gallery/oneil2011.jsonl         all works of a file, on the fastest backend here
onekernel verify reports/gallery/oneil2011.jsonl 3       the work of the file's third record
onekernel verify reports/gallery/*2*.jsonl --backend cpu several files, on one core

A record has an instance, parameters, and the hash of a stated amount of work, its proof. For papers the amount is
small, so two cores verify in minutes what a GPU recorded. The workload's scorer scores the result again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED, run_driver
from drivers.experiments.options import PlanParser
from drivers.library.minimize import run_workload
from drivers.library.results import Result
from drivers.workload.registry import get_workload
from reports.records.files import Record, group_by, load
from reports.text.formatting import duration


class Verification(NamedTuple):
    """Work that some records share, its result here, and the difference from the records, empty if there is none."""

    records: Sequence[Record]
    seconds: float
    difference: str

    def __str__(self) -> str:
        first = self.records[0]
        ranks = sorted({f"{one.backend} x {one.ranks}" if one.ranks > 1 else one.backend for one in self.records})
        work = f"{first.workload} {first.instance}, hash {first.hash} of {', '.join(ranks)}"
        return f"{work}: {self.difference or 'confirmed'} ({duration(self.seconds)})"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the works of files of records; return 0, or 1 if a result differs.

    Raises `UserError` for a file that is no file of records, a row that it does not have, records of other programs,
    or an instance that is not here.
    """
    options = verify_parser().parse_args(argv)
    paths = options.records
    row = int(paths.pop()) if len(paths) > 1 and paths[-1].isdecimal() else None
    records = [record for path in paths for record in load(Path(path))]
    if row is not None and not 1 <= row <= len(records):
        raise UserError(f"row {row}: {', '.join(paths)} has {len(records)} records")
    records = records if row is None else [records[row - 1]]
    failed = False
    for same in group_by(records, lambda one: [one.workload, one.instance_sha256, one.parameters, one.seed]):
        verification = verify(same, options.backend, options.device, options.data)
        print(verification, flush=True)
        failed = failed or bool(verification.difference)
    return FAILED if failed else DONE


def verify(records: Sequence[Record], backend: str, device: str, data: str | None) -> Verification:
    """Run the work of some records, which have the same, on a device here.

    Raises `UserError` for a workload or an instance that is not here, or a device that is not usable.
    """
    first, began = records[0], time.perf_counter()
    asked = {name: value for name, value in first.details.get("options", {}).items() if name in first.parameters}
    place = {"backend": backend, "device": device, "data": data, "instance": first.instance}
    seed = {"seed": first.seed} if first.seed else {}
    found = run_workload(get_workload(first.workload), {**asked, **place, **seed, "progress": False})[0]
    return Verification(records, time.perf_counter() - began, difference_of(records, found))


def difference_of(records: Iterable[Record], found: Result) -> str:
    """Return the first difference between some records and the result of their work here; empty: none."""
    for record in records:
        for name, recorded, here in (("hash", record.hash, found.hash), ("cost", record.best_cost, found.cost)):
            if recorded != here:
                return f"DIFFERS: {name} {here}, in {record.origin} {recorded}"
    return "NOT CONFIRMED by a scorer" if found.confirmed is False else ""


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
