"""Damaged files of records: each gives records or one clear line, never a traceback, and nothing is lost by reading."""

import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from core.errors import UserError
from reports import csv_file, experiment, ioh
from reports.records import RecordError, Sample, append, completed, fold, load

ROOT = Path(__file__).parents[2]
SEED = 20260211
PIECES = (
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"9" * 400, b"9" * 5000, b"-1", b"1e999", b"NaN", b"-Infinity"),
    *(b"null", b"true", b"[]", b"{}", b'""', b'"\\ud800"', b"\xff", b"\x00", b"\n", b"\r", b"\xef\xbb\xbf", b'"', b","),
    *(b'"schema": 1', b'"schema": 2', b'"samples": []', b"1.5", b"cpu", "é|`".encode()),
)


MEASURED = {
    "started": "2026-11-22T10:27:52Z",
    "conditions": {
        "load_1min": 0.5,
        "governor": "performance",
        "gpu_mhz": 1755,
        "throttled": True,
        "throttled_by": ["x"],
    },
    "energy_j": {"gpu (NVML)": 250.0},
    "rank_seconds": [1.0],
    "bytes_moved": {"host_device": 4096, "ranks": 0},
    "communication_share": 0.25,
    "history": [[0, 0, 0.0, 30000], [1, 4850, 0.5, 21282]],
}


def full_record(make_record):
    """A record that says everything that one can say."""
    samples = tuple(Sample(0.0, 0.0, time, time, **MEASURED) for time in (1.0, 2.0))
    details = {"cities": 7, "curve": [[0, 9], [3, 7]], "peers": [{"name": "x", "length": 9}]}
    return make_record(samples=samples, details=details, ways={"scan": "full"})


def lines(make_record):
    """Good lines of both versions to start from."""
    new = full_record(make_record).to_line().encode()
    old = json.loads(new) | {"schema": 1, "parameters": {"climbers": 100, "scan": "full"}}
    for name in ("ways", "hash_covers", "device_kind", "unit"):
        del old[name]
    old["samples"] = [{name: one[name] for name in one if name not in MEASURED} for one in old["samples"]]
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
                assert records[0].to_line().isascii()
                csv_file.text_of(records).encode()
                ioh.write(records, path.with_suffix(".ioh"))
                experiment.write(experiment.of_records(records), path.with_suffix(".out"), records[0].workload)
        except UserError as error:
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


TORN = "the last line is incomplete (writing it was interrupted): left out"
OBJECT = "expected a run record (a JSON object with a 'schema' key), found "
HISTORY = "expected [iteration, evaluations, seconds, best cost], the first three from 0 and none below the row before"


def without(name):
    return lambda content: {key: value for key, value in content.items() if key != name}


def with_value(name, value):
    return lambda content: content | {name: value}


def in_sample(**values):
    return lambda content: content | {"samples": [content["samples"][0], content["samples"][1] | values]}


def without_in_sample(name):
    def damage(content):
        return content | {"samples": [{key: one[key] for key in one if key != name} for one in content["samples"]]}

    return damage


WRONG_CONTENT = {
    "no schema": (without("schema"), OBJECT),
    "schema of tomorrow": (with_value("schema", 3), "found schema version 3, expected version 1 or 2"),
    "schema as a text": (with_value("schema", "2"), "found schema version '2', expected version 1 or 2"),
    "schema true": (with_value("schema", True), "found schema version True, expected version 1 or 2"),
    "no workload": (without("workload"), "expected the key 'workload', found only ["),
    "no samples": (without("samples"), "expected the key 'samples', found only ["),
    "no environment": (without("environment"), "expected the key 'environment', found only ["),
    "samples null": (with_value("samples", None), "samples: expected a list of repetitions, found None"),
    "samples an object": (with_value("samples", {}), "samples: expected a list of repetitions, found an object of 0"),
    "a sample a number": (
        with_value("samples", [1]),
        "samples: expected the keys compile_s, transfer_s, kernel_s, tot",
    ),
    "no kernel time": (without_in_sample("kernel_s"), "samples: expected the keys compile_s, transfer_s, kernel_s, "),
    "a negative time": (in_sample(total_s=-1.0), "samples[1].total_s: expected seconds of at least 0, found -1.0"),
    "a time null": (in_sample(kernel_s=None), "samples[1].kernel_s: expected seconds of at least 0, found None"),
    "compiling for longer than all": (in_sample(compile_s=9.0), "samples[1]: expected total_s to include compile_s"),
    "a date of another form": (in_sample(started="22.11.2026"), "samples[1].started: expected a date and time in UTC"),
    "a day that is none": (in_sample(started="2026-02-30T00:00:00Z"), "samples[1].started: expected a date and time"),
    "conditions a list": (in_sample(conditions=[]), "samples[1].conditions: expected an object of plain JSON values"),
    "a load below 0": (in_sample(conditions={"load_1min": -1}), "samples[1].conditions.load_1min: expected a number"),
    "joules without source": (in_sample(energy_j={"": 1.0}), "samples[1].energy_j: expected an object from sources to"),
    "joules a text": (
        in_sample(energy_j={"gpu": "9"}),
        "samples[1].energy_j: expected an object from sources to joule",
    ),
    "times of too many ranks": (in_sample(rank_seconds=[1, 2]), "samples[1].rank_seconds: expected the time of each o"),
    "bytes between nobody": (in_sample(bytes_moved={"x": 1}), "samples[1].bytes_moved: expected an object from host_d"),
    "a share of 2": (in_sample(communication_share=2), "samples[1].communication_share: expected a number from 0 to 1"),
    "a history of one number": (in_sample(history=7), "samples[1].history: expected a list of [iteration, evaluations"),
    "a short row": (in_sample(history=[[0, 0, 0.0]]), f"samples[1].history[0]: {HISTORY}, found '[0, 0, 0.0]'"),
    "a history backwards": (in_sample(history=[[2, 9, 1.0, 5], [1, 9, 1.0, 5]]), f"samples[1].history[1]: {HISTORY}"),
    "a cost null": (in_sample(history=[[0, 0, 0.0, None]]), f"samples[1].history[0]: {HISTORY}"),
    "a unit null": (with_value("unit", None), "unit: expected a name, found None"),
    "a host that is a number": (with_value("environment", {"host": 4}), "environment.host: expected a name, found 4"),
    "no ranks at all": (with_value("ranks", 0), "ranks: expected an integer of at least 1, found 0"),
    "a hash of words": (with_value("trajectory_hash", "unknown"), "trajectory_hash: expected 4 to 128 hexadecimal dig"),
    "a hash of another thing": (with_value("hash_covers", "luck"), "hash_covers: expected one of moves, climbs, tours"),
    "scored yes": (with_value("scored", "yes"), "scored: expected true or false, found 'yes'"),
    "details a text": (with_value("details", "none"), "details: expected an object of plain JSON values, found 'none'"),
    "cities below 0": (with_value("details", {"cities": -1}), "details.cities: expected an integer of at least 0, fou"),
}
"""Lines of JSON that are no record: the damage, and how the message begins behind file and line."""


@pytest.mark.parametrize(("damage", "message"), WRONG_CONTENT.values(), ids=list(WRONG_CONTENT))
def test_a_line_that_is_no_record_is_refused_by_file_and_line(tmp_path, make_record, damage, message):
    path, good = tmp_path / "runs.jsonl", full_record(make_record)
    path.write_text(good.to_line() + json.dumps(damage(json.loads(good.to_line()))) + "\n" + good.to_line())
    before = path.read_bytes()
    with pytest.raises(RecordError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}:2: {message}")
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 400
    assert path.read_bytes() == before


def first_line(content):
    return content.index(b"\n") + 1


WRONG_BYTES = {
    "empty lines between": (lambda two: two.replace(b"\n", b"\n\n  \n"), 2, None),
    "ends of line as on Windows": (lambda two: two.replace(b"\n", b"\r\n"), 2, None),
    "no end of line at the end": (lambda two: two[:-1], 2, None),
    "the last line cut in half": (lambda two: two[: len(two) - len(two) // 4], 1, f":2: {TORN}"),
    "one byte of the last line": (lambda two: two[: first_line(two)] + b"{", 1, f":2: {TORN}"),
    "nothing but a torn line": (lambda two: two[:20], 0, f":1: {TORN}"),
    "an empty file": (lambda two: b"", 0, None),
}
"""Damage that loses at most a line: how many records are left, and what is reported of the rest."""


@pytest.mark.parametrize(("damage", "left", "reported"), WRONG_BYTES.values(), ids=list(WRONG_BYTES))
def test_what_loses_at_most_a_line_is_read_and_what_is_left_out_is_reported(
    tmp_path, make_record, damage, left, reported
):
    path, good = tmp_path / "runs.jsonl", full_record(make_record)
    path.write_bytes(damage(good.to_line().encode() * 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert load(path) == [good] * left
    assert [str(one.message) for one in told] == ([f"{path}{reported}"] if reported else [])


REFUSED_BYTES = {
    "a cut in the middle": (lambda two: two[:300] + two[first_line(two) :], ":1: expected a run record (a JSON object"),
    "two records on a line": (lambda two: two.replace(b"\n", b" "), ":1: expected a run record, found "),
    "a byte order mark": (lambda two: b"\xef\xbb\xbf" + two, ":1: expected a run record (a JSON object"),
    "zeros of a lost block": (lambda two: two + b"\x00" * 512, ":3: expected a run record, found "),
    "UTF-16": (lambda two: two.decode().encode("utf-16"), ":3: expected a run record, found b'\\x00'"),
    "a table": (lambda two: b"workload,instance\nihc,kroA100\n", ":1: expected a run record (a JSON object"),
    "a list": (lambda two: b"[" + two[: first_line(two) - 1] + b"]\n", ":1: expected a run record (a JSON object"),
}
"""Bytes that are no lines of records, and what is said of them."""


@pytest.mark.parametrize(("damage", "message"), REFUSED_BYTES.values(), ids=list(REFUSED_BYTES))
def test_bytes_that_are_no_lines_of_records_are_refused(tmp_path, make_record, damage, message):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(damage(full_record(make_record).to_line().encode() * 2))
    before = path.read_bytes()
    with pytest.raises(RecordError) as refusal:
        load(path)
    assert str(refusal.value).startswith(f"{path}{message}")
    assert "\n" not in str(refusal.value)
    assert path.read_bytes() == before


def test_records_without_an_end_of_line_between_them_are_not_cut_off_by_the_next_one(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    path.write_text(make_record().to_line() + 2 * make_record().to_line().rstrip("\n"))
    before = path.read_bytes()
    with pytest.raises(RecordError, match="nothing was written"):
        append(path, make_record())
    assert path.read_bytes() == before


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
    told = f"error: standard output: No space left on device; the report is in {out / 'compare-ihc.md'}\n"
    assert (done.returncode, done.stderr) == (2, told)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
