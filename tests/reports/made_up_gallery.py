"""A gallery of made-up records: hill climbing of O'Neil et al., and two workloads of an overview."""

import hashlib
from pathlib import Path

from msgspec.structs import replace

from reports.records.files import append

FOLDER = Path(__file__).parent / "made_up"
DATA = (FOLDER / "gallery.toml").read_text()

FULL = {"mapping": "native", "scan": "full"}
WORKLIST = {"mapping": "published", "scan": "full", "assign": "worklist"}
GPU = {"backend": "cuda", "details": {"device_name": "Test GPU"}}


def climb(make_record, times, execution=FULL, climbers=100_000, **changes):
    asked = {"climbers": climbers, "start": "oneil2011"}
    sha256 = hashlib.sha256(b"kroE100").hexdigest()
    record = make_record(
        times, instance="kroE100", instance_sha256=sha256, parameters=asked, execution=execution, **changes
    )
    started = [f"2026-11-{22 + place:02}T10:00:00Z" for place in range(len(times))]
    return replace(
        record, repetitions=tuple(map(lambda one, at: replace(one, started_at=at), record.repetitions, started))
    )


def fill(folder, make_record, **changes):
    folder.mkdir(exist_ok=True)
    (folder / "gallery.toml").write_text(DATA)
    for record in (
        climb(make_record, (2.0, 2.1, 2.2), **changes),
        climb(make_record, (0.5, 0.5, 0.5), WORKLIST, **GPU, **changes),
        climb(make_record, (0.02, 0.021, 0.022), **GPU, **changes),
    ):
        append(folder / "oneil2011.jsonl", record)
    letters = {"workload": "lcs", "instance": "letters", "instance_sha256": "cd" * 32, "evaluations": 3 * 10**12}
    for record in (
        climb(make_record, (2.0,), **changes),
        climb(make_record, (0.5,), **GPU, **changes),
        make_record((4.0,), **letters),
        make_record((8.0,), **letters, **GPU),
    ):
        append(folder / "overview.jsonl", record)
