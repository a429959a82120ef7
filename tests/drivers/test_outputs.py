"""Output files are checked before a search, without changing any file."""

import os
from types import SimpleNamespace

import pytest

from core.errors import UserError
from drivers import tsp
from drivers.options import output_files
from drivers.options.output_files import reporting_write_errors, writing_obstacle

DRIVER = tsp
SMALL = ["--instance", "uniform:9:seed=1", "--iterations", "5", "--backend", "cpu", "--no-progress"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_place_that_can_be_written_stays_as_it_was(folder):
    (folder / "old").write_text("kept")
    (folder / "link").symlink_to("to-be-made")
    assert [writing_obstacle(name) for name in ("new", "old", "link", "./new")] == [None] * 4
    assert (folder / "old").read_text() == "kept"
    assert sorted(os.listdir()) == ["link", "old"]


def test_a_full_disk_is_an_obstacle_and_one_that_tells_nothing_is_none(folder, monkeypatch):
    for sizes, reason in (((1000, 0), "No space left on device"), ((1000, 5), None), ((0, 0), None)):
        found = SimpleNamespace(f_blocks=sizes[0], f_bavail=sizes[1])
        monkeypatch.setattr(output_files.os, "fstatvfs", lambda descriptor, found=found: found)
        assert writing_obstacle("new") == reason
        assert os.listdir() == []


def test_what_the_disk_refuses_while_writing_is_one_line():
    refusal = pytest.raises(UserError, match="^/dev/full: cannot write there: No space left on device$")
    with refusal, reporting_write_errors("/dev/full"), open("/dev/full", "w") as file:
        file.write("all that was found")


def refusing(error):
    def refuse(*_, **__):
        raise error

    return refuse


def test_a_result_is_shown_and_recorded_though_its_file_fails(drive, folder, monkeypatch):
    monkeypatch.setattr("core.tours.tour_files.write", refusing(OSError(28, "No space left on device")))
    code, said, error = drive(*SMALL, "--tour", "best.tour", "--record", "r.jsonl", "--repeats", "2")
    assert (code, error) == (2, "error: best.tour: cannot write there: No space left on device\n")
    assert said.count("confirmed by the scorer") == 1
    assert len((folder / "r.jsonl").read_text().splitlines()) == 1


def test_a_result_is_saved_and_shown_though_its_record_fails(drive, folder, monkeypatch):
    monkeypatch.setattr(
        "reports.records.files.append", refusing(UserError("r.jsonl: the disk took only a part of a record"))
    )
    code, said, error = drive(*SMALL, "--solution", "best.txt", "--record", "r.jsonl")
    assert (code, error) == (2, "error: r.jsonl: the disk took only a part of a record\n")
    assert said.count("confirmed by the scorer") == 1
    assert sorted(map(int, (folder / "best.txt").read_text().split())) == list(range(9))


def test_a_missing_file_is_checked_without_making_it(tmp_path, monkeypatch):
    """Workers check one record at the same time; a file made for the check could be another's, or be lost with it."""
    seen, look = [], os.fstatvfs
    monkeypatch.setattr(os, "fstatvfs", lambda file: seen.append((tmp_path / "r").exists()) or look(file))
    assert writing_obstacle(str(tmp_path / "r")) is None and seen == [False]
