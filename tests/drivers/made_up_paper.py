"""A made-up paper on made-up machines."""

from drivers.experiments.presets.series import MachineResources, usable_devices
from reports.papers.files import read
from tests.drivers.made_up_runs import device

__all__ = ["FIRST", "HEAD", "HILLS", "SECOND", "device", "machine_with", "paper_of", "written"]

HEAD = """
name = "made-up"
title = "A. Author 2026: hills"
citation = "A. Author: A paper. 2026"
measured = "once"
[machines]
m = { short = "M", name = "a machine" }
[series.core]
kinds = ["core"]
options = { scan = "full" }
[series.pruned]
kinds = ["gpu", "cores"]
options = { scan = "pruned" }
"""

FIRST, SECOND = "uniform:8:seed=1:side=10000", "uniform:9:seed=1:side=10000"
HILLS = f"""
[[exhibits]]
name = "table 1"
title = "hill climbing"
claim = "A GPU climbs faster than a core."
workload = "ihc"
options = {{ start = "oneil2011" }}
published = [{{ machine = "m", heading = "CPU" }}]
rows = [{{ name = "{FIRST}", figures = [[3.0]] }}, {{ name = "{SECOND}", figures = [[4.0]] }}]
columns = [
    {{ head = "published", published = "m CPU" }},
    {{ head = "one core", key = "core", series = "core" }},
    {{ head = "{{device}}", key = "pruned", series = "pruned" }},
    {{ head = "times as fast", key = "gain", series = "pruned", over = "core" }},
]
checks = [{{ column = "gain", rule = "above" }}]
quick = {{ amount = {{ climbers = 4 }}, measure = 1 }}
"""


def machine_with(*devices, backends=None, cores=4, ranks=None, oversubscribe=False):
    return MachineResources(usable_devices(devices, backends), backends is not None, cores, ranks, oversubscribe)


def written(folder, *parts):
    path = folder / "made-up.toml"
    path.write_text(HEAD + "".join(parts))
    return path


def paper_of(folder, *parts):
    return read(written(folder, *parts))
