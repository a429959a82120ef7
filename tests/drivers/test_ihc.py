"""The program of hill climbing: what it records of its ways, and that they change nothing but the speed."""

import json

import pytest

from drivers import ihc
from reports.comparison import compare
from reports.records import load

DRIVER = ihc
SMALL = ("--instance", "uniform:12:seed=1", "--climbers", "21", "--no-progress")
WAYS = {
    (): {"mapping": "suite", "scan": "pruned"},
    ("--scan", "full"): {"mapping": "suite", "scan": "full"},
    ("--mapping", "published"): {"mapping": "published", "scan": "full", "assign": "static"},
    ("--mapping", "published", "--scan", "full", "--assign", "worklist"): {
        "mapping": "published", "scan": "full", "assign": "worklist"
    },
}  # fmt: skip


def test_the_ways_that_it_records_change_nothing_but_the_speed(drive, tmp_path):
    path = tmp_path / "r.jsonl"
    for arguments in WAYS:
        code, _, error = drive(*SMALL, "--backend", "cpu", *arguments, "--record", path)
        assert (code, error) == (0, "")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["ways"] for record in records] == list(WAYS.values())
    assert len({record["trajectory_hash"] for record in records}) == 1
    _, full, *published = (record["evaluations"] for record in records)
    assert published == [full // 54 * 55] * 2  # (n - 3) n / 2 and (n - 2)(n - 1) / 2 moves a step
    assert records[2]["details"]["evaluations_per_step"].startswith("(n - 2)(n - 1) / 2 moves of every step")
    assert len(compare(load(path)).rows) == len(WAYS)


@pytest.mark.parametrize("assign", ["static", "worklist"])
def test_ranks_share_the_climbs_of_the_paper_s_mapping(mpirun, drive, tmp_path, assign):
    path, how = tmp_path / "r.jsonl", ("--backend", "cpu", "--mapping", "published", "--assign", assign)
    assert drive(*SMALL, "--backend", "cpu", "--record", path)[0] == 0
    done = mpirun(2, *SMALL, *how, "--record", path)
    assert done.returncode == 0, done.stderr
    alone, together = (json.loads(line) for line in path.read_text().splitlines())
    assert (alone["ranks"], together["ranks"]) == (1, 2)
    assert together["ways"]["assign"] == assign
    for same in ("trajectory_hash", "best_cost", "best_index"):
        assert together[same] == alone[same]
