"""Rows of `cases.toml`: command lines that the programs take, on the devices that they name."""

from dataclasses import replace
from pathlib import Path

import pytest

import drivers.bench
from core.errors import UserError
from drivers.bench import cases, command_line
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import get_workload
from tests.drivers.bench.conftest import GPU, ONE_CORE, THREADS

EVERYWHERE = (ONE_CORE, THREADS, GPU)


def test_every_option_is_looked_at():
    sources = "".join(path.read_text() for path in Path(drivers.bench.__file__).parent.glob("*.py"))
    assert [name for name in vars(command_line.parse([])) if f"options.{name}" not in sources] == []


@pytest.mark.parametrize("row", cases.TABLES["case"], ids=lambda row: f"{row['family']}, {row['title']}, {row['on']}")
def test_every_row_has_command_lines_that_are_read(row):
    options = command_line.parse(["--full", "--instance", "uniform:9:seed=1"])
    known = {"family", "title", "workload", "arguments", "on", "variants", "c", "for", "product", "time"}
    assert set(row) <= known | {"seeds", "unequal", "peers", "phases"}
    for values in cases.value_sets(row, options):
        workload = get_workload(values["workload"])
        for more in row.get("variants", {"": ""}).values():
            words = f"{row['arguments']} {more}".format(**values).split()
            assert parse_options(workload, None, words) != workload.options()
    assert cases.placements(row["on"], EVERYWHERE, options) or row["on"] == "ranks of GPUs"


def test_rows_of_ranks_are_told_apart_and_limits_have_command_lines_that_are_read():
    options = command_line.parse(["--full"])
    for on in ("ranks of cores", "ranks of GPUs"):
        (row,) = [row for row in cases.TABLES["case"] if row["on"] == on]
        values = list(cases.value_sets(row, options))
        assert len({value["name"] for value in values}) == len(values)
    for limit in cases.TABLES["limit"]:
        assert parse_options(get_workload(limit["workload"]), None, limit["arguments"].split())


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("one core", [["cpu"]]),
        ("cores", [["cpu", "threads"]]),
        ("each", [["cpu"], ["threads"]]),
        ("gpu", [["gpu"], ["gpu 1"]]),
        ("ranks of GPUs", [["gpu", "2 ranks"]]),
        ("ranks of cores", []),
    ],
)
def test_a_row_runs_on_devices_of_its_kind(on, expected):
    devices = [*EVERYWHERE, replace(GPU, device="1")]
    chosen = cases.placements(on, devices, command_line.parse([]))
    assert [[cases.device_label(place) for place in places] for places in chosen] == expected


def test_ranks_run_on_every_backend_with_a_gpu_for_each(monkeypatch):
    monkeypatch.setattr(cases.backends, "automatic", {"gpu": "other"}.get)
    other = replace(GPU, backend="other")
    devices = [GPU, replace(GPU, device="1"), other, replace(other, device="1"), replace(GPU, backend="single")]
    chosen = cases.placements("ranks of GPUs", devices, command_line.parse([]))
    assert [[(place.backend, place.ranks) for place in places] for places in chosen] == [
        [("other", 1), ("other", 2)],
        [("gpu", 1), ("gpu", 2)],
    ]


def test_ranks_without_a_gpu_each_have_a_core():
    (places,) = cases.placements("ranks of cores", EVERYWHERE, command_line.parse(["--ranks", "3"]))
    assert [(place.backend, place.ranks) for place in places] == [("cpu", 1), ("cpu", 3)]
    assert cases.placements("one core", [THREADS, GPU], command_line.parse([])) == []


def test_each_candidate_stands_beside_the_one_that_its_time_is_compared_with(use_rows, make_cases):
    variants = {"full": "--scan full", "pruned": "--scan pruned"}
    use_rows({"title": "climbs", "arguments": "--instance uniform:9:seed=1", "variants": variants, "c": True})
    (case,) = make_cases("--workload ihc", (ONE_CORE, THREADS), with_c=True)
    assert {candidate.name: case.baseline(candidate).name for candidate in case.candidates} == {
        "cpu full": "C, plain loops",
        "cpu pruned": "C, plain loops",
        "threads full": "cpu full",
        "threads pruned": "cpu pruned",
        "C, plain loops": "cpu full",
        "C, ordered copies": "cpu full",
    }
    (alone,) = make_cases("--workload ihc", (THREADS,))
    assert [(each.name, alone.baseline(each).name) for each in alone.candidates] == [
        ("full", "full"),
        ("pruned", "full"),
    ]


def test_values_come_from_the_row_and_from_options(use_rows, make_cases, capsys):
    row = {"title": "{instance}, {climbers} climbers", "arguments": "--instance {instance} --climbers {climbers}"}
    sets = [{}, {"instance": "nowhere"}, {"instance": "uniform:7:seed=1", "climbers": 3, "full": True}]
    use_rows({**row, "for": sets}, {**row, "on": "gpu", "for": sets[:1]}, {**row, "family": "other"})
    line = "--instance uniform:9:seed=1 --climbers 20 --gpu-climbers 30"
    assert [case.title for case in make_cases(f"{line} --workload ihc --full", (ONE_CORE, GPU))] == [
        "uniform:9:seed=1, 20 climbers, cpu on a core",
        "uniform:7:seed=1, 3 climbers, cpu on a core",
        "uniform:9:seed=1, 30 climbers, gpu on a GPU",
    ]
    assert "nowhere, 20 climbers: not measured (" in capsys.readouterr().out
    assert [case.title for case in make_cases(f"{line} --workload ihc --rows nothing,30", (ONE_CORE, GPU))] == [
        "uniform:9:seed=1, 30 climbers, gpu on a GPU"
    ]
    with pytest.raises(UserError, match="nowhere"):
        make_cases("--workload ihc --instance nowhere")


def test_all_leaves_out_what_takes_minutes_and_a_product_has_every_combination(use_rows, make_cases):
    product = {"instance": ["uniform:7:seed=1"], "climbers": [1, 2]}
    use_rows(
        {
            "family": "aco-strategies",
            "title": "{instance}, {climbers}",
            "arguments": "--instance {instance} --climbers {climbers}",
            "product": product,
        }
    )
    assert make_cases() == []
    assert len(make_cases("--workload aco-strategies")) == 2
    assert len(make_cases("--workload aco-strategies --instance uniform:7:seed=1,uniform:8:seed=1")) == 4
