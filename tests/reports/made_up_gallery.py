"""A gallery of made-up records: a paper, an overview of two workloads, and two ranks."""

from pathlib import Path

from reports.records.files import append

FOLDER = Path(__file__).parent / "made_up"
DATA = (FOLDER / "gallery.toml").read_text()
GPU = {"backend": "cuda", "details": {"device_name": "Test GPU"}}
LCS = {"workload": "lcs", "instance": "letters", "instance_sha256": "cd" * 32, "work_unit": "cells"}


def fill(folder, make_measured):
    folder.mkdir(exist_ok=True)
    (folder / "gallery.toml").write_text(DATA)
    core, gpu = make_measured([2.0] * 6), make_measured([0.02] * 6, **GPU)
    letters = [make_measured([4.0] * 6, **LCS), make_measured([8.0] * 6, **LCS, **GPU)]
    ranks = [gpu, make_measured([0.0125] * 6, ranks=2, **GPU)]
    for name, records in (("oneil2011", [core, gpu]), ("overview", [core, gpu, *letters]), ("ranks", ranks)):
        for record in records:
            append(folder / f"{name}.jsonl", record)
