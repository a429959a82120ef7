"""The plan of scaling: as much work for each rank as for one."""

from dataclasses import replace

import pytest

from drivers.experiments.configurations import Configuration
from drivers.experiments.presets import bench

GPU = Configuration("gpu", "0", "a GPU", kind="gpu")


def rows_of_gpus():
    return [one for row in bench.CASES if row["on"] == "ranks of GPUs" and "title" not in row for one in row["for"]]


@pytest.mark.slow  # strings of 24 million letters
def test_each_rank_has_as_much_work_as_one(rows, tmp_path, shared_data):
    options = bench.bench_parser().parse_args(["--workload", "ranks", "--data", str(shared_data)])
    places = [replace(GPU, ranks=count) for count in (1, 2, 4, 8)]
    cases = list(bench.plan_cases(options, places, tmp_path / "r.jsonl", with_c=False))
    of_one = {case.title: case.runs[0].core_s for case in cases if case.runs[0].configuration.ranks == 1}
    growing = [case for case in cases if case.title.endswith(", grows")]
    assert len(growing) == 3 * sum(bool({"weak", "grown"} & row.keys()) for row in rows_of_gpus())
    for case in growing:
        (run,) = case.runs
        expected = run.configuration.ranks * of_one[case.title.removesuffix(", grows")]
        assert run.core_s == pytest.approx(expected, rel=0.01), case.title
