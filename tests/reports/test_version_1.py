"""Lines of schema version 1 are read as what they say in version 2, and stand beside lines of version 2."""

import json

import pytest

from reports.comparison.speedups import compare
from reports.records.defaults import SETTING_DEFAULTS
from reports.records.files import RecordError, find_run, load, merge_lines

SAMPLE = {"compile_s": 0.5, "transfer_s": 0.125, "kernel_s": 1.0, "total_s": 2.5}


def line(workload="ihc", backend="cpu", parameters=None, **changes):
    """A line as version 1 wrote it."""
    asked = {"climbers": 100, "start": "oneil2011", "scan": "full"} if parameters is None else parameters
    content = {"schema": 1, "workload": workload, "instance": "kroE100", "instance_sha256": "ab" * 32}
    content |= {"parameters": asked, "seed": 0, "backend": backend, "device": "0", "ranks": 1, "samples": [SAMPLE]}
    content |= {"best_cost": 22084, "best_index": 3, "evaluations": 4850, "trajectory_hash": "0123456789abcdef"}
    content |= {"environment": {"cpu": "Test CPU", "cores": 2, "hosts": 1}, "scored": True}
    content |= {"details": {"device_type": "cpu", "cities": 100}}
    return json.dumps(content | changes) + "\n"


@pytest.fixture
def read(tmp_path):
    def read(*lines):
        path = tmp_path / "old.jsonl"
        path.write_text("".join(lines))
        return load(path)

    return read


SEARCH = {"evaluation": "kept", "level": "iteration", "generate": "host", "select": "host", "tables": "global"}
TABLE = {"tiling": "auto", "device_memory": None, "spill": False}


@pytest.mark.parametrize(
    ("workload", "parameters", "ways", "covers"),
    [
        ("ihc", {"climbers": 100, "start": "philox"}, {"scan": "pruned"}, "climbs"),
        ("qap", {"neighbourhood": "exchange2", "walks": 1}, SEARCH, "moves"),
        ("aco", {"ants": 8, "iterations": 3}, {"strategy": "fine"}, "tours"),
        ("exact", {"count": True}, {"bound": "edges", "enumerate": None, "depth": 3}, "answer"),
        ("lcs", {"trace": True}, TABLE, "answer"),
        ("heldkarp", {"trace": False, "k": None}, {"tiling": "none", "device_memory": 9}, "answer"),
        ("another", {"scan": 3}, {}, "answer"),
    ],
)
def test_ways_come_out_of_the_parameters_and_the_hash_covers_what_it_did(read, workload, parameters, ways, covers):
    then = {"threads": "tuned"} if ways is SEARCH else {}
    now = {"shape": "tuned"} if ways is SEARCH else {}
    (found,) = read(line(workload, parameters={**parameters, **ways, **then}))
    assert (found.parameters, found.hash_covers) == (parameters, covers)
    assert found.ways == {**SETTING_DEFAULTS.get(workload, {}), **ways, **now}
    assert (found.schema, found.samples[0].running_s) == (2, 2.0)


@pytest.mark.parametrize(
    ("backend", "device_type", "kind"),
    [
        ("cpu", "cpu", "core"),
        ("threads", "cpu", "cores"),
        ("opencl", "cpu", "cores"),
        ("opencl", "gpu", "gpu"),
        ("cuda", None, "gpu"),
    ],
)
def test_a_device_is_what_its_backend_or_its_record_said(read, backend, device_type, kind):
    (found,) = read(line(backend=backend, details={} if device_type is None else {"device_type": device_type}))
    assert found.device_kind == kind
    assert "device_type" not in found.details


def test_old_and_new_runs_stand_in_one_comparison(read, make_record):
    (old,) = read(line())
    asked = {"parameters": {"climbers": 100, "start": "oneil2011"}, "ways": {"scan": "full"}}
    found = {"best_cost": 22084, "best_index": 3, "evaluations": 4850, "environment": old.environment}
    rows = compare([old, make_record([0.5], backend="cuda", instance="kroE100", **asked, **found)]).rows
    assert [row.speedup.value for row in rows] == [1.0, 4.0]
    assert rows[1].labels == () and [row.record.details.get("schema_read") for row in rows] == [1, None]


def test_an_old_run_of_plain_python_is_no_baseline(read):
    comparison = compare(read(line(backend="python"), line(backend="threads")))
    assert comparison.baseline is None
    assert [row.speedup for row in comparison.rows] == [None, None]


def test_old_times_over_ranks_are_said_to_be_uncertain(read):
    rows = compare(read(line(ranks=2), line(), line(ranks=3, samples=[SAMPLE | {"compile_s": 0.0}]))).rows
    said = [any("up to 0.5 s too short" in label for label in row.labels) for row in rows]
    assert said == [True, False, False]


def test_an_old_run_goes_on_and_is_folded_into_one_new_line(read, tmp_path):
    first, _ = read(line(), line(backend="threads"))
    path = tmp_path / "old.jsonl"
    path.write_text(line() + line(backend="threads") + first.to_line())
    assert len(find_run(path, first.identity).samples) == 2
    merge_lines(path, first.identity)
    new, other = path.read_text().splitlines(keepends=True)
    assert (json.loads(new)["schema"], len(json.loads(new)["samples"])) == (2, 2)
    assert other == line(backend="threads")


def test_parameters_that_are_no_object_are_refused(read):
    with pytest.raises(RecordError, match="parameters: expected an object"):
        read(line(parameters=[1]))
