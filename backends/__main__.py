"""``onekernel devices``: a table of this machine's devices, and the reasons why some cannot be used."""

from __future__ import annotations

import sys

import backends
from core.program_parser import ProgramParser, invocation
from core.standard_output import run_watched


def table(rows: list[backends.Usability]) -> str:
    header = ("backend", "device", "name", "driver", "memory", "units", "usable")
    body = [
        (r.backend, r.device, r.name, r.driver, f"{r.memory_bytes / 2**30:.1f} GiB", str(r.compute_units), "yes")
        if r.usable
        else (r.backend, r.device, r.name, r.driver, "", "", f"no: {r.reason}")
        for r in rows
    ]
    widths = [max(len(row[k]) for row in [header, *body]) for k in range(len(header) - 1)]
    lines = [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in [header, *body]
    ]
    return "\n".join(lines)


def main() -> int:
    """Print the table; with ``--self-test`` run the known-answer kernels of every device anew."""
    parser = ProgramParser(prog=invocation("backends"), description=__doc__)
    parser.add_argument("--self-test", action="store_true", help="run every device's known-answer kernels now")
    options = parser.parse_args()
    rows = backends.survey()
    print(table(rows))
    if not options.self_test:
        return 0
    from backends.self_test import find_failure

    failed = False
    for row in rows:
        if row.usable:
            backend = backends.create(row.backend, row.device)
            wrong = find_failure(backend)
            backend.close()
            failed = failed or bool(wrong)
            print(f"self-test {row.backend} {row.device}: {wrong or 'passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_watched(main))
