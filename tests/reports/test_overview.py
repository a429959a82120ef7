"""The overview of all workloads: its table, the same on a terminal, and the heat map."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from msgspec.structs import replace

from reports.pages.comparison import rate_table
from reports.pages.overview import NAME, hosts, lines, overview_sections, overview_table, remove, render, write
from reports.plots.heat_map import draw, heat_table
from reports.rates import BEST_CORE
from reports.records.files import RecordError, UnequalWorkError

GPU = {"backend": "cuda", "details": {"device_name": "NVIDIA H200"}}
MACHINE = {"commit": "0123abc", "host": "a", "cores": 16, "host_count": 1, "cpu_model": "Test CPU"}
CARDS = MACHINE | {"gpus": ["NVIDIA H200"]}


@pytest.fixture(scope="module")
def run(make_measured):
    """Make a run with this rate, in units of a workload's work."""

    def make(rate, workload="ihc", wide=1.0, **changes):
        near = [8000 / rate * (1 + wide * (one - 1)) for one in (0.99, 0.995, 1.0, 1.0, 1.005, 1.01)]
        fields = {"workload": workload, "instance_sha256": workload.encode().hex()[:2] * 32, "environment": CARDS}
        if workload == "lcs":
            fields |= {"instance": "random:9000:seed=1", "work_unit": "cells", "hash_scope": "result"}
            fields |= {"details": {"title": "a longest common subsequence", "noun": "length", "maximises": True}}
        return make_measured(near, **(fields | changes))

    return make


@pytest.fixture(scope="module")
def best_run(run):
    def make(cost=21282, of="ihc", **changes):
        details = {BEST_CORE: [of, "iterated 3-opt"]}
        return run(4_000_000, "tsp", details=details, best_cost=cost, **changes)

    return make


@pytest.fixture(scope="module")
def two_workloads(run, best_run):
    """Two workloads on three devices but for one, the best algorithm of one, and energy of the other."""
    climbs = [run(7660), run(76_600, backend="threads", wide=9.0), run(1_532_000, **GPU), run(15_000, ranks=2)]
    letters = [run(4e9, "lcs", joules=9.0), run(2e9, "lcs", backend="threads", joules=36.0)]
    return overview_sections([*climbs, best_run(), *letters])


def test_page_and_terminal_have_a_row_for_each_workload_and_reasons_for_what_did_not_run(two_workloads, is_golden):
    failures = ["opencl (device 0): no platform"]
    text = render(two_workloads, ["overview.svg"], failures, "onekernel overview")
    is_golden(text, "overview.md")
    shown = [*lines(two_workloads, failures, "onekernel overview")]
    assert len(shown) <= 25 and max(map(len, shown)) <= 80
    is_golden("\n".join(shown) + "\n", "overview.txt")


def test_ten_workloads_fit_the_terminal_and_the_table_has_at_most_eight_columns(run):
    runs = [
        run(rate, f"workload{k}", wide=9.0, environment=CARDS | {"cores": 128}, **device)
        for k in range(10)
        for rate, device in ((53.12e6, {}), (720.1e6, {"backend": "threads"}), (1970e9, GPU))
    ]
    sections = overview_sections(runs)
    shown = [*lines(sections, ["opencl (device 0): no platform"], "onekernel overview")]
    assert len(shown) <= 25 - len(["overview.md", "overview.svg"]) and max(map(len, shown)) <= 80
    assert len(overview_table(sections).headings) <= 8


@pytest.mark.parametrize(
    ("gpu_rate", "cells"),
    [(4500, ["100\xa0climbs/s", "900", "4.50\xa0k", "45.0", "5.00"]), (None, ["100\xa0climbs/s", "900", "9.00"])],
)
def test_the_gpu_is_compared_with_the_first_backend_of_all_cores_which_stands_for_it_elsewhere(run, gpu_rate, cells):
    runs = [run(100), run(900, backend="threads"), run(1000, backend="joblib"), run(9000, ranks=64)]
    (section,) = overview_sections([*runs, run(gpu_rate, **GPU)] if gpu_rate else runs)
    assert overview_table([section]).rows[0][1:] == cells


@pytest.mark.parametrize(
    ("cost", "cell"),
    [(21282, "iterated 3-opt, 500 µs"), (21315, "iterated 3-opt, 500 µs"), (22000, "iterated 3-opt, 500 µs to 22,000")],
)
def test_the_best_one_core_algorithm_has_its_seconds_and_no_ratio(run, best_run, cost, cell):
    (section,) = overview_sections([run(100), run(900, backend="threads"), best_run(cost)])
    assert section.best_core.workload == "tsp"
    assert overview_table([section]).rows[0][-1] == cell


BOTH = {"package_rapl": 9.0, "gpu_nvml": 27.0}


@pytest.mark.parametrize(
    ("core", "threads", "gpu", "cell"),
    [
        *((90.0, 36.0, None, "2.50"), (90.0, None, None, None), (None, 36.0, None, None), (90.0, 36.0, BOTH, "2.50")),
        *((90.0, 36.0, {"gpu_nvml": 27.0}, None), (90.0, 36.0, {"package_rapl": 9.0}, None)),
        (None, None, {"gpu_nvml": 27.0}, None),
    ],
)
def test_energy_of_equal_work_needs_the_counters_of_all_processors_and_of_the_gpu(run, core, threads, gpu, cell):
    runs = [run(100, joules=core), run(900, backend="threads", joules=threads)]
    sections = overview_sections([*runs, run(900, joules=gpu, **GPU)] if gpu else runs)
    table = overview_table(sections)
    assert dict(zip(table.titles, table.rows[0], strict=True)).get("× fewer joules") == cell
    shown = "Only the GPU has a counter" in render(sections), "GPU joules for 2,000" in rate_table(sections[0]).titles
    assert {*shown} == {core is threads is None}


@pytest.mark.parametrize(
    "other",
    [{"of": "aco"}, {"instance": "pcb442"}, {"environment": MACHINE | {"host": "b"}}],
    ids=["workload", "instance", "host"],
)
def test_the_best_algorithm_of_another_problem_or_host_is_not_shown(run, best_run, other):
    sections = overview_sections([run(100), run(900, "aco"), best_run(**other)])
    assert sections[0].best_core is None


def test_each_host_has_a_table_and_a_picture(run, tmp_path):
    pytest.importorskip("matplotlib")
    elsewhere = {"environment": MACHINE | {"host": "b", "cpu_model": "Other CPU"}}
    runs = [run(100), run(900, backend="threads"), run(50, **elsewhere), run(60, backend="threads", **elsewhere)]
    sections = overview_sections(runs)
    assert [len(of) for of in hosts(sections)] == [1, 1]
    files = write(sections, tmp_path)
    assert [path.name for path in files] == ["overview.md", "overview.svg", "overview-2.svg"]
    page = files[0].read_text()
    assert page.index("Test CPU") < page.index("(overview.svg)") < page.index("Other CPU") < page.index("-2.svg)")


def test_unequal_work_and_no_records_are_errors(run):
    with pytest.raises(UnequalWorkError):
        overview_sections([run(100), run(900, backend="threads", hash="ffff")])
    with pytest.raises(RecordError, match="no records for an overview"):
        overview_sections([replace(run(100), repetitions=run(100).repetitions[:3])])


# --- the picture ---


def test_the_heat_map_has_one_number_a_cell_and_explains_its_colours(tmp_path, two_workloads, legible):
    pytest.importorskip("matplotlib")
    (svg,) = draw(two_workloads, tmp_path, NAME)
    text = svg.read_text()
    ElementTree.fromstring(text)
    for word in (
        "ihc, kroA100",
        "lcs, random:9000",
        "threads",
        "cuda",
        ">200<",
        ">10.0<",
        ">0.500<",
        "orange is slower",
    ):
        assert word in text
    assert "*" not in re.sub(r"<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)


def test_a_device_that_lacks_most_workloads_has_no_column(run):
    runs = [run(rate, name) for name, rate in (("ihc", 1), ("aco", 2), ("qap", 3))]
    runs += [run(9, name, **GPU) for name in ("ihc", "aco")] + [run(9, "qap", backend="opencl")]
    table = heat_table(overview_sections(runs))
    assert [*table.columns] == ["cuda"]
    assert table["cuda"].isna().tolist() == [False, False, True]


# --- files ---


def test_equal_overviews_give_equal_files_and_an_earlier_one_is_removed(tmp_path, two_workloads):
    pytest.importorskip("matplotlib")
    first = [path.read_bytes() for path in write(two_workloads, tmp_path)]
    assert len(first) == 2
    assert first == [path.read_bytes() for path in write(two_workloads, tmp_path)]
    (tmp_path / "overview.jsonl").write_text("")
    remove(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["overview.jsonl"]


def test_without_one_core_there_are_rates_and_no_heat_map(tmp_path, run):
    alone = overview_sections([run(500, backend="threads")])
    assert [path.name for path in write(alone, tmp_path)] == ["overview.md"]
    assert "| ihc, kroA100 |  | 500 |  |" in (tmp_path / "overview.md").read_text()
