"""Files of run records: their form, what a crash leaves of them, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reports.records import (
    RecordError,
    Sample,
    UnequalWorkError,
    append,
    completed,
    families,
    fold,
    load,
    merge,
    repeated,
    require_equal_work,
)

ROOT = Path(__file__).parents[2]
TIMES = {"compile_s": 0.0, "transfer_s": 0.0, "kernel_s": 0.0, "total_s": 0.0}
KEYS = [
    "schema",
    "workload",
    "instance",
    "instance_sha256",
    "parameters",
    "ways",
    "seed",
    "backend",
    "device",
    "device_kind",
    "ranks",
    "samples",
    "best_cost",
    "best_index",
    "evaluations",
    "trajectory_hash",
    "hash_covers",
    "environment",
    "unit",
]


def python(script, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)


def test_a_line_is_one_json_object_with_the_keys_of_schema_version_2(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    append(path, make_record(times=[0.5, 0.25]))
    append(path, make_record(backend="threads"))
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    content = json.loads(lines[0])
    assert set(KEYS) <= set(content)
    assert content["schema"] == 2
    assert [sample["kernel_s"] for sample in content["samples"]] == [0.5, 0.25]
    assert set(content["samples"][0]) == set(TIMES)


def test_what_is_read_is_what_was_written(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    record = make_record(times=[0.1, 1 / 3], details={"steps": 7, "instance_source": "généré | \n"})
    append(path, record)
    assert load(path) == [record]
    assert load(path)[0].origin == f"{path}:1"


def test_a_write_torn_at_any_byte_loses_that_line_alone(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    first, second, third = (make_record(times=[time]) for time in (1.0, 2.0, 3.0))
    append(path, first)
    whole = path.read_bytes()
    append(path, second)
    torn = path.read_bytes()[len(whole) : -2]
    for length in range(1, len(torn) + 1):
        path.write_bytes(whole + torn[:length])
        with pytest.warns(UserWarning, match=r"runs\.jsonl:2: the last line is incomplete"):
            assert load(path) == [first]
        append(path, third)
        assert load(path) == [first, third]
        assert [json.loads(line)["samples"][0]["kernel_s"] for line in path.open()] == [1.0, 3.0]


def test_a_line_that_lacks_only_its_end_of_line_is_kept(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    append(path, make_record(times=[1.0]))
    path.write_bytes(path.read_bytes()[:-1])
    append(path, make_record(times=[2.0]))
    assert [record.samples[0].kernel_s for record in load(path)] == [1.0, 2.0]


def test_a_killed_run_keeps_every_finished_repetition_and_resumes(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    record = make_record()
    append(path, record)
    script = """
        import sys
        from reports.records import append, load
        record = load(sys.argv[1])[0]
        while True:
            append(sys.argv[1], record)
            print("done", flush=True)
        """
    run = python(script, path)
    acknowledged = 1 + sum(1 for _ in zip(range(5), run.stdout, strict=False))
    run.send_signal(signal.SIGKILL)
    acknowledged += len(run.stdout.readlines())
    run.wait()
    kept = completed(path, record.identity)
    assert len(kept.samples) in (acknowledged, acknowledged + 1)
    append(path, record)
    assert len(completed(path, record.identity).samples) == len(kept.samples) + 1


def test_only_the_same_run_on_the_same_machine_resumes(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    record = make_record(times=[1.0])
    assert completed(path, record.identity) is None
    others = [
        make_record(workload="aco"),
        make_record(instance_sha256="cd" * 32),
        make_record(parameters={"climbers": 101}),
        make_record(ways={"scan": "full"}),
        make_record(seed=1),
        make_record(backend="threads"),
        make_record(device="1"),
        make_record(ranks=2),
        make_record(environment=dict(record.environment, cpu="another")),
    ]
    for other in others:
        append(path, other)
    assert completed(path, record.identity) is None
    append(path, record)
    append(path, make_record(times=[2.0], details={"steps": 3}))
    assert [sample.kernel_s for sample in completed(path, record.identity).samples] == [1.0, 2.0]


def test_repetitions_of_the_same_work_count_wherever_they_were_made(tmp_path, make_record):
    path, work = tmp_path / "runs.jsonl", {"parameters": {"sizes": [1, 2]}, "seed": 3}
    asked = ("ihc", "ab" * 32, {"sizes": (1, 2)}, 3)
    assert repeated(path, *asked) == 0
    for other in ({"workload": "aco"}, {"instance_sha256": "cd" * 32}, {"parameters": {}}, {"seed": 1}):
        append(path, make_record(**(work | other)))
    assert repeated(path, *asked) == 0
    append(path, make_record(times=[1.0, 2.0], **work))
    append(path, make_record(backend="threads", ways={"scan": "full"}, ranks=2, **work))
    assert repeated(path, *asked) == 3


def test_a_folded_run_is_one_line_and_other_lines_stay_as_they_were(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    other = make_record(backend="threads")
    strange = other.to_line().replace('"schema": 2', '"schema":  2')
    append(path, make_record(times=[1.0]))
    with path.open("a") as file:
        file.write(strange)
    append(path, make_record(times=[2.0]))
    append(path, make_record(times=[3.0]))
    fold(path, make_record().identity)
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 2
    assert [sample["kernel_s"] for sample in json.loads(lines[0])["samples"]] == [1.0, 2.0, 3.0]
    assert lines[1] == strange
    assert [file.name for file in tmp_path.iterdir()] == ["runs.jsonl"]


def test_processes_that_append_and_fold_at_once_lose_nothing(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    writer = """
        import sys
        from dataclasses import replace
        from reports.records import append, fold, load
        record = replace(load(sys.argv[2])[0], backend=sys.argv[3], details={"text": sys.argv[3] * 20_000})
        for turn in range(30):
            append(sys.argv[1], record)
            if turn % 10 == 9:
                fold(sys.argv[1], record.identity)
        """
    append(tmp_path / "model.jsonl", make_record(times=[1.0]))
    runs = [python(writer, path, tmp_path / "model.jsonl", name) for name in ("one", "two", "three")]
    assert [run.wait() for run in runs] == [0, 0, 0]
    found = {record.backend: len(record.samples) for record in load(path)}
    assert found == {"one": 30, "two": 30, "three": 30}


def test_another_schema_version_is_one_clear_error(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    line = make_record().to_line()
    path.write_text(line + line.replace('"schema": 2', '"schema": 3'))
    with pytest.raises(RecordError, match=r"runs\.jsonl:2: found schema version 3, expected version 1 or 2"):
        load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not a record\n", r":1: expected a run record"),
        ("[1, 2]\n", r":1: expected a run record"),
        ('{"schema": 1}\n', r":1: expected the key 'workload'"),
        ('{"schema": 2}\n', r":1: expected the key 'workload'"),
        ("no line end either", r":1: expected a run record"),
    ],
)
def test_a_file_that_holds_no_records_is_refused_and_left_alone(tmp_path, make_record, content, message):
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(RecordError, match=message):
        load(path)
    if not content.startswith("{"):
        with pytest.raises(RecordError, match="not a file of records"):
            append(path, make_record())
        assert path.read_text() == content


def test_places_that_cannot_hold_records_are_refused(tmp_path, make_record):
    with pytest.raises(RecordError, match="Is a directory"):
        append(tmp_path, make_record())
    with pytest.raises(RecordError, match="No such file"):
        append(tmp_path / "missing" / "runs.jsonl", make_record())
    with pytest.raises(RecordError, match="No such file"):
        load(tmp_path / "runs.jsonl")
    with pytest.raises(RecordError, match="expected a regular file"):
        append(os.devnull, make_record())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workload", ""),
        ("instance_sha256", "ab" * 31),
        ("instance_sha256", "AB" * 32),
        ("parameters", [1]),
        ("parameters", {"x": float("nan")}),
        ("parameters", {1: 2}),
        ("seed", 1.5),
        ("device", 0),
        ("ranks", 0),
        ("ranks", True),
        ("best_cost", float("inf")),
        ("best_index", -1),
        ("evaluations", "many"),
        ("trajectory_hash", "0x12"),
        ("environment", None),
        ("scored", 1),
        ("details", {"x": {2, 3}}),
        ("schema", 1),
        ("ways", ["scan"]),
        ("ways", {"scan": 10**400}),
        ("hash_covers", "course"),
        ("device_kind", "fpga"),
        ("evaluations", 10**400),
        ("instance", "\ud800"),
        ("details", {"name": "\ud800"}),
    ],
)
def test_a_wrong_value_is_refused_by_name(make_record, field, value):
    with pytest.raises(RecordError, match=f"{field}: expected"):
        make_record(**{field: value})


@pytest.mark.parametrize("value", [-1.0, float("nan"), "1", None, True])
def test_a_time_is_a_number_of_seconds_from_0(make_record, value):
    with pytest.raises(RecordError, match=r"samples\[1\]\.kernel_s: expected seconds"):
        make_record(samples=(Sample(0, 0, 0, 0), Sample(0.0, 0.0, value, 1.0)))


def test_the_end_to_end_time_includes_compilation(make_record):
    with pytest.raises(RecordError, match="expected total_s to include compile_s"):
        make_record(samples=(Sample(compile_s=2.0, transfer_s=0.0, kernel_s=0.5, total_s=1.0),))
    assert Sample(compile_s=2.0, transfer_s=0.0, kernel_s=0.5, total_s=3.0).running_s == 1.0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("trajectory_hash", "fedcba9876543210"),
        ("instance_sha256", "cd" * 32),
        ("parameters", {"climbers": 101}),
        ("seed", 1),
        ("best_cost", 21283),
        ("evaluations", 5),
    ],
)
def test_unequal_work_is_refused_with_the_two_that_differ(make_record, field, value):
    equal, other = (
        make_record(backend="threads"),
        make_record(backend="opencl", device="0:1", **{field: value}),
    )
    require_equal_work([make_record(), equal])
    with pytest.raises(UnequalWorkError) as refusal:
        require_equal_work([make_record(ranks=4), equal, other])
    message = str(refusal.value)
    assert f"{field} is" in message
    assert "cpu (device 0, 4 ranks)" in message
    assert "opencl (device 0:1)" in message
    assert repr(value) in message
    assert "threads" not in message


def test_a_pruned_scan_evaluates_as_often_on_one_device_only(make_record):
    def pruned(count, **changes):
        return make_record(evaluations=count, ways={"scan": "pruned"}, **changes)

    require_equal_work([pruned(10), pruned(12, backend="cuda"), pruned(10, ranks=2)])
    with pytest.raises(UnequalWorkError, match="evaluations is 10 .* but 11"):
        require_equal_work([pruned(10), pruned(12, backend="cuda"), pruned(11, ranks=2)])


def test_repetitions_of_one_run_that_disagree_are_refused(make_record):
    with pytest.raises(UnequalWorkError, match="trajectory_hash"):
        merge([make_record(), make_record(trajectory_hash="ffff")])


def test_a_family_is_the_runs_that_differ_in_the_seed_alone(make_record):
    seeds = [make_record(seed=seed, best_cost=21282 + seed, trajectory_hash=f"{seed:04x}") for seed in (10, 2, 0)]
    apart = [
        make_record(seed=1, **change) for change in ({"backend": "cuda"}, {"ranks": 2}, {"ways": {"scan": "full"}})
    ]
    grouped = families([seeds[0], apart[0], seeds[1], *apart[1:], seeds[2], seeds[0]])
    assert [[run.seed for run in family] for family in grouped] == [[0, 2, 10], [1], [1], [1]]
    assert [len(run.samples) for run in grouped[0]] == [1, 1, 2]
    assert families([]) == []


def test_a_run_counts_as_scored_only_when_every_repetition_was(make_record):
    assert not merge([make_record(), make_record(scored=False)])[0].scored
    assert merge([make_record(), make_record()])[0].scored


def test_recording_imports_nothing_that_64_ranks_would_wait_for():
    script = "import reports.records, reports.environment, sys; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"scipy", "matplotlib", "jinja2", "rich", "numba", "pyopencl", "mpi4py", "cpuinfo", "numpy"}
    assert not heavy & set(modules.stdout.split())


# --- what version 2 learned later ---

MEASURED = {
    "started": "2026-11-22T10:27:52Z",
    "conditions": {"load_1min": 0.5, "governor": "performance", "throttled": False, "throttled_by": []},
    "energy_j": {"gpu (NVML)": 250.0},
    "rank_seconds": [1.0],
    "bytes_moved": {"host_device": 4096},
    "communication_share": 0.25,
    "history": [[0, 0, 0.0, 30000], [1, 4850, 0.5, 21282]],
}


def measured(**changes):
    return (Sample(0.0, 0.0, 1.0, 1.0, **(MEASURED | changes)),)


def test_all_that_was_measured_is_read_as_it_was_written(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    record = make_record(samples=measured(), unit="moves")
    append(path, record)
    assert load(path) == [record]
    assert json.loads(path.read_text())["samples"][0] == {**TIMES, "kernel_s": 1.0, "total_s": 1.0, **MEASURED}
    assert json.loads(path.read_text())["unit"] == "moves"


@pytest.mark.parametrize("absent", MEASURED)
def test_what_was_not_measured_is_absent_and_not_0(tmp_path, make_record, absent):
    path = tmp_path / "runs.jsonl"
    append(path, make_record(samples=measured(**{absent: None})))
    assert absent not in json.loads(path.read_text())["samples"][0]
    (sample,) = load(path)[0].samples
    assert getattr(sample, absent) is None


def test_a_line_from_before_is_read_and_its_unit_is_what_the_workload_counts(tmp_path, make_record):
    path = tmp_path / "runs.jsonl"
    workloads = {
        "ihc": "moves",
        "ppp": "neighbours",
        "aco": "selections",
        "exact": "nodes",
        "lcs": "cells",
        "heldkarp": "transitions",
        "mine": "evaluations",
    }
    for workload in workloads:
        content = json.loads(make_record(workload=workload).to_line())
        del content["unit"]
        with path.open("a") as file:
            file.write(json.dumps(content) + "\n")
    assert [record.unit for record in load(path)] == list(workloads.values())
    assert load(path)[0].samples[0].conditions is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("started", "yesterday", "samples[0].started: expected a date and time in UTC such as"),
        ("started", "2026-13-01T00:00:00Z", "samples[0].started: expected a date"),
        ("started", "2026-11-22 10:27:52", "samples[0].started: expected a date"),
        ("conditions", [1], "samples[0].conditions: expected an object"),
        ("conditions", {"load_1min": -1}, "samples[0].conditions.load_1min: expected a number of at least 0, found -1"),
        ("conditions", {"gpu_mhz": "fast"}, "samples[0].conditions.gpu_mhz: expected a number of at least 0"),
        ("conditions", {"throttled": 1}, "samples[0].conditions.throttled: expected true or false, found 1"),
        ("conditions", {"throttled_by": "heat"}, "samples[0].conditions.throttled_by: expected a list of reasons"),
        ("energy_j", {"gpu": -1.0}, "samples[0].energy_j: expected an object from sources to joules"),
        (
            "energy_j",
            250.0,
            "samples[0].energy_j: expected an object from sources to joules of at least 0, found 250.0",
        ),
        ("rank_seconds", [1.0, 2.0], "samples[0].rank_seconds: expected the time of each of 1 ranks, found 2"),
        ("rank_seconds", [-1.0], "samples[0].rank_seconds: expected a list of seconds"),
        ("bytes_moved", {"elsewhere": 1}, "samples[0].bytes_moved: expected an object from host_device or ranks"),
        ("bytes_moved", {"ranks": 1.5}, "samples[0].bytes_moved: expected an object"),
        ("communication_share", 1.5, "samples[0].communication_share: expected a number from 0 to 1, found 1.5"),
        ("history", {}, "samples[0].history: expected a list of [iteration, evaluations, seconds, best cost]"),
        ("history", [[0, 0, 0.0]], "samples[0].history[0]: expected [iteration, evaluations, seconds, best cost]"),
        ("history", [[0, 0, 0.0, 9], [0.5, 1, 1.0, 9]], "samples[0].history[1]: expected [iteration, evaluations"),
        ("history", [[1, 9, 1.0, 9], [2, 8, 2.0, 9]], "samples[0].history[1]: expected [iteration, evaluations, sec"),
        pytest.param(
            "history",
            [[1, 9, 2.0, 9], [2, 9, 1.0, 9]],
            "samples[0].history[1]: expected [iteration, evaluations, sec",
            id="seconds that fall",
        ),
        ("history", [[0, 0, 0.0, None]], "samples[0].history[0]: expected"),
        ("history", ["none"], "samples[0].history[0]: expected"),
    ],
)
def test_a_wrong_measurement_is_refused_by_name(make_record, name, value, message):
    with pytest.raises(RecordError) as refusal:
        make_record(samples=measured(**{name: value}))
    assert str(refusal.value).startswith(message)


def test_a_run_on_another_host_is_another_run(make_record):
    here, there = (make_record(environment={"cpu": "Test CPU", "host": host}) for host in ("a", "b"))
    assert here.identity != there.identity
    with pytest.raises(RecordError, match=r"environment\.host: expected a name, found 7"):
        make_record(environment={"host": 7})
