"""Records of the made-up paper `made_up/hills.toml`."""

import hashlib

from reports.papers.files import read
from tests.reports.conftest import MACHINE
from tests.reports.made_up_gallery import FOLDER

PAPER = read(FOLDER / "hills.toml")
TABLE, LENGTHS = PAPER.exhibits
NEAR = (0.99, 0.995, 1.0, 1.0, 1.005, 1.01)
GPU = {"backend": "cuda", "details": {"device_name": "NVIDIA H200"}}
THREADS = {"backend": "threads"}
HOST = MACHINE | {"host": "one"}


def climbs(make_measured, instance, seconds, wide=1.0, mapping="published", climbers=2000, **changes):
    """A measured rate: 2,000 climbs of the proof take some seconds."""
    times = [4 * seconds * (1 + wide * (one - 1)) for one in NEAR]
    sha256 = hashlib.sha256(instance.encode()).hexdigest()
    fields = {"instance": instance, "instance_sha256": sha256, "execution": {"mapping": mapping}}
    fields |= {"parameters": {"climbers": climbers}, "environment": HOST}
    return make_measured(times, **(fields | changes))


def hills(make_measured, gain=40):
    """The records of two rows; ``gain`` is that of the GPU on the larger one."""
    return [
        climbs(make_measured, "small", 1.0),
        climbs(make_measured, "small", 0.5, **THREADS),
        climbs(make_measured, "small", 0.25, wide=7.0, **GPU),
        climbs(make_measured, "large", 20.0),
        climbs(make_measured, "large", 20.0 / gain, **GPU),
    ]
