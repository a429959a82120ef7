"""A paper that nobody wrote, machines that nobody has, and a stub in the drivers' place."""

import json
import sys
from types import SimpleNamespace

from drivers.reproduce import House
from drivers.series_places import Here
from reports.environment import environment
from reports.paper_file import read

HEAD = """
name = "made-up"
citation = "A. Author: A paper. 2026"
measured = "once"
[machines]
m = { short = "M", name = "a machine" }
[series.core]
heading = "one core"
kinds = ["core"]
options = { scan = "full" }
[series.pruned]
heading = "pruned"
kinds = ["gpu", "cores"]
options = { scan = "pruned" }
"""
"""What every made-up paper begins with; series and exhibits follow."""

FIRST, SECOND = "uniform:8:seed=1:side=10000", "uniform:9:seed=1:side=10000"
HILLS = f"""
[[exhibits]]
table = "1"
title = "hill climbing"
workload = "ihc"
series = ["core", "pruned"]
columns = [{{ machine = "m", heading = "CPU" }}]
rows = [{{ instance = "{FIRST}", figures = [[3.0]] }}, {{ instance = "{SECOND}", figures = [[4.0]] }}]
quick = {{ amount = {{ climbers = 4 }}, repeats = 2 }}
"""
"""Two rows and two series."""

# Stands in for a driver: appends a record for each seed with the json module alone.
STUB = """
import json, sys
about, path = json.loads(sys.argv[1]), sys.argv[2]
backend, repeats = about["backend"], about.pop("repeats")
if backend == "refusing":
    sys.exit(print("error: refusing: this device has no such memory", file=sys.stderr) or 2)
if backend == "broken":
    sys.exit("Traceback\\nZeroDivisionError: division by zero")
with open(path, "rb+") as file:  # as `reports.records.append` does before it adds a line
    content = file.read()
    file.truncate(content.rfind(b"\\n") + 1)
kernel = 0.5 if backend == "cpu" else 0.25
sample = {"compile_s": 0.1, "transfer_s": 0.0, "kernel_s": kernel, "total_s": kernel + 0.1}
for seed in about.pop("seeds"):
    record = {"schema": 2} | about | {
        "seed": seed, "samples": [sample] * repeats, "best_cost": 7, "best_index": 3,
        "evaluations": 1000, "trajectory_hash": "ffff" if backend == "wrong" else "0123", "scored": backend != "unscored",
    }
    print(json.dumps(record), file=open(path, "a"))
"""

KINDS = {"cpu": "core", "python": "core", "cuda": "gpu"}


def device(backend, kind="", index="0", **told):
    """A row as `backends.survey` makes them."""
    row = {"usable": True, "reason": "", "oracle": backend == "python", "same_as": "", "compute_units": 2}
    kind = kind or KINDS.get(backend, "cores")
    return SimpleNamespace(backend=backend, device=index, name="stub device", kind=kind, **{**row, **told})


def here(*devices, backends=None, cores=4, ranks=None, oversubscribe=False):
    """A machine with these devices."""
    return Here.of(devices, backends, cores, ranks, oversubscribe=oversubscribe)


def written(folder, *parts):
    """The file of a paper with these series and exhibits."""
    path = folder / "made-up.toml"
    path.write_text(HEAD + "".join(parts))
    return path


def paper_of(folder, *parts):
    """Read such a paper."""
    return read(written(folder, *parts))


def stub_house(*devices, commands=None):
    """A house with these devices, whose runs are stubs; `commands` is told of every run."""

    def command(contest, configuration):
        if commands is not None:
            commands.append((contest, configuration))
        options = contest.task.options
        about = {
            "workload": contest.workload.name,
            "hash_covers": contest.workload.hash_covers,
            "instance": contest.task.problem.name,
            "instance_sha256": contest.task.problem.sha256,
            "parameters": options.deciding("work"),
            "ways": options.deciding("way"),
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
