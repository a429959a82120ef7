"""The plan of scaling: as much work for each rank, and small amounts of all its workloads on ranks of one core."""

from dataclasses import replace

import pytest

from drivers.cli.exit_codes import run_driver
from drivers.experiments.configurations import Configuration
from drivers.experiments.presets import bench
from reports.pages.ranks import rank_rates
from reports.records.files import load, merge

GPU = Configuration("gpu", "0", "a GPU", kind="gpu")
WEAK = {"weak": True}


def grown(option, of_two, of_eight):
    return {"grown": {"2": f"{option} {of_two}", "8": f"{option} {of_eight}"}}


CAPACITY, POINTS = grown("--capacity", 1800, 7200), grown("--points", 1000, 4000)
SMALL = [
    ("ihc", "--instance uniform:20:seed=1 --climbers 1000", WEAK),
    ("qap", "--instance taillard:12:seeds=1,2 --walks 8 --level algorithm --iterations 4", WEAK),
    ("aco", "--instance uniform:25:seed=1 --ants 16 --iterations 2", WEAK),
    ("ppp", "--instance 31-37 --walks 1 --iterations 5", grown("--instance", "31-52", "31-104")),
    ("weierstrass", "--instance 3 --points 500 --walks 1 --level solution --iterations 2", POINTS),
    ("heldkarp", "--instance uniform:12:seed=1", {}),
    ("lcs", "--instance half:800 --no-trace", grown("--instance", "half:1131", "half:2262")),
    ("knapsack", "--items 30 --capacity 900 --no-trace --verify", CAPACITY),
    ("exact", "--instance uniform:11:seed=1 --bound edges --count", {}),
    ("exact", "--instance uniform:10:seed=1 --bound edges --count", {}),
    ("tsp", "--instance uniform:30:seed=1 --algorithm tabu --neighbourhood exchange2 --walks 1 --iterations 4", {}),
    ("knapsack", "--items 20 --capacity 900", CAPACITY),
    ("lcs", "--instance half:600", grown("--instance", "half:849", "half:1697")),
]
"""Workloads of the plan in its order: arguments, and how the work grows."""


def rows_of_gpus():
    return [one for row in bench.CASES if row["on"] == "ranks of GPUs" and "workload" not in row for one in row["for"]]


@pytest.mark.slow  # strings of 24 million letters
def test_each_rank_has_as_much_work_as_one(rows, tmp_path, shared_data):
    options = bench.bench_parser().parse_args(["--workload", "ranks", "--data", str(shared_data)])
    places = [replace(GPU, ranks=count) for count in (1, 2, 4, 8)]
    cases = list(bench.plan_cases(options, places, tmp_path / "r.jsonl", with_c=False))
    of_one = {case.title: case.runs[0].core_s for case in cases if case.runs[0].configuration.ranks == 1}
    names = {case.title: case.runs[0].task.problem.name for case in cases if case.title in of_one}
    assert all(title.split(", ")[1] in name for title, name in names.items()), "names of the page"
    growing = [case for case in cases if case.title.endswith(", grows")]
    assert len(growing) == 3 * sum(bool({"weak", "grown"} & row.keys()) for row in rows_of_gpus())
    for case in growing:
        (run,) = case.runs
        expected = run.configuration.ranks * of_one[case.title.removesuffix(", grows")]
        assert run.core_s == pytest.approx(expected, rel=0.01), case.title


@pytest.mark.parametrize(
    "count",
    [pytest.param(2, marks=pytest.mark.slow), pytest.param(8, marks=[pytest.mark.long, pytest.mark.timeout(1800)])],
)
def test_the_workloads_of_the_plan_have_equal_results_on_ranks(count, only_cpu, use_rows, tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    assert [row["workload"] for row in rows_of_gpus()] == [workload for workload, _, _ in SMALL]
    small = {"family": "ranks", "on": "ranks of cores"}
    use_rows(*[{**small, **more, "title": name, "workload": name, "arguments": words} for name, words, more in SMALL])
    out = tmp_path / "out"
    for variable in ("TMPDIR", "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_osc_sm_backing_directory"):
        monkeypatch.setenv(variable, str(tmp_path))
    line = ["--workload", "ranks", "--ranks", str(count), "--oversubscribe", "--busy", "--repeats", "1"]
    assert run_driver(bench.main, [*line, "--out", str(out)]) == 0
    works = rank_rates(merge(load(out / "ranks.jsonl")))
    assert [list(work.strong.index) for work in works] == [[1, count]] * len(SMALL)
    assert sum(list(work.weak.index) == [1, count] for work in works) == sum(bool(more) for _, _, more in SMALL)
    assert list(tmp_path.iterdir()) == [out], "nothing is left, Open MPI's shared memory neither"
