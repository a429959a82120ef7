"""Repeated calls from Python: nothing is compiled again, and nothing is left of them."""

import gc
from dataclasses import fields

import pytest

import onekernel as ok
from backends import kept
from backends.cpu.single_core import CpuBackend
from backends.device import Buffer
from backends.launch import Backend
from core.lang import Kernel
from core.lang.front import translator
from drivers.runs.workload_main import parse_options
from tests.drivers.small_runs import QUICK, workload_of


def called(name, **more):
    """Call a program's small run with its options as keywords."""
    options = parse_options(workload_of(name), "", QUICK[name].split())
    given = {one.name: value for one in fields(options) if (value := getattr(options, one.name)) != one.default}
    return ok.run(name, **given, **more)


@pytest.mark.parametrize("name", QUICK)
def test_a_repeated_call_translates_and_compiles_nothing(name, monkeypatch):
    first = called(name)

    def refuse(*_):
        raise AssertionError("translated or compiled again")

    monkeypatch.setattr(translator, "translate", refuse)
    monkeypatch.setattr(CpuBackend, "compile", refuse)
    again = called(name)
    assert (again.hash, again.cost) == (first.hash, first.cost)


def test_the_first_call_says_how_long_it_compiled_and_a_repeated_one_next_to_nothing(monkeypatch):
    compile_ = CpuBackend.compile
    monkeypatch.setattr(CpuBackend, "shares_executables", False)
    slow = []

    def compile_slowly(self, program):
        import time

        time.sleep(0.2)
        slow.append(program)
        return compile_(self, program)

    monkeypatch.setattr(CpuBackend, "compile", compile_slowly)
    monkeypatch.setattr(kept, "_idle", kept.IdleBackends())
    first, again = (called("ihc") for _ in range(2))
    assert slow
    assert first.compile_seconds >= 0.2 * len(slow) > again.compile_seconds


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lcs", "qap"])
def test_nothing_is_left_of_repeated_calls(name):
    def alive():
        gc.collect()
        objects = gc.get_objects()
        # By `type`: `isinstance` evaluates weak proxies, and their objects may be deleted.
        return [sum(issubclass(type(one), kind) for one in objects) for kind in (Buffer, Kernel, Backend)]

    for _ in range(3):
        called(name)
    before = alive()
    for _ in range(4):
        called(name)
    # Objects of other tests may go meanwhile.
    assert all(now <= then for now, then in zip(alive(), before, strict=True))


def test_a_call_within_a_call_has_a_device_of_its_own():
    inner = []

    def callback(progress):
        if not inner:
            inner.append(called("ihc").hash)

    outer = called("ihc", callback=callback)
    assert inner == [outer.hash]
