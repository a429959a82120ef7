"""Made-up devices, and stubs of their runs: a backend's name decides how its runs end."""

import json
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

from drivers.experiments.case import Case
from reports.records.environment import environment

# Append lines to the file of records as `reports.records.files.append` does: remove an incomplete line, and write one
# process after the other.
WRITE = """
import fcntl, sys
path, lines, said, code = sys.argv[1:]
if lines:
    with open(path, "ab+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        file.truncate(file.read().rfind(b"\\n") + 1)
        file.write(lines.encode())
print(said, file=sys.stderr, end="")
sys.exit(int(code))
"""
ENDS = {
    "joblib": (1, "worker processes died\nerror: no shared memory"),
    "refusing": (2, "error: refusing: this device has no such memory"),
    "broken": (1, "Traceback\nZeroDivisionError: division by zero"),
    "unscored": (1, "error: stub: NOT CONFIRMED"),
    "late": (1, "error: failed after its last repetition"),
}
"""Exit code and messages of backends that fail; the first three record nothing."""
SILENT = ("joblib", "refusing", "broken", "silent")
KINDS = {"cpu": "core", "python": "core", "cuda": "gpu"}


def device(backend, kind="", index="0", **more):
    row = {"usable": True, "reason": "", "is_reference": backend == "python", "same_as": ""}
    row |= {"takes_cores": False, "compute_units": 2}
    kind = kind or KINDS.get(backend, "cores")
    return SimpleNamespace(**{"backend": backend, "device": index, "name": "stub device", "kind": kind, **row, **more})


def processor(backend, cores=4):
    """A row for a backend on this number of cores, which some backends can restrict."""
    return device(backend, takes_cores=backend in ("threads", "joblib"), compute_units=cores)


def record_of(case, seed):
    """The record of a run that took one core two seconds, all cores one, and anything else half a second."""
    configuration = case.configuration
    kernel = {"cpu": 2.0 / configuration.ranks, "threads": 1.0}.get(configuration.backend, 0.5)
    sample = {"compile_s": 0.1, "transfer_s": 0.0, "kernel_s": kernel, "total_s": kernel + 0.1}
    options = case.task.options
    return {
        "schema": 3,
        "workload": case.workload.name,
        "evaluation_unit": case.workload.unit,
        "hash_scope": case.workload.hash_scope,
        "instance": case.task.problem.name,
        "instance_sha256": case.task.problem.sha256,
        "parameters": options.deciding("work"),
        "execution": options.deciding("way"),
        "backend": configuration.backend,
        "device": configuration.recorded,
        "device_kind": configuration.kind,
        "ranks": configuration.ranks,
        "seed": seed,
        "repetitions": [sample] * case.repeats,
        "best_cost": 7 + seed,
        "best_index": 3,
        "evaluations": 10**9,
        "hash": "ffff" if configuration.backend == "wrong" else f"0123{seed}",
        "verified": configuration.backend != "unscored",
        "environment": environment(),
        "details": {"options": case.asked},
    }


@contextmanager
def made_up_suite(*devices, started=None, command=None):
    """A suite with these devices and made-up runs; `started` gets the case of each."""

    def start(case):
        if started is not None:
            started.append(case)
        return (command or run_of)(case)

    with patch("backends.survey", lambda: devices), patch.object(Case, "command", start):
        yield


def run_of(case, **changes):
    records = [record_of(case, seed) | changes for seed in case.seeds]
    backend = case.configuration.backend
    if backend == "unequal":
        records += [record | {"hash": "ffff", "repetitions": record["repetitions"][:1]} for record in records]
    lines = [] if backend in SILENT else [json.dumps(record) + "\n" for record in records]
    code, said = ENDS.get(backend, (0, ""))
    return [sys.executable, "-IS", "-c", WRITE, str(case.records), "".join(lines), said, str(code)]
