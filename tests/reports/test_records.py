"""Files of run records: their form, what a crash leaves of them, and what is refused."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from msgspec.structs import replace

from reports.records import files
from reports.records.files import (
    RecordError,
    UnequalWorkError,
    append,
    distinct,
    families,
    find_run,
    load,
    merge,
    merge_lines,
    repetitions_of_work,
    require_equal_work,
)
from reports.records.schema import Repetition
from tests.conftest import ROOT
from tests.reports.conftest import MEASURED

TIMES = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": 1.0, "total_s": 1.0}
KEYS = (
    "schema workload instance instance_sha256 parameters execution seed backend device device_kind ranks repetitions "
    "best_cost best_index evaluations evaluation_unit hash hash_scope environment verified details work_unit"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.jsonl"


def kernel_times(record):
    return [sample.kernel_s for sample in record.repetitions]


def python(script, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


# --- what is written ---


def test_what_is_read_is_what_was_written_one_json_object_a_line_with_the_keys_of_schema_version_4(path, make_record):
    details = {"steps": 7, "instance_source": "généré | \n"}
    records = [make_record(times=[0.1, 1 / 3], details=details), make_record(sampled=MEASURED, evaluation_unit="sheep")]
    for record in records:
        append(path, record)
    assert load(path) == records
    assert load(path)[0].origin == f"{path}:1"
    first, measured = map(json.loads, path.read_text().splitlines())
    assert KEYS.split() == list(first) and first["schema"] == 4
    assert set(first["repetitions"][0]) == set(TIMES), "what was not measured is absent and not 0"
    assert measured["repetitions"] == [TIMES | MEASURED] and measured["evaluation_unit"] == "sheep"


# --- crashes, and processes that write at once ---


def test_a_write_torn_at_any_byte_loses_that_line_alone(path, make_record):
    first, second, third = (make_record(times=[time]) for time in (1.0, 2.0, 3.0))
    append(path, first)
    whole = path.read_bytes()
    append(path, second)
    torn = path.read_bytes()[len(whole) : -2]
    for length in (*range(1, len(torn), 29), len(torn)):
        path.write_bytes(whole + torn[:length])
        with pytest.warns(UserWarning, match=r"runs\.jsonl:2: the last line is incomplete"):
            assert load(path) == [first]
        append(path, third)
        assert load(path) == [first, third]
        assert [json.loads(line)["repetitions"][0]["kernel_s"] for line in path.open()] == [1.0, 3.0]


def test_a_disk_that_refuses_a_record_is_named_with_what_helps(path, make_record, monkeypatch):
    def refuse(*_):
        raise OSError(27, "File too large")

    monkeypatch.setattr("reports.records.files.os.write", refuse)
    with pytest.raises(RecordError, match=r"runs\.jsonl: cannot write records: File too large; .*ulimit -f"):
        append(path, make_record(times=[1.0]))


def test_a_line_that_lacks_only_its_end_of_line_is_kept(path, make_record):
    path.write_text(make_record(times=[1.0]).to_line().rstrip("\n"))
    append(path, make_record(times=[2.0]))
    assert [kernel_times(record) for record in load(path)] == [[1.0], [2.0]]


def test_repetitions_of_the_same_work_count_wherever_they_were_made(path, make_record):
    work = {"parameters": {"sizes": [1, 2]}, "seed": 3}
    asked = ("ihc", "ab" * 32, {"sizes": (1, 2)}, 3)
    assert repetitions_of_work(path, *asked) == []
    for other in ({"workload": "aco"}, {"instance_sha256": "cd" * 32}, {"parameters": {}}, {"seed": 1}):
        append(path, make_record(**(work | other)))
    assert repetitions_of_work(path, *asked) == []
    append(path, make_record(times=[1.0, 2.0], **work))
    append(path, make_record(backend="threads", execution={"scan": "full"}, ranks=2, **work))
    assert len(repetitions_of_work(path, *asked)) == 3


def test_processes_that_append_and_fold_at_once_lose_nothing(path, tmp_path, make_record):
    writer = """
        import sys
        from msgspec.structs import replace
        from reports.records.files import append, merge_lines, load
        record = replace(load(sys.argv[2])[0], backend=sys.argv[3], details={"text": sys.argv[3] * 20_000})
        for turn in range(20):
            append(sys.argv[1], record)
            if turn % 10 == 9:
                merge_lines(sys.argv[1], record.identity)
        """
    append(tmp_path / "model.jsonl", make_record())
    runs = [python(writer, path, tmp_path / "model.jsonl", name) for name in ("one", "two", "three")]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert {record.backend: len(record.repetitions) for record in load(path)} == {"one": 20, "two": 20, "three": 20}


def test_only_the_same_run_on_the_same_machine_resumes(path, make_record):
    record = make_record()
    assert find_run(path, record.identity) is None
    for change in (
        {"workload": "aco"},
        {"instance_sha256": "cd" * 32},
        {"parameters": {"climbers": 101}},
        {"execution": {"scan": "full"}},
        {"seed": 1},
        {"backend": "threads"},
        {"device": "1"},
        {"ranks": 2},
        {"environment": record.environment | {"cpu_model": "another"}},
        {"environment": record.environment | {"host": "another"}},
    ):
        append(path, make_record(**change))
    assert find_run(path, record.identity) is None
    append(path, record)
    append(path, make_record(times=[2.0], details={"steps": 3}))
    assert kernel_times(find_run(path, record.identity)) == [1.0, 2.0]


@pytest.mark.parametrize("replaces", [True, False])
def test_a_folded_run_is_one_line_and_other_lines_stay_as_they_were(path, make_record, monkeypatch, replaces):
    monkeypatch.setattr(files, "REPLACES_OPEN_FILES", replaces)
    strange = make_record(backend="threads").to_line().replace('"schema": 4', '"schema":  4')
    first, second, third = (make_record(times=[time]).to_line() for time in (1.0, 2.0, 3.0))
    path.write_text(first + strange + second + third)
    merge_lines(path, make_record().identity)
    folded, other = path.read_text().splitlines(keepends=True)
    assert [sample["kernel_s"] for sample in json.loads(folded)["repetitions"]] == [1.0, 2.0, 3.0]
    assert other == strange
    assert [file.name for file in path.parent.iterdir()] == ["runs.jsonl"]


# --- what is refused ---


def test_places_that_cannot_hold_records_are_refused(tmp_path, make_record):
    os.mkfifo(tmp_path / "pipe")
    for place, message in (
        (tmp_path, "Is a directory"),
        (tmp_path / "missing" / "runs.jsonl", "No such file"),
        (os.devnull, "expected a regular file"),
        (tmp_path / "pipe", "expected a regular file"),
    ):
        with pytest.raises(RecordError, match=message):
            append(place, make_record())
    for read in (load, lambda path: find_run(path, "run")):
        with pytest.raises(RecordError, match="expected a regular file"):
            read(tmp_path / "pipe")
    with pytest.raises(RecordError, match="No such file"):
        load(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workload", ""),
        ("instance_sha256", "AB" * 32),
        ("parameters", {"x": float("nan")}),
        ("seed", 1.5),
        ("device_kind", "fpga"),
        ("best_cost", float("inf")),
        ("hash", "0x12"),
        ("hash_scope", "course"),
        ("verified", 1),
        ("schema", 1),
    ],
)
def test_a_wrong_value_is_refused_by_name(make_record, field, value):
    with pytest.raises(RecordError, match=f"{field}: expected"):
        make_record(**{field: value})


@pytest.mark.parametrize("value", [-1.0, float("nan"), "1", None, True])
def test_a_time_is_a_number_of_seconds_from_0(make_record, value):
    with pytest.raises(RecordError, match=r"repetitions\[1]\.kernel_s: expected seconds"):
        make_record(repetitions=(Repetition(0, 0, 0, 0), Repetition(0.0, 0.0, value, 1.0)))


def test_the_end_to_end_time_includes_compilation(make_record):
    with pytest.raises(RecordError, match="expected total_s to include compile_s"):
        make_record(repetitions=(Repetition(compile_s=2.0, transfer_s=0.0, kernel_s=0.5, total_s=1.0),))
    assert Repetition(compile_s=2.0, transfer_s=0.0, kernel_s=0.5, total_s=3.0).running_s == 1.0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("started_at", "2026-13-01T00:00:00Z", ".started_at: expected a date and time in UTC such as"),
        ("conditions", {"load_1min": -1}, ".conditions.load_1min: expected a number of at least 0, found -1"),
        ("conditions", {"throttled": 1}, ".conditions.throttled: expected true or false, found 1"),
        ("conditions", {"throttled_by": "heat"}, ".conditions.throttled_by: expected a list of reasons"),
        ("energy_j", {"gpu": -1.0}, ".energy_j: expected an object from sources to joules of at least 0, found"),
        ("rank_s", [1.0, 2.0], ".rank_s: expected the time of each of 1 ranks, found 2"),
        ("bytes_moved", {"elsewhere": 1}, ".bytes_moved: expected an object from host_device or between_ranks"),
        ("communication_share", 1.5, ".communication_share: expected a number from 0 to 1, found 1.5"),
        ("history", [[0, 0, 0.0]], ".history[0]: expected [iteration, evaluations, seconds, best cost]"),
        ("history", [[1, 9, 1.0, 9], [2, 8, 2.0, 9]], ".history[1]: expected [iteration, evaluations, sec"),
        pytest.param("history", [[1, 9, 2.0, 9], [2, 9, 1.0, 9]], ".history[1]: expected [", id="seconds that fall"),
    ],
)
def test_a_wrong_measurement_is_refused_by_name(make_record, name, value, message):
    with pytest.raises(RecordError) as refusal:
        make_record(sampled=MEASURED | {name: value})
    assert str(refusal.value).startswith(f"repetitions[0]{message}")


# --- equal work, and runs that belong together ---


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hash", "fedcba9876543210"),
        ("instance_sha256", "cd" * 32),
        ("parameters", {"climbers": 101}),
        ("seed", 1),
        ("best_cost", 21283),
        ("evaluations", 5),
        ("hash_scope", "result"),
    ],
)
def test_unequal_work_is_refused_with_the_two_that_differ(make_record, field, value):
    equal, other = make_record(backend="threads"), make_record(backend="opencl", device="0:1", **{field: value})
    require_equal_work([make_record(), equal])
    with pytest.raises(UnequalWorkError) as refusal:
        require_equal_work([make_record(ranks=4), equal, other])
    message = str(refusal.value)
    for part in (f"{field} is", "cpu (device 0, 4 ranks)", "opencl (device 0:1)", repr(value)):
        assert part in message
    assert "threads" not in message


def test_a_pruned_scan_evaluates_as_often_on_one_device_only(make_record):
    def pruned(count, **changes):
        return make_record(evaluations=count, execution={"scan": "pruned"}, **changes)

    require_equal_work([pruned(10), pruned(12, backend="cuda"), pruned(10, ranks=2)])
    with pytest.raises(UnequalWorkError, match="evaluations is 10 .* but 11"):
        require_equal_work([pruned(10), pruned(12, backend="cuda"), pruned(11, ranks=2)])


def test_a_family_is_the_runs_that_differ_in_the_seed_alone(make_record):
    seeds = [make_record(seed=seed, best_cost=21282 + seed, hash=f"{seed:04x}") for seed in (10, 2, 0)]
    changes = {"backend": "cuda"}, {"ranks": 2}, {"execution": {"scan": "full"}}
    apart = [make_record(seed=1, **change) for change in changes]
    grouped = families([seeds[0], apart[0], seeds[1], *apart[1:], seeds[2], seeds[0]])
    assert [[run.seed for run in family] for family in grouped] == [[0, 2, 10], [1], [1], [1]]
    assert [len(run.repetitions) for run in grouped[0]] == [1, 1, 2]
    assert families([]) == []


def test_a_run_counts_as_verified_only_when_every_repetition_was(make_record):
    assert not merge([make_record(), make_record(verified=False)])[0].verified
    assert merge([make_record(), make_record()])[0].verified
    with pytest.raises(UnequalWorkError, match="hash"):
        merge([make_record(), make_record(hash="ffff")])


def test_recording_imports_nothing_that_64_ranks_would_wait_for():
    script = "import reports.records.files, reports.records.environment, reports.records.meters as meters, sys; meters.Meter('cores', 0)"
    modules = python(f"{script}; print(*sys.modules)").communicate()[0].split()
    heavy = {"scipy", "matplotlib", "jinja2", "rich", "numba", "pyopencl", "mpi4py"}
    heavy |= {"cpuinfo", "numpy", "pandas", "pynvml"}
    assert "reports.records.meters" in modules and not heavy & set(modules)


def test_solvers_that_ran_after_each_repetition_are_those_of_the_last_one(make_record):
    def beside(count):
        return make_record(details={"reference_solvers": [{"name": "elkai", "repetitions": count}]})

    (merged,) = merge([beside(1), make_record(), beside(3), beside(2)])
    assert merged.details["reference_solvers"] == [{"name": "elkai", "repetitions": 3}]


def test_a_repetition_that_stands_twice_counts_once(path, make_record, tmp_path, reports):
    measured = [make_record([time], sampled={"started_at": "2026-11-22T10:27:52Z"}) for time in (1.0, 2.0, 3.0)]
    lines = "".join(record.to_line() for record in measured)
    joined = merge(measured)[0].to_line()
    path.write_text(lines + joined + lines)
    assert [kernel_times(record) for record in load(path)] == [[1.0], [2.0], [3.0]]
    copy = tmp_path / "copy.jsonl"
    copy.write_text(joined + make_record([4.0], sampled={"started_at": "2026-11-22T10:27:59Z"}).to_line())
    assert [kernel_times(record) for record in merge([*load(path), *load(copy)])] == [[1.0, 2.0, 3.0, 4.0]]
    assert [kernel_times(record) for record in merge([make_record([1.0]), make_record([1.0])])] == [[1.0, 1.0]]
    assert [kernel_times(record) for record in distinct([measured[0], replace(measured[0], ranks=2)])] == [[1.0], [1.0]]
