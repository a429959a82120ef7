"""`--mapping published` of the three tables: the suite's answers, cells instead of decisions, and refusals."""

import os

import pytest

from core.search.dp.engine import decisions
from drivers import heldkarp, knapsack, lcs
from tests.drivers.records import lines

HERE = ["--backend", "cpu", "--no-progress"]
CELLS = {
    lcs: (["half:300:seed=2"], 4 * 300 * 300),
    knapsack: (["--items", "20", "--capacity", "500", "--seed", "1"], 4 * 20 * 501),
    heldkarp: (["--instance", "uniform:9:seed=1"], 4 * 8 * 2**7),
}
"""Arguments of a program, and bytes of its table's cells."""
every_table = pytest.mark.parametrize("driver", CELLS, ids=lambda driver: driver.__name__.partition(".")[2])


@every_table
def test_the_answer_is_the_suites_and_the_bytes_are_those_of_all_cells(drive, tmp_path, driver):
    asked, cell_bytes = CELLS[driver]
    record = tmp_path / "r.jsonl"
    ways = ([], ["--mapping", "published"], ["--mapping", "published", "--spill", tmp_path])
    for way in (*ways, ["--mapping", "published", "--no-trace", "--verify"]):
        code, said, error = drive(*asked, *HERE, *way, "--record", record, driver=driver)
        assert (code, error) == (0, "")
        assert (f", {cell_bytes:,} bytes streamed, " in said) == ("published" in way and "--no-trace" not in way)
    suite, published, spilled, untraced = lines(record)
    assert {run["best_cost"] for run in (suite, published, spilled, untraced)} == {suite["best_cost"]}
    assert {run["hash"] for run in (suite, published, spilled)} == {suite["hash"]}
    assert all(run["verified"] for run in (suite, published, spilled, untraced))
    assert [run["execution"]["mapping"] for run in (suite, published, spilled, untraced)] == [
        "native",
        *["published"] * 3,
    ]
    assert [run["execution"]["spill_to_files"] for run in (suite, published, spilled, untraced)] == [
        False,
        False,
        True,
        False,
    ]
    bytes_of = [run["details"]["streamed_bytes"] for run in (suite, published, spilled, untraced)]
    assert bytes_of == [0, cell_bytes, cell_bytes, 0]
    assert os.listdir(tmp_path) == ["r.jsonl"]


@every_table
def test_cells_that_do_not_fit_the_host_are_refused_in_one_line_with_their_bytes(drive, monkeypatch, driver):
    asked, cell_bytes = CELLS[driver]
    monkeypatch.setattr(decisions, "available_bytes", lambda: cell_bytes - 1)
    assert drive(*asked, *HERE, "--mapping", "published", "--no-trace", driver=driver)[0] == 0
    code, said, error = drive(*asked, *HERE, "--mapping", "published", driver=driver)
    assert (code, said) == (2, "")
    message = (
        f"{cell_bytes} bytes of cells do not fit the host's memory; give --spill DIR ({cell_bytes - 1} bytes are there)"
    )
    assert error.startswith(f"error: {message}; ") and error.count("\n") == 1
