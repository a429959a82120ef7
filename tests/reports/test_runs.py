"""Records as Python reads them: joined, as a table of pandas, side by side."""

import pytest

from reports.records.files import append
from reports.runs import load


@pytest.fixture
def two_files(tmp_path, make_record):
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path in paths:
        append(path, make_record())
    append(paths[1], make_record(backend="threads"))
    return paths


def test_repetitions_of_several_files_are_joined(two_files):
    assert [(run.backend, len(run.repetitions)) for run in load(*two_files)] == [("cpu", 2), ("threads", 1)]


def test_a_row_is_a_repetition(two_files):
    pytest.importorskip("pandas")
    table = load(*two_files).to_pandas()
    assert table["backend"].tolist() == ["cpu", "cpu", "threads"]
    assert table["repetition"].tolist() == [1, 2, 1]


def test_runs_stand_side_by_side(two_files):
    (section,) = load(*two_files).compared()
    assert [*section.rates.index] == ["one core", "threads"]
