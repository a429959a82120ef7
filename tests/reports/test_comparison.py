"""Records that enter a comparison, and the text of their rows."""

import pytest

from reports.comparison.speedups import compare
from reports.records.files import RecordError
from reports.records.schema import Repetition


def test_a_speedup_is_over_the_one_core_cpu_run_and_names_its_time(make_record):
    runs = [make_record(backend="threads", times=[1.0, 1.1, 1.2]), make_record(times=[4.0, 2.0, 2.2])]
    comparison = compare([*runs, make_record(ranks=2, times=[1.1, 1.1, 1.1])])
    threads, one_core, ranks = comparison.rows
    assert comparison.baseline is one_core
    assert (threads.speedup.value, threads.baseline_s) == (2.2 / 1.1, 2.2)
    assert one_core.speedup.value == 1.0
    assert ranks.speedup.value == pytest.approx(2.0)
    assert ranks.rate == pytest.approx(2e9 / 1.1)


def test_compilation_is_shown_apart_and_enters_no_ratio(make_record):
    samples = (Repetition(compile_s=9.0, transfer_s=0.0, kernel_s=1.0, total_s=10.0), Repetition(0.0, 0.0, 1.0, 1.0))
    row = compare([make_record(times=[2.0, 2.0]), make_record(backend="cuda", repetitions=samples)]).rows[1]
    assert row.compile_s == 9.0
    assert row.speedup.value == 2.0


def test_a_measured_rate_gives_the_seconds_of_the_stated_amount(make_measured):
    runs = [make_measured([4.0] * 6, joules=40.0), make_measured([9.0] * 6, [1.0] * 6, backend="threads")]
    core, threads = compare(runs).rows
    assert (core.running.repetitions, core.median_s, threads.median_s) == (6, 1.0, 0.25)
    assert threads.speedup.value == 4.0 and core.compile_s == 0.5
    assert {one.energy_j["package_rapl"] for one in core.record.repetitions} == {10.0}


def test_a_run_that_the_scorer_did_not_confirm_enters_no_ratio(make_record):
    wrong = make_record(backend="opencl", times=[0.001], verified=False, best_cost=1, hash="ffff")
    comparison = compare([make_record(), wrong])
    assert [row.record.backend for row in comparison.rows] == ["cpu"]
    assert [(row.backend, row.wrong) for row in comparison.not_run] == [("opencl", True)]
    assert "NumPy scorer did not confirm" in comparison.not_run[0].reason


def test_nothing_confirmed_is_nothing_to_compare(make_record):
    with pytest.raises(RecordError, match="no records"):
        compare([])
    with pytest.raises(RecordError, match="confirmed none"):
        compare([make_record(verified=False)])


@pytest.mark.parametrize(("ranks", "hosts", "labelled"), [(2, 1, False), (3, 1, True), (4, 2, False), (5, 2, True)])
def test_more_ranks_than_cores_are_labelled_oversubscribed(make_record, ranks, hosts, labelled):
    environment = {"cpu_model": "x", "cores": 2, "host_count": hosts}
    row = compare([make_record(ranks=ranks, environment=environment)]).rows[0]
    assert any("oversubscribed" in label for label in row.labels) == labelled


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"backend": "threads", "ranks": 2}, "oversubscribed: 2 ranks of 2 cores on 2 cores"),
        ({"backend": "threads", "ranks": 2, "details": {"cores_per_rank": 1}}, None),
        ({"backend": "opencl", "ranks": 2}, "oversubscribed: 2 ranks of 2 cores on 2 cores"),
        ({"backend": "threads"}, None),
        ({"backend": "cuda", "ranks": 2}, None),
        ({"backend": "cuda", "ranks": 3}, "oversubscribed: 3 ranks on 2 cores"),
    ],
)
def test_ranks_of_every_backend_with_more_threads_than_cores_are_labelled(make_record, changes, label):
    row = compare([make_record(environment={"cpu_model": "x", "cores": 2, "host_count": 1}, **changes)]).rows[0]
    assert [said for said in row.labels if "oversubscribed" in said] == ([label] if label else [])


def test_simulated_runs_are_labelled(make_record):
    row = compare([make_record(backend="cuda", details={"simulated": True})]).rows[0]
    assert any("simulated" in label for label in row.labels)


def test_machines_get_letters_and_a_foreign_baseline_is_said(make_record):
    first, there = {"cpu_model": "x", "cores": 2}, {"cpu_model": "y", "cores": 8}
    records = [make_record(environment=first), make_record(backend="cuda", environment=there, times=[0.5])]
    comparison = compare(records)
    assert comparison.machines == {"A": first, "B": there}
    assert comparison.rows[1].speedup.value == 2.0
    assert comparison.rows[1].labels == ("its baseline ran on machine A",)
    own = compare([*records, make_record(environment=there, times=[3.0])])
    assert own.rows[1].speedup.value == 6.0
    assert own.rows[1].labels == ()
