"""Rows of `cases.toml`: command lines that the programs take, on the devices that they name."""

from dataclasses import replace

import pytest

from drivers.experiments.configurations import Configuration
from drivers.experiments.presets import bench
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import get_workload
from tests.drivers.bench.conftest import CLIMBS

ONE_CORE = Configuration("cpu", "0", "a core", kind="core")
THREADS = Configuration("threads", "0", "all cores", kind="cores")
GPU = Configuration("gpu", "0", "a GPU", kind="gpu")
EVERYWHERE = (ONE_CORE, THREADS, GPU, replace(GPU, device="1"))


def names(runs):
    return [(run.configuration.backend, run.configuration.ranks, *run.arguments[4:]) for run in runs]


@pytest.fixture
def plan(use_rows, tmp_path):
    def make(line, places, *rows, with_c=False):
        use_rows(*rows)
        options = bench.bench_parser().parse_args(line.split())
        return list(bench.plan_cases(options, places, tmp_path / "r.jsonl", with_c=with_c))

    return make


@pytest.mark.parametrize("row", bench.CASES, ids=lambda row: f"{row['family']}, {row.get('title')}, {row['on']}")
def test_every_row_has_command_lines_that_are_read(row):
    known = {"family", "title", "workload", "arguments", "on", "variants", "c", "for", "seeds", "peers", "weak"}
    assert set(row) <= known
    titles = []
    for values in row.get("for", [{}]):
        values = {**row, **values}
        workload = get_workload(values["workload"])
        titles.append(values["title"].format(**values))
        for more in (*row.get("variants", [""]), *values.get("grown", {}).values()):
            words = f"{values['arguments']} {more}".format(**values).split()
            assert parse_options(workload, None, words) != workload.options()
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("one core", ["cpu"]),
        ("cores", ["cpu", "threads"]),
        ("gpu", ["gpu", "gpu"]),
        ("ranks of GPUs", ["gpu", "gpu"]),
        ("ranks of cores", ["cpu", "cpu"]),
    ],
)
def test_a_row_runs_on_devices_of_its_kind(on, expected):
    places = [*EVERYWHERE, replace(ONE_CORE, ranks=2), replace(GPU, ranks=2)]
    assert [place.backend for place in bench.choose_places(on, places)] == expected
    assert bench.choose_places("one core", [THREADS, GPU]) == []


def test_variants_and_c_programs_are_candidates_of_one_case(plan):
    row = {**CLIMBS, "variants": ["--scan full", "--scan pruned"], "c": True}
    (case,) = plan("--workload ihc", (ONE_CORE, THREADS), row, with_c=True)
    bases = [("cpu", 1, "--scan", "full"), ("cpu", 1, "--scan", "pruned"), *[("C", 1, "--scan", "full")] * 2]
    others = [("threads", 1, "--scan", "full"), ("threads", 1, "--scan", "pruned")]
    assert names(case.runs) == [*bases, *others, *bases], "one core before and after the others"
    assert [run.turns for run in case.runs] == [1] * 6 + [2] * 4
    (without,) = plan("--repeats 2", (ONE_CORE, THREADS), row)
    assert names(without.runs) == [*bases[:2], *others]


def test_one_rank_is_the_base_of_several(plan):
    row = {**CLIMBS, "family": "ranks", "on": "ranks of cores"}
    (case,) = plan("--workload ranks", (ONE_CORE, replace(ONE_CORE, ranks=2)), row)
    assert [(run.configuration.ranks, run.turns) for run in case.runs] == [(1, 1), (2, 1), (1, 2)]
    (case,) = plan("--workload ranks", (GPU, replace(GPU, ranks=2)), row | {"on": "ranks of GPUs"})
    assert [(run.configuration.ranks, run.turns) for run in case.runs] == [(1, 1), (2, 1)], "a GPU once"


def test_work_grows_with_the_ranks_after_equal_work_and_on_most_ranks_first(plan):
    places = [replace(ONE_CORE, ranks=count) for count in (1, 2, 4)]
    row = {"family": "ranks", "on": "ranks of cores"}
    tables = {"workload": "lcs", "title": "table", "arguments": "--instance half:300 --no-trace"}
    grown = {"grown": {"2": "--instance half:424", "4": "--instance half:600", "8": "--instance half:848"}}
    sets = [{**CLIMBS, "workload": "ihc", "title": "climbs", "weak": True}, {**tables, **grown}]
    cases = plan("--workload ranks", places, {**row, "for": sets}, {**CLIMBS, **row, "title": "last"})
    grow = ["climbs, grows", "table, grows"]
    assert [case.title for case in cases] == ["climbs", "table", *grow, "last", *grow]
    cases.pop(4)
    runs = [run for case in cases[2:] for run in case.runs]
    assert [(run.configuration.ranks, *run.arguments[-2:]) for run in runs] == [
        (4, "--climbers", "20000"),
        (4, "--instance", "half:600"),
        (2, "--climbers", "10000"),
        (2, "--instance", "half:424"),
    ]
    assert runs[1].task.problem.name == "half:600:seed=1" and runs[1].core_s == 4 * cases[1].runs[0].core_s


def test_values_of_a_set_replace_those_of_its_row(plan, capsys):
    row = {"title": "{instance}, {climbers} climbers", "arguments": "--instance {instance} --climbers {climbers}"}
    sets = [
        {"instance": "nowhere", "climbers": 1},
        {"instance": "uniform:7:seed=1", "climbers": 3, "remark": "the paper: 3 s"},
        {"instance": "uniform:9:seed=1", "climbers": "4 --start philox", "seeds": 2},
    ]
    first, second = plan("--measure 3", EVERYWHERE[:1], {**row, "for": sets}, {**row, "on": "gpu"})
    assert (first.title, first.remark) == ("uniform:7:seed=1, 3 climbers", "the paper: 3 s")
    assert [(run.measure, run.repeats, run.seeds) for run in (*first.runs, *second.runs)] == [
        (3.0, 1, (0,)),
        (None, 1, (0, 1)),
    ]
    assert "nowhere, 1 climbers: not measured (nowhere: found no" in " ".join(capsys.readouterr().out.split())
    assert plan("--rows 4,nothing", EVERYWHERE[:1], {**row, "for": sets})[0].title == second.title


def test_all_leaves_out_families_with_a_page_of_their_own(plan):
    rows = [{**CLIMBS, "family": family} for family in ("ihc", "best", "other")]
    assert len(plan("", (ONE_CORE,), *rows)) == 2
