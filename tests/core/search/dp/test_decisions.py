"""Rows of decisions: all come back with any amount of memory; too little memory is reported before any loss."""

import numpy as np
import pytest

from core.errors import UserError
from core.lang import Array, i32, kernel, lane, team_rank, team_size, u64
from core.search.dp import DecisionRows

WORDS = 10
BYTES = 8 * WORDS
"""Of a row."""


@kernel
def number_row(row: i32, first: i32, words: i32, kept: Array[u64]):
    if team_rank() == 0:
        for k in range(lane(), words, team_size()):
            kept[first + k] = u64(row * 1000 + k)


def expected(row):
    return (row * 1000 + np.arange(WORDS)).tolist()


def filled(backend, count, **options):
    rows = DecisionRows(backend, count, WORDS, dtype=np.uint64, **options)
    for row in range(count):
        buffer, first = rows.place(row)
        backend.launch(number_row, 1, 1, row, first, WORDS, buffer)
        rows.close_row(row)
    return rows


@pytest.mark.parametrize(
    ("count", "room"), [(1, 2 * BYTES), (3, 2 * BYTES), (17, None), (17, 9 * BYTES), (40, 9 * BYTES), (40, 20 * BYTES)]
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_rows_come_back_backwards_and_one_by_one(backend, count, room, on_disk, tmp_path):
    options = {"room": room, "folder": str(tmp_path) if on_disk else None}
    rows = filled(backend, count, **options)
    fits = room is None or count * BYTES <= room
    assert (rows.streamed_bytes == 0) == fits
    assert [rows.row(row).tolist() for row in reversed(range(count))] == [expected(r) for r in reversed(range(count))]
    seen = []
    for first, many, buffer in filled(backend, count, **options).chunks_backwards():
        content = backend.download(buffer).reshape(-1, WORDS)[:many].tolist()
        assert content == [expected(row) for row in range(first, first + many)]
        seen[:0] = range(first, first + many)
    assert seen == list(range(count))
    assert list(tmp_path.iterdir()) == []  # the file has no name, so nothing is left behind


def test_rows_can_be_written_again(backend):
    rows = filled(backend, 17, room=4 * BYTES)
    for row in range(17):
        buffer, first = rows.place(row)
        backend.launch(number_row, 1, 1, row + 5, first, WORDS, buffer)
        rows.close_row(row)
    assert [rows.row(row).tolist() for row in (16, 3)] == [expected(21), expected(8)]


def test_a_room_for_less_than_two_rows_is_refused(cpu):
    with pytest.raises(UserError, match="two rows of decisions need 160 bytes.* 159 are allowed.*--device-memory"):
        DecisionRows(cpu, 2, WORDS, room=159, dtype=np.uint64)


def test_a_folder_that_is_not_there_is_named(cpu, tmp_path):
    with pytest.raises(UserError, match="--spill .*/none: 1200 bytes of decisions do not fit: No such file"):
        DecisionRows(cpu, 17, WORDS, room=2 * BYTES, folder=str(tmp_path / "none"), dtype=np.uint64)


def test_host_memory_that_is_not_there_is_refused(cpu, monkeypatch):
    def nothing(count, dtype):
        raise MemoryError

    monkeypatch.setattr(cpu, "host_array", nothing)
    with pytest.raises(UserError, match="1200 bytes of decisions do not fit the host's memory; give --spill DIR"):
        DecisionRows(cpu, 17, WORDS, room=2 * BYTES, dtype=np.uint64)


def test_a_copy_that_fails_is_not_passed_over(cpu, monkeypatch):
    def fails():
        raise RuntimeError("the copy failed")

    monkeypatch.setattr(cpu, "stream_out", lambda *arguments: fails)
    with pytest.raises(RuntimeError, match="the copy failed"):
        filled(cpu, 17, room=4 * BYTES)
