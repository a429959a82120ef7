"""Records to test with, built from plain values."""

from pathlib import Path

import pytest

from reports.papers.files import load
from reports.plots import style
from reports.records.files import Record
from reports.records.meters import UPDATE_S
from reports.records.schema import Repetition
from tests.conftest import ROOT
from tests.reports.pictures import illegible

GOLDEN = Path(__file__).parent / "golden"
KINDS = {"cpu": "core", "python": "core", "cuda": "gpu"}
"""Kinds of devices of some backends; `cores` for all others."""

MACHINE = {"commit": "0123abc", "python": "3.11.7", "os": "Linux", "cpu_model": "Test CPU", "cores": 2, "host_count": 1}


UNITS = {
    "ihc": "moves",
    **dict.fromkeys(("qap", "ppp", "tsp", "weierstrass"), "neighbours"),
    "aco": "selections",
    "exact": "nodes",
    **dict.fromkeys(("lcs", "knapsack"), "cells"),
    "heldkarp": "transitions",
}
"""Units of evaluations by workload; `evaluations` for others."""
SETTINGS = {
    **dict.fromkeys(UNITS, {"mapping": "native"}),
    "ppp": {"mapping": "native", "layout": None},
    "exact": {"mapping": "native", "unrolled": None},
    "heldkarp": {"mapping": "native", "spill_to_files": False},
}
MEASURED = {
    "started_at": "2026-11-22T10:27:52Z",
    "conditions": {
        "load_1min": 0.5,
        "gpu_mhz": 1755,
        "throttled": True,
        "throttled_by": ["power limit", "power brake"],
    },
    "energy_j": {"gpu_nvml": 250.0, "package_rapl": 12.5},
    "rank_s": [1.0],
    "bytes_moved": {"host_device": 4096, "between_ranks": 16},
    "communication_share": 0.25,
    "history": [[0, 0, 0.0, 30000], [1, 4850, 0.5, 21282]],
}


@pytest.fixture(scope="session")
def make_record():
    """Make a valid record from kernel seconds and further fields of repetitions; keywords replace fields."""

    def make(times=(1.0,), sampled=None, **changes):
        repetitions = tuple(Repetition(0.0, 0.0, time, time, **(sampled or {})) for time in times)
        fields = {"workload": "ihc", "instance": "kroA100", "instance_sha256": "ab" * 32, "seed": 0}
        fields |= {"parameters": {"climbers": 100}, "execution": {}, "backend": "cpu", "device": "0", "ranks": 1}
        fields |= {"device_kind": KINDS.get(changes.get("backend", "cpu"), "cores"), "repetitions": repetitions}
        fields |= {"best_cost": 21282, "best_index": 17, "evaluations": 2_000_000_000}
        fields |= {"hash": "0123456789abcdef", "hash_scope": "climbs"}
        fields |= {"evaluation_unit": UNITS.get(changes.get("workload", "ihc"), "evaluations")}
        fields |= {"environment": MACHINE, "verified": True}
        fields |= changes
        settings = SETTINGS.get(fields["workload"], {})
        fields["execution"] = fields["execution"] | {k: v for k, v in settings.items() if k not in fields["execution"]}
        return Record.checked(**fields)

    return make


@pytest.fixture
def reports(outcome_of):
    from reports.__main__ import main

    return lambda *arguments: outcome_of(main, [*map(str, arguments)])


@pytest.fixture
def is_golden(tmp_path):
    def compare(text, name):
        written = tmp_path / f"found-{name}"
        written.write_text(text, encoding="utf-8")
        assert text == (GOLDEN / name).read_text(encoding="utf-8"), (
            f"if the change is meant: cp {written} {GOLDEN / name}"
        )

    return compare


@pytest.fixture(scope="module")
def paper(request, shared_data):
    """Text of the module's paper, from the file `TEXT`."""
    path = shared_data.parent / "papers" / request.module.TEXT
    if not path.exists():
        pytest.skip(f"the paper's text is not beside the checkout: {path}")
    return path.read_text()


@pytest.fixture(scope="module")
def published(request):
    """Data of the module's `PAPER`."""
    return load(request.module.PAPER)


@pytest.fixture(scope="session")
def catalogue():
    """Fields of each instance of the TSPLIB catalogue."""
    rows = (line.split("\t") for line in (ROOT / "core" / "instances" / "tsplib.tsv").read_text().splitlines())
    return {name: fields for name, *fields in rows}


@pytest.fixture
def legible(monkeypatch):
    """Fail if a saved picture is illegible. Return the names of those measured."""
    measured = []

    def measure(figure, path, **more):
        measured.append(path.stem)
        assert illegible(figure) == [], path
        save(figure, path, **more)

    save = style.save
    monkeypatch.setattr(style, "save", measure)
    return measured


@pytest.fixture(scope="session")
def make_measured(make_record):
    """Make a record of a measured rate from seconds of warm repetitions of 8,000 climbs, a list for each turn."""

    def make(*turns, work=8000, others=0.0, joules=None, source="package_rapl", first_call_s=1.9, **changes):
        proof = Repetition(0.5, 0.0, 0.2, 0.75, kind="proof", work=2000, start_s=first_call_s - 0.5)
        drawn = joules if isinstance(joules, dict) else joules and {source: joules}
        read = {"conditions": {"others_cores": others}, "energy_j": drawn}
        read["energy_update_s"] = drawn and {one: UPDATE_S[one] for one in drawn}
        rates = [
            Repetition(0.0, 0.0, one, one, kind="rate", work=work, turn=turn, evaluations=10, **read)
            for turn, seconds in enumerate(turns or [[1.0] * 6])
            for one in seconds
        ]
        details = {"title": "hill climbing for the TSP: 2-opt", "noun": "length", "optimum": 21282}
        fields = {"repetitions": (proof, *rates), "work_unit": "climbs", "parameters": {"climbers": 2000}}
        fields |= {"best_cost": 21315, "details": details | changes.pop("details", {}), "hash": "398627d4db7b259a"}
        return make_record(**(fields | changes))

    return make
