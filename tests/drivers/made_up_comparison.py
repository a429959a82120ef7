"""A comparison with made-up devices, and a stub in the driver's place: a backend's name decides how it ends."""

import functools
import json
import sys
from types import SimpleNamespace

import pytest

from drivers.compare import House, main
from reports.environment import environment

# Stands in for a driver: appends a record for each seed with the json module alone.
STUB = """
import json, sys
about, path = json.loads(sys.argv[1]), sys.argv[2]
backend, ranks, repeats = about["backend"], about["ranks"], about.pop("repeats")
if backend == "joblib":
    sys.exit("worker processes died\\nerror: no shared memory")
kernel = {"cpu": 2.0 / ranks, "threads": 1.0}.get(backend, 0.5)
sample = {"compile_s": 0.1, "transfer_s": 0.0, "kernel_s": kernel, "total_s": kernel + 0.1}
for seed in about.pop("seeds"):
    record = about | {
        "schema": 2, "workload": "ihc", "parameters": {"climbers": 16}, "ways": {}, "seed": seed,
        "samples": [sample] * repeats, "best_cost": 7 + seed, "best_index": 3, "evaluations": 10**9,
        "trajectory_hash": "ffff" if backend == "wrong" else f"0123{seed}", "hash_covers": "climbs",
        "scored": backend != "unscored",
    }
    if backend == "unequal":
        other = record | {"trajectory_hash": "ffff", "samples": [sample]}
        print(json.dumps(other), file=open(path, "a"))
    if backend != "silent":
        print(json.dumps(record), file=open(path, "a"))
if backend == "unscored":
    sys.exit("error: stub: NOT CONFIRMED")
if backend == "late":
    sys.exit("error: failed after its last repetition")
"""


def device(backend, usable=True, reason="", name="stub device"):
    """A row as `backends.survey` makes them."""
    told = {"kind": {"cpu": "core", "cuda": "gpu"}.get(backend, "cores"), "oracle": backend == "python"}
    return SimpleNamespace(backend=backend, device="0", name=name, usable=usable, reason=reason, **told)


def stub_house(*devices, commands=None):
    """A house with these devices, whose runs are stubs; `commands` is told of every run."""

    def command(contest, configuration):
        if commands is not None:
            commands.append(configuration)
        about = {
            "instance": contest.task.problem.name,
            "instance_sha256": contest.task.problem.sha256,
            "backend": configuration.backend,
            "device": configuration.device,
            "device_kind": configuration.kind,
            "ranks": configuration.ranks,
            "repeats": contest.repeats,
            "seeds": contest.seeds,
            "environment": environment(),
            "details": {"asked": contest.asked},
        }
        return [sys.executable, "-IS", "-c", STUB, json.dumps(about), str(contest.records)]

    return House(lambda: devices, command)


def run(folder, *arguments, devices, commands=None):
    """Compare hill climbing; returns the exit code."""
    house = stub_house(*devices, commands=commands)
    fixed = ["ihc", "--instance", "uniform:8:seed=1", "--climbers", "16", "--repeats", "3", "--out", str(folder)]
    return main([*fixed, *arguments], house)


@pytest.fixture
def compare(tmp_path):
    """Compare hill climbing in a folder of its own; returns the exit code."""
    return functools.partial(run, tmp_path)
