"""Damaged files of records: each gives records or one clear line, never a traceback, and nothing is lost by reading."""

import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from reports import markdown
from reports.comparison import compare
from reports.records import RecordError, UnequalWorkError, append, completed, fold, load

ROOT = Path(__file__).parents[2]
SEED = 20260211
PIECES = (
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"9" * 400, b"9" * 5000, b"-1", b"1e999", b"NaN", b"-Infinity"),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"\xff", b"\x00", b"\n", b"\r", b"\xef\xbb\xbf", b'"', b","),
    *(b'"schema": 1', b'"schema": 2', b'"samples": []', b"1.5", b"cpu", "é|`".encode()),
)


def lines(make_record):
    """Good lines of both versions to start from."""
    details = {"cities": 7, "curve": [[0, 9], [3, 7]], "peers": [{"name": "x", "length": 9}]}
    new = make_record(times=[1.0, 2.0], details=details, ways={"scan": "full"}).to_line().encode()
    old = json.loads(new) | {"schema": 1, "parameters": {"climbers": 100, "scan": "full"}}
    for name in ("ways", "hash_covers", "device_kind"):
        del old[name]
    return [new, json.dumps(old).encode() + b"\n"]


def mutated(content, draw):
    """The bytes after one to four damages: cut, swapped, repeated, or with a piece put in or in a value's place."""
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
    """Read a file that may be damaged, with everything that reads it."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            records = load(path)
        except RecordError as error:
            assert str(error).startswith(f"{path}:") and "\n" not in str(error), str(error)[:300]
            with pytest.raises(RecordError):
                completed(path, good.identity)
            return False
        assert path.read_bytes() == content
        try:
            completed(path, good.identity)
            if records:
                markdown.render(compare(records))
                assert records[0].to_line().isascii()
        except (RecordError, UnequalWorkError) as error:
            assert "\n" not in str(error), str(error)[:300]
        fold(path, good.identity)
        append(path, good)
        assert load(path)[-1].identity == good.identity
    return True


def fuzz(tmp_path, make_record, seeds):
    good, starts = make_record(), lines(make_record)
    read = [
        check(tmp_path / f"{seed}.jsonl", mutated(b"".join(draw.choices(starts, k=draw.randint(1, 3))), draw), good)
        for seed in seeds
        for draw in [random.Random(SEED + seed)]
    ]
    # Damage that is never noticed, or that leaves nothing to read, would test nothing.
    assert 0 < sum(read) < len(read)


def test_fifty_damaged_files_give_records_or_one_clear_line(tmp_path, make_record):
    fuzz(tmp_path, make_record, range(50))


@pytest.mark.slow
def test_a_thousand_damaged_files_give_records_or_one_clear_line(tmp_path, make_record):
    fuzz(tmp_path, make_record, range(50, 1050))


def damaged(record, **values):
    """A record's line with raw JSON in the place of some values."""
    content = json.loads(record.to_line())
    text = json.dumps(content | {name: f"@{name}@" for name in values})
    for name, raw in values.items():
        text = text.replace(f'"@{name}@"', raw)
    return text + "\n"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"details": "[" * 100_000 + "]" * 100_000}, 'expected at most 50 nested levels, found \'{"schema"'),
        ({"details": '{"a":' * 60 + "1" + "}" * 60}, "details: expected an object of plain JSON values, found an obj"),
        ({"evaluations": "9" * 400}, "evaluations: expected an integer of at least 0, found a number of more than 100"),
        ({"best_cost": "-" + "9" * 400}, "best_cost: expected a finite number, found a number of more than 100 digits"),
        ({"best_cost": "9" * 5000}, "expected a run record (a JSON object with a 'schema' key), found '{\"schema\""),
        ({"parameters": f'{{"climbers": {"9" * 400}}}'}, "parameters: expected an object of plain JSON values"),
        ({"seed": "1e999"}, "seed: expected an integer, found inf"),
        ({"samples": f'[{{"compile_s": 0, "transfer_s": 0, "kernel_s": 0, "total_s": {"9" * 400}}}]'}, "samples[0]."),
        ({"instance": '"\\ud800"'}, "instance: expected a name"),
        ({"schema": "9" * 400}, "found schema version a number of more than 100 digits, expected version 1 or 2"),
        ({"ranks": json.dumps("x" * 10_000)}, "ranks: expected an integer of at least 1, found 'xxxx"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_no_report_can_hold_is_refused_by_file_and_line(tmp_path, make_record, values, message):
    path = tmp_path / "runs.jsonl"
    path.write_text(make_record().to_line() + damaged(make_record(), **values))
    with pytest.raises(RecordError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}:2: {message}")
    assert len(str(refusal.value)) < 300


def test_a_byte_that_is_no_text_is_not_replaced_by_another_name(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(make_record().to_line().encode().replace(b"kroA100", b"kro\xff100"))
    with pytest.raises(RecordError, match=r"runs\.jsonl:1: expected a run record in UTF-8"):
        load(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path, make_record):
    os.mkfifo(tmp_path / "pipe")
    for use in (load, lambda path: append(path, make_record()), lambda path: completed(path, "run")):
        with pytest.raises(RecordError, match="expected a regular file"):
            use(tmp_path / "pipe")


# --- from a shell ---


def reports(*arguments, **options):
    command = [sys.executable, "-m", "reports", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, **options)


def test_brackets_without_end_end_with_one_line_and_exit_code_2(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    path.write_text(make_record().to_line() + '{"schema": 2, "details": ' + "[" * 100_000 + "\n")
    done = reports("compare", path, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: {path}:2: expected at most 50 nested levels")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["compare", "tables"])
def test_a_place_that_can_hold_no_report_ends_with_one_line_and_exit_code_2(tmp_path, make_record, command):
    path, out = tmp_path / "runs.jsonl", tmp_path / "file"
    details = {"workload": "exact", "ways": {"bound": "edges"}, "hash_covers": "answer"} if command == "tables" else {}
    append(path, make_record(**details))
    out.write_text("mine")
    for place in (out, out / "deeper", "/proc/nothing"):
        done = reports(command, path, "--out", place)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"error: {place}: cannot write the report: ") and done.stderr.count("\n") == 1
    assert out.read_text() == "mine"


def test_a_full_standard_output_ends_with_one_line_and_one_that_is_closed_without(tmp_path, make_record):
    path, out = tmp_path / "runs.jsonl", tmp_path / "out"
    append(path, make_record())
    command = [sys.executable, "-m", "reports", "compare", str(path), "--out", str(out)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    told = f"error: standard output: No space left on device; the report is in {out / 'compare.md'}\n"
    assert (done.returncode, done.stderr) == (2, told)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
