"""Damaged files of records: each gives records or one clear line, never a traceback, and nothing is lost by reading."""

import json
import random
import warnings

import pytest
from msgspec.structs import replace

from core.errors import UserError
from reports.pages import comparison
from reports.rates import rate_sections
from reports.records import frame, iohprofiler
from reports.records.files import RecordError, append, find_run, load, merge_lines
from tests.reports.conftest import MEASURED

SEED = 20260211
PIECES = (
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"9" * 400, b"9" * 5000, b"-1", b"1e999", b"NaN", b"-Infinity"),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"\xff", b"\x00", b"\n", b"\r", b"\xef\xbb\xbf", b'"', b","),
    *(b'"schema": 3', b'"schema": 4', b'"repetitions": []', b"1.5", b"cpu", "é|`".encode()),
)


def full_record(make_record):
    details = {"cities": 7, "improvements": [[0, 9], [3, 7]], "reference_solvers": [{"name": "x", "length": 9}]}
    return make_record((1.0, 2.0), MEASURED, details=details, execution={"scan": "full"})


def lines(make_record):
    return [one.to_line().encode() for one in (full_record(make_record), make_record())]


def mutated(content, draw):
    """Bytes after one to four damages: cut, swapped, repeated, or with an inserted piece or another value."""
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(content) + 1)
        end = min(len(content), start + draw.choice((0, 1, 2, 10, 100)))
        kind = draw.randrange(5)
        if kind == 0:
            content = content[:start] + content[end:]
        elif kind == 1:
            content = content[:start] + draw.choice(PIECES) + content[start:]
        elif kind == 2:
            content = content[:start] + content[start:end][::-1] + content[end:]
        elif kind == 3:
            content = content[:end] + content[start:end] + content[end:]
        else:
            colons = [k for k in range(len(content)) if content[k : k + 2] == b": "]
            start = draw.choice(colons) + 2 if colons else start
            end = next((k for k in range(start, len(content)) if content[k : k + 1] in b",}]"), len(content))
            content = content[:start] + draw.choice(PIECES) + content[end:]
    return content


def check(path, content, good):
    """Read a file that may be damaged, by all readers."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            records = load(path)
        except RecordError as error:
            assert str(error).startswith(f"{path}:") and "\n" not in str(error), str(error)[:300]
            with pytest.raises(RecordError):
                find_run(path, good.identity)
            return False
        assert path.read_bytes() == content
        try:
            merge_lines(path, good.identity)
            find_run(path, good.identity)
            if records:
                assert records[0].to_line().isascii()
                frame.csv_text(records).encode()
                iohprofiler.write(records, path.with_suffix(".ioh"))
                comparison.write(rate_sections(records), path.with_suffix(".out"), records[0].workload)
        except UserError as error:
            assert "\n" not in str(error), str(error)[:300]
        append(path, good)
        assert load(path)[-1].identity == good.identity
    return True


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 1025), marks=pytest.mark.long)])
def test_damaged_files_give_records_or_one_clear_line(tmp_path, make_record, seeds):
    good, starts = make_record(), lines(make_record)
    read = [
        check(tmp_path / f"{seed}.jsonl", mutated(b"".join(draw.choices(starts, k=draw.randint(1, 3))), draw), good)
        for seed in seeds
        for draw in [random.Random(SEED + seed)]
    ]
    # Damage that is never noticed, or that leaves nothing to read, would test nothing.
    assert 0 < sum(read) < len(read)


TORN = "the last line is incomplete (writing it was interrupted): left out"
OBJECT = "expected a run record (a JSON object with a 'schema' key), found "


def with_raw(record, values):
    """A record's line with raw JSON for some values; None leaves out a key."""
    content = json.loads(record.to_line()) | {name: f"@{name}@" for name in values}
    text = json.dumps({name: value for name, value in content.items() if values.get(name, "") is not None})
    for name, raw in values.items():
        text = text.replace(f'"@{name}@"', raw or "")
    return text + "\n"


def in_repetitions(**values):
    """A list of one repetition as raw JSON; None leaves out a key."""
    repetition = {"compile_s": 0, "transfer_s": 0, "kernel_s": 0, "total_s": 0} | values
    return json.dumps([{name: value for name, value in repetition.items() if value is not None}])


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("schema", None, OBJECT),
        ("schema", "2", "found schema version 2, expected 4"),
        ("repetitions", None, "expected the key 'repetitions', found only ["),
        (
            "repetitions",
            in_repetitions(kernel_s=None),
            "repetitions[0]: expected the key 'kernel_s', found only ['compile_s', 'total_s', 'transfer_s']",
        ),
        ("environment", '{"host": 4}', "environment.host: expected a name, found 4"),
        ("details", '{"cities": -1}', "details.cities: expected an integer of at least 0, found -1"),
        ("details", "[" * 100_000 + "]" * 100_000, 'expected at most 50 nested levels, found \'{"schema"'),
        ("best_cost", "9" * 5000, OBJECT),
        ("ranks", json.dumps("x" * 10_000), "ranks: expected an integer of at least 1, found 'xxxx"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_a_line_that_is_no_record_is_refused_by_file_and_line(tmp_path, make_record, name, raw, message):
    path, good = tmp_path / "runs.jsonl", full_record(make_record)
    path.write_text(good.to_line() + with_raw(good, {name: raw}) + good.to_line())
    before = path.read_bytes()
    with pytest.raises(RecordError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}:2: {message}")
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < len(str(path)) + 400
    assert path.read_bytes() == before


def first_line(content):
    return content.index(b"\n") + 1


@pytest.mark.parametrize(
    ("damage", "left", "reported"),
    [
        pytest.param(lambda two: two.replace(b"\n", b"\n\n  \n"), 2, None, id="empty lines between"),
        pytest.param(lambda two: two.replace(b"\n", b"\r\n"), 2, None, id="ends of line as on Windows"),
        pytest.param(lambda two: two[: first_line(two)] + b"{", 1, f":2: {TORN}", id="one byte of the last line"),
        pytest.param(lambda two: b"", 0, None, id="an empty file"),
    ],
)
def test_what_loses_at_most_a_line_is_read_and_what_is_left_out_is_reported(
    tmp_path, make_record, damage, left, reported
):
    path, good = tmp_path / "runs.jsonl", full_record(make_record)
    other = replace(good, seed=1)
    path.write_bytes(damage((good.to_line() + other.to_line()).encode()))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert load(path) == [good, other][:left]
    assert [str(one.message) for one in warned] == ([f"{path}{reported}"] if reported else [])


@pytest.mark.parametrize(
    ("damage", "message", "appends"),
    [
        pytest.param(lambda two: two[:300] + two[first_line(two) :], f":1: {OBJECT}", True, id="cut in the middle"),
        pytest.param(lambda two: two.replace(b"\n", b" "), ":1: expected a run record, found ", False, id="one line"),
        pytest.param(lambda two: b"not a record\n", f":1: {OBJECT}", False, id="notes"),
        pytest.param(
            lambda two: two.replace(b"kroA100", b"kro\xff100"), ":1: expected a run record in UTF-8", True, id="Latin 1"
        ),
    ],
)
def test_bytes_that_are_no_lines_of_records_are_refused_and_left_alone(tmp_path, make_record, damage, message, appends):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(damage(full_record(make_record).to_line().encode() * 2))
    before = path.read_bytes()
    with pytest.raises(RecordError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}{message}") and "\n" not in str(refusal.value)
    if not appends:
        with pytest.raises(RecordError, match="not a file of records|nothing was written"):
            append(path, make_record())
    assert path.read_bytes() == before
