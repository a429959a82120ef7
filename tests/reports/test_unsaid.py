"""A record from before a way existed means what there was, and is no run of another kind than one that says so."""

import inspect
import json

import pytest

from drivers.workload.registry import PAPER_WORKLOADS, get_workload
from reports.comparison.execution_settings import SETTING_MEANINGS
from reports.comparison.speedups import compare
from reports.records.defaults import SETTING_DEFAULTS, complete_settings
from reports.records.files import Record, append, find_run, identity, load, merge_lines

BEFORE = {
    "ihc": {"scan": "full"},
    "aco": {"strategy": "fine"},
    "ppp": {"evaluation": "bit-parallel", "level": "iteration"},
    "exact": {"bound": "edges", "enumerate": None, "depth": None},
    "heldkarp": {"tiling": "auto", "device_memory": None},
}
"""Ways as they were recorded before there were mappings."""


def without(record, names):
    """The line that a record would have been, had nobody known these ways."""
    content = json.loads(record.to_line())
    for name in names:
        del content["ways"][name]
    return json.dumps(content) + "\n"


def fields_of_identity(record):
    """What `reports.records.schema.identity` takes of a record."""
    return {name: getattr(record, name) for name in inspect.signature(identity).parameters}


@pytest.mark.parametrize("workload", PAPER_WORKLOADS)
def test_what_a_workload_leaves_unsaid_are_ways_that_it_has_and_reports_explain(workload):
    declared = {*get_workload(workload).options().deciding("way"), "unrolled", "spill"}
    assert "mapping" in SETTING_DEFAULTS[workload]
    for name, value in SETTING_DEFAULTS[workload].items():
        assert name in declared
        assert value in SETTING_MEANINGS[name]


@pytest.mark.parametrize(("workload", "ways"), BEFORE.items(), ids=BEFORE)
def test_an_old_line_is_a_repetition_of_the_run_that_names_all_its_ways(workload, ways, make_record, tmp_path):
    path = tmp_path / "r.jsonl"
    named_all = {**ways, **SETTING_DEFAULTS[workload]}
    now = make_record(workload=workload, ways=named_all, times=[2.0])
    path.write_text(without(make_record(workload=workload, ways=named_all, times=[1.0]), SETTING_DEFAULTS[workload]))
    assert load(path)[0].ways == now.ways
    assert load(path)[0].identity == now.identity
    assert [one.kernel_s for one in find_run(path, now.identity).samples] == [1.0]
    append(path, now)
    merge_lines(path, now.identity)
    assert [[one.kernel_s for one in record.samples] for record in load(path)] == [[1.0, 2.0]]


def test_no_label_tells_an_old_baseline_from_a_new_row(make_record):
    old = Record.from_line(without(make_record(ways={"scan": "full", "mapping": "native"}), ["mapping"]))
    new = make_record(backend="cuda", ways={"scan": "full", "mapping": "native"})
    published = make_record(backend="opencl", ways={"scan": "full", "mapping": "published"})
    comparison = compare([old, new, published])
    assert [row.labels for row in comparison.rows] == [(), (), ("no baseline: on one core there ran mapping = native",)]
    assert [comparison.label(row) for row in comparison.rows] == ["cpu", "cuda", "opencl (mapping = published)"]


def test_a_way_that_is_said_is_not_changed_and_histograms_of_before_lay_in_local_memory():
    published = {"mapping": "published", "spill": True}
    assert complete_settings("heldkarp", published) == published
    assert complete_settings("ppp", {"evaluation": "histogram"})["layout"] == "local"
    assert complete_settings("ppp", {"evaluation": "bit-parallel"})["layout"] is None


def test_a_way_of_old_is_read_by_its_name_of_today(make_record):
    now = make_record(workload="qap", ways={"mapping": "native", "shape": "tuned"})
    content = json.loads(now.to_line())
    content["ways"]["threads"] = content["ways"].pop("shape")
    then = Record.from_line(json.dumps(content) + "\n")
    assert (then.ways, then.identity) == (now.ways, now.identity)
    assert identity(**{**fields_of_identity(now), "ways": content["ways"]}) == now.identity


def test_a_users_own_workload_leaves_nothing_unsaid_and_its_threads_are_no_shape(make_record):
    assert make_record(workload="mine", ways={"threads": 8}).ways == {"threads": 8}
