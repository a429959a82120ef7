"""``python -m backends``: every backend has a row, and a device that computes wrongly is left out with the reason."""

import sys

import pytest

import backends
from backends import self_test
from backends.__main__ import main


@pytest.fixture
def wrong_devices(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setattr(self_test, "find_failure", lambda backend: f"atomic sum 7 on {backend.name}")


def test_every_backend_has_a_row_and_every_usable_device_passes_the_self_test(capsys, monkeypatch):
    surveyed = backends.survey()
    monkeypatch.setattr(sys, "argv", ["backends", "--self-test"])
    assert main() == 0
    header, *lines = capsys.readouterr().out.splitlines()
    rows = lines[: len(surveyed)]  # a reason takes no second line
    assert header.split()[0] == "backend"
    assert {row.split()[0] for row in rows} == set(backends.NAMES)
    for row in rows:
        usable, _, reason = row.rpartition("  ")[2].partition(": ")
        assert usable == "yes" or (usable == "no" and len(reason) > 10)
    tests = [line for line in lines if line.startswith("self-test")]
    assert [line.split()[1] for line in tests] == [row.backend for row in surveyed if row.usable]
    assert all(line.endswith(": passed") for line in tests)


def test_a_device_that_computes_wrongly_is_left_out(wrong_devices):
    rows = backends.survey()
    assert {row.backend for row in rows} == set(backends.NAMES)
    assert not any(row.usable for row in rows)
    (row,) = (row for row in rows if row.backend == "cpu")
    assert row.reason == "failed its self-test: atomic sum 7 on cpu"
    with pytest.raises(backends.Unavailable, match="failed its self-test: atomic sum 7 on cpu"):
        backends.create("cpu")


def test_a_failure_is_not_remembered_but_a_pass_is(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    answers = iter([RuntimeError("the driver lost the device\nand says more"), "", "wrong again"])

    def run(_):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    monkeypatch.setattr(self_test, "find_failure", run)
    with pytest.raises(backends.Unavailable, match="RuntimeError: the driver lost the device$"):
        backends.create("python")
    backends.create("python")
    backends.create("python")
    assert list(answers) == ["wrong again"]


def test_an_unknown_backend_or_device_is_refused_with_those_that_exist():
    with pytest.raises(backends.Unavailable, match="choose one of python, cpu, threads"):
        backends.create("gpu")


def test_the_survey_names_a_stack_too_small_for_every_backend(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (64 << 10, resource.RLIM_INFINITY))
    rows = backends.survey()
    assert [row.backend for row in rows] == list(backends.NAMES)
    assert all(not row.usable and row.reason.startswith("a stack of 64 KiB: found by") for row in rows)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    backends.require_stack()
