"""Records as Python reads them."""

from reports.records.files import append
from reports.runs import load


def test_repetitions_of_several_files_are_joined(tmp_path, make_record):
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path in paths:
        append(path, make_record())
    append(paths[1], make_record(backend="threads"))
    assert [(run.backend, len(run.repetitions)) for run in load(*paths)] == [("cpu", 2), ("threads", 1)]
