"""Made-up devices, and stubs of their runs: a backend's name decides how its runs end."""

import fcntl
import inspect
import json
import sys
from contextlib import contextmanager
from subprocess import CompletedProcess
from types import SimpleNamespace
from unittest.mock import patch

from drivers.experiments.best_core import run_best_core
from drivers.experiments.case import Case
from drivers.experiments.executors import guard
from reports.rates import BEST_CORE
from reports.records.environment import environment

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
    row |= {"takes_cores": False, "compute_units": 2, "compiler": ""}
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
        "schema": 4,
        "workload": case.workload.name,
        "evaluation_unit": case.workload.unit,
        "hash_scope": case.workload.hash_scope,
        "instance": case.task.problem.name,
        "instance_sha256": case.task.problem.sha256,
        "parameters": options.deciding("work"),
        "execution": options.deciding("execution")
        | ({"compiler": configuration.compiler} if configuration.compiler else {}),
        "backend": configuration.backend,
        "device": configuration.recorded,
        "device_kind": configuration.kind,
        "ranks": configuration.ranks,
        "seed": seed,
        "repetitions": repetitions_of(case, sample),
        "best_cost": 7 + seed,
        "best_index": 3,
        "evaluations": 10**9,
        "hash": "ffff" if configuration.backend == "wrong" else f"0123{seed}",
        "verified": configuration.backend != "unscored",
        "environment": environment(),
        "details": {"options": case.asked, **({BEST_CORE: options.best_core_of} if options.best_core_of else {})},
    }


def repetitions_of(case, sample):
    """A fixed number of repetitions, or the proof and six warm repetitions of the case's last measurement."""
    if case.measure is None:
        return [sample] * case.repeats
    turn = case.turns - 1
    warm = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": sample["kernel_s"], "total_s": sample["kernel_s"]}
    return [sample | {"kind": "proof", "turn": turn, "start_s": 1.0}, *[warm | {"kind": "rate", "turn": turn}] * 6]


def write(path, lines, said, code):
    """Append lines as `reports.records.files.append` does: without an incomplete line, one process after the other."""
    if lines:
        with open(path, "ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(lines.encode())
    print(said, file=sys.stderr, end="")
    return int(code)


WRITE = f"import fcntl, sys\n{inspect.getsource(write)}\nsys.exit(write(*sys.argv[1:]))"


@contextmanager
def made_up_suite(*devices, started=None, command=None, best_core=False):
    """A suite with these devices and made-up runs in this process; `started` gets the case of each.

    Comparisons run the best one-core algorithm only with ``best_core``.
    """
    run_guarded = guard.run_guarded

    def start(case):
        if started is not None:
            started.append(case)
        return (command or run_of)(case)

    def run(command, *how):
        if WRITE not in command:
            return run_guarded(command, *how)
        path, lines, said, code = command[-4:]
        return CompletedProcess(command, write(path, lines, "", code), "", said)

    best = run_best_core if best_core else lambda run, outcomes: []
    with (
        patch("backends.survey", lambda: devices),
        patch("drivers.experiments.presets.compare.run_best_core", best),
        patch.object(Case, "command", start),
        patch.object(guard, "run_guarded", run),
    ):
        yield


def run_of(case, **changes):
    records = [record_of(case, seed) | changes for seed in case.seeds]
    backend = case.configuration.backend
    if backend == "unequal":
        records += [record | {"hash": "ffff", "repetitions": record["repetitions"][:1]} for record in records]
    lines = [] if backend in SILENT else [json.dumps(record) + "\n" for record in records]
    code, said = ENDS.get(backend, (0, ""))
    return [sys.executable, "-IS", "-c", WRITE, str(case.records), "".join(lines), said, str(code)]
