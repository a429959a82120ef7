"""Records to test with, built from plain values."""

import pytest

from reports.records import Record, Sample

KINDS = {"cpu": "core", "python": "core", "cuda": "gpu"}
"""What the devices of some backends are; those of others are all cores."""

MACHINE = {"suite": "0123abc", "python": "3.11.7", "os": "Linux", "cpu": "Test CPU", "cores": 2, "hosts": 1}


@pytest.fixture
def make_record():
    """A function that makes a valid record; keywords replace fields, `times` gives kernel seconds."""

    def make(times=(1.0,), **changes):
        samples = tuple(Sample(0.0, 0.0, time, time) for time in times)
        fields = {
            "workload": "ihc",
            "instance": "kroA100",
            "instance_sha256": "ab" * 32,
            "parameters": {"climbers": 100},
            "ways": {},
            "seed": 0,
            "backend": "cpu",
            "device": "0",
            "device_kind": KINDS.get(changes.get("backend", "cpu"), "cores"),
            "ranks": 1,
            "samples": samples,
            "best_cost": 21282,
            "best_index": 17,
            "evaluations": 2_000_000_000,
            "trajectory_hash": "0123456789abcdef",
            "hash_covers": "climbs",
            "environment": MACHINE,
            "scored": True,
        }
        return Record(**(fields | changes))

    return make
