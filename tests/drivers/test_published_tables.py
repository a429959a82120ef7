"""`--mapping published` of the three tables: the suite's answers, cells in place of decisions, and what does not fit."""

import json
import os
from pathlib import Path

import pytest

from core.search.dp import host_memory
from drivers import heldkarp, knapsack, lcs

HERE = ["--backend", "cpu", "--no-progress"]
CELLS = {
    lcs: (["half:300:seed=2"], 4 * 300 * 300),
    knapsack: (["--items", "20", "--capacity", "500", "--seed", "1"], 4 * 20 * 501),
    heldkarp: (["--instance", "uniform:9:seed=1"], 4 * 8 * 2**7),
}
"""What a program is asked, and bytes of the cells of its table."""
every_table = pytest.mark.parametrize("driver", CELLS, ids=lambda driver: driver.__name__.partition(".")[2])


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@every_table
def test_the_answer_is_the_suites_and_the_bytes_are_those_of_all_cells(drive, tmp_path, driver):
    asked, cell_bytes = CELLS[driver]
    record = tmp_path / "r.jsonl"
    ways = ([], ["--mapping", "published"], ["--mapping", "published", "--tiling", "none", "--spill", tmp_path])
    for way in (*ways, ["--mapping", "published", "--no-trace", "--verify"]):
        code, said, error = drive(*asked, *HERE, *way, "--record", record, driver=driver)
        assert (code, error) == (0, "")
        assert (f", {cell_bytes:,} bytes streamed, " in said) == ("published" in way and "--no-trace" not in way)
    suite, published, spilled, untraced = lines(record)
    assert {run["best_cost"] for run in (suite, published, spilled, untraced)} == {suite["best_cost"]}
    assert {run["trajectory_hash"] for run in (suite, published, spilled)} == {suite["trajectory_hash"]}
    assert all(run["scored"] for run in (suite, published, spilled, untraced))
    assert [run["ways"]["mapping"] for run in (suite, published, spilled, untraced)] == ["suite", *["published"] * 3]
    assert [run["ways"]["tiling"] for run in (suite, published, spilled, untraced)] == ["auto", *["none"] * 3]
    assert [run["ways"]["spill"] for run in (suite, published, spilled, untraced)] == [False, False, True, False]
    bytes_of = [run["details"]["streamed_bytes"] for run in (suite, published, spilled, untraced)]
    assert bytes_of == [0, cell_bytes, cell_bytes, 0]
    assert os.listdir(tmp_path) == ["r.jsonl"]


@every_table
def test_cells_that_do_not_fit_the_host_are_refused_in_one_line_with_their_bytes(drive, monkeypatch, driver):
    asked, cell_bytes = CELLS[driver]
    monkeypatch.setattr(host_memory, "available_bytes", lambda: 1000)
    code, said, error = drive(*asked, *HERE, "--mapping", "published", driver=driver)
    assert (code, said) == (2, "")
    told = f"{cell_bytes} bytes of cells do not fit the host's memory; give --spill DIR (1000 bytes are there)"
    assert error == f"error: {told}\n"


@every_table
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--device-memory", "1G"], "--device-memory changes nothing with --mapping published"),
        (["--no-trace", "--spill", "."], "--spill changes nothing here: expected with --trace"),
    ],
    ids=["device-memory", "spill"],
)
def test_what_would_change_nothing_is_refused(drive, driver, arguments, told):
    code, said, error = drive(*CELLS[driver][0], *HERE, "--mapping", "published", *arguments, driver=driver)
    assert (code, said) == (2, "")
    assert error.startswith(f"error: {told}") and error.count("\n") == 1


@pytest.mark.parametrize(
    ("driver", "arguments", "told"),
    [
        (lcs, ["--tiling", "tiles"], "--tiling tiles with --mapping published: expected none, a launch for every wave"),
        (knapsack, ["--method", "bb"], "--mapping published changes nothing here: expected without --method bb"),
        (heldkarp, ["--k", "4"], "--mapping published is the paper's recursion over all subsets, of at most 36 cities"),
    ],
    ids=["tiles", "bb", "k"],
)
def test_what_is_no_form_of_the_papers_is_refused(drive, driver, arguments, told):
    code, said, error = drive(*CELLS[driver][0], *HERE, "--mapping", "published", *arguments, driver=driver)
    assert (code, said) == (2, "")
    assert error.startswith(f"error: {told}") and error.count("\n") == 1


def test_the_papers_recursion_is_not_taken_for_the_papers_cities(drive):
    code, said, error = drive("--instance", "uniform:280:seed=1", *HERE, "--mapping", "published", driver=heldkarp)
    assert (code, said) == (2, "")
    assert error.count("\n") == 1 and "of at most 36 cities; uniform:280:seed=1:side=10000 has 280 cities" in error


@pytest.mark.xdist_group("mpi")
@every_table
def test_several_ranks_are_refused_once(mpirun, driver):
    done = mpirun(2, "-m", driver.__name__, *CELLS[driver][0], *HERE, "--mapping", "published")
    assert done.returncode == 2
    assert done.stderr.count("error: --mapping published is one launch per wave on one device") == 1
    assert "Traceback" not in done.stderr


@every_table
def test_progress_is_shown_and_changes_nothing(drive, driver):
    pytest.importorskip("rich", reason="rich is not installed")
    asked = [*CELLS[driver][0], "--backend", "cpu", "--mapping", "published"]
    code, said, _ = drive(*asked, "--progress", driver=driver)
    _, quiet, _ = drive(*asked, "--no-progress", driver=driver)
    hashes = [text.partition(" hash ")[2].split()[0] for text in (said, quiet)]
    assert code == 0 and hashes[0] == hashes[1] != ""
