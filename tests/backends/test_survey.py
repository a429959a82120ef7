"""``python -m backends``: every backend has a row, and a device that computes wrongly is left out with the reason."""

import subprocess
import sys
from pathlib import Path

import pytest

import backends
from backends import self_test

ROOT = Path(__file__).parents[2]


def table(*arguments):
    command = [sys.executable, "-m", "backends", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def wrong_devices(tmp_path, monkeypatch):
    """A machine on which no device was ever tested, and all compute wrongly."""
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setattr(self_test, "run", lambda backend: f"atomic sum 7 on {backend.name}")


def test_every_backend_has_a_row_and_the_unusable_ones_a_reason():
    done = table()
    assert done.returncode == 0 and done.stderr == ""
    header, *rows = done.stdout.splitlines()
    assert header.split()[0] == "backend"
    assert {row.split()[0] for row in rows} == set(backends.NAMES)
    assert len(rows) == len(backends.survey())  # a reason takes no second line
    for row in rows:
        usable, _, reason = row.rpartition("  ")[2].partition(": ")
        assert usable == "yes" or (usable == "no" and len(reason) > 10)
    assert next(row for row in rows if row.startswith("python")).endswith("yes")


def test_the_self_test_passes_on_every_usable_device():
    done = table("--self-test")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("self-test")]
    assert passed == [row.backend for row in backends.survey() if row.usable]
    assert all(line.endswith(": passed") for line in done.stdout.splitlines() if line.startswith("self-test"))


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
    answers = iter(["wrong", "", "wrong again"])
    monkeypatch.setattr(self_test, "run", lambda _: next(answers))
    with pytest.raises(backends.Unavailable):
        backends.create("python")
    backends.create("python")
    backends.create("python")
    assert list(answers) == ["wrong again"]


def test_a_driver_that_throws_is_left_out_with_one_line(tmp_path, monkeypatch):
    def broken(_):
        raise RuntimeError("the driver lost the device\nand says more")

    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setattr(self_test, "run", broken)
    with pytest.raises(backends.Unavailable) as caught:
        backends.create("cpu")
    assert str(caught.value).endswith("RuntimeError: the driver lost the device")


@pytest.mark.parametrize("name", ["", "gpu", "CPU"])
def test_an_unknown_backend_is_refused_with_the_names_that_exist(name):
    with pytest.raises(backends.Unavailable, match="choose one of python, cpu, threads"):
        backends.create(name)


def test_an_unknown_device_is_refused_with_those_that_exist():
    with pytest.raises(backends.Unavailable, match="cpu has no device 'teapot'; there are 0: "):
        backends.create("cpu", "teapot")


def test_a_stack_too_small_is_one_line_before_any_compiler_starts(environment):
    words = [sys.executable, "-m", "drivers.labs", "--instance", "9", "--iterations", "2", "--backend", "cpu"]
    for limit, code in ((768, 2), (1024, 0)):
        done = subprocess.run(
            ["sh", "-c", f'ulimit -s {limit} && exec "$@"', "sh", *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == code, done.stderr
        assert code == 0 or done.stderr == (
            "error: a stack of 768 KiB: found by `ulimit -s`, expected at least 1024, as by `ulimit -s 8192`\n"
        )


def test_the_survey_names_a_stack_too_small_for_every_backend(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (64 << 10, resource.RLIM_INFINITY))
    rows = backends.survey()
    assert [row.backend for row in rows] == list(backends.NAMES)
    assert all(not row.usable and row.reason.startswith("a stack of 64 KiB: found by") for row in rows)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    backends.require_stack()
