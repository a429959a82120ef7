"""Repeated calls from Python: nothing is compiled again, and nothing is left of them."""

import gc

import pytest

import onekernel as ok
from backends import kept
from backends.cpu.single_core import CpuBackend
from backends.device import Buffer
from backends.launch import Backend
from core.lang import Kernel
from core.lang.front import translator

SHORT_CALLS = (
    ("ihc", {"instance": "uniform:20:seed=1", "climbers": 10}),
    ("aco", {"instance": "uniform:20:seed=1", "ants": 8, "iterations": 2}),
    ("exact", {"instance": "uniform:9:seed=1"}),
    ("lcs", {"text": ("ABCBDAB", "BDCABA")}),
    ("knapsack", {"items": 30, "capacity": 500}),
    ("heldkarp", {"instance": "uniform:8:seed=1"}),
    ("tsp", {"instance": "uniform:20:seed=1", "iterations": 5}),
    ("qap", {"instance": "taillard:12:seeds=3,4", "iterations": 5}),
    ("ppp", {"instance": "11-11:seed=5", "iterations": 5}),
    ("weierstrass", {"instance": "4", "points": 5, "iterations": 5}),
)


def called(call):
    workload, options = call
    return ok.run(workload, **options, backend="cpu")


@pytest.mark.parametrize("call", SHORT_CALLS, ids=lambda call: call[0])
def test_a_repeated_call_translates_and_compiles_nothing(call, monkeypatch):
    first = called(call)

    def refuse(*_):
        raise AssertionError("translated or compiled again")

    monkeypatch.setattr(translator, "translate", refuse)
    monkeypatch.setattr(CpuBackend, "compile", refuse)
    again = called(call)
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
    first, again = (called(SHORT_CALLS[0]) for _ in range(2))
    assert slow
    assert first.compile_seconds >= 0.2 * len(slow) > again.compile_seconds


@pytest.mark.slow
@pytest.mark.parametrize("call", [SHORT_CALLS[3], SHORT_CALLS[7]], ids=lambda call: call[0])
def test_nothing_is_left_of_repeated_calls(call):
    def alive():
        gc.collect()
        objects = gc.get_objects()
        # By `type`: `isinstance` evaluates weak proxies, and their objects may be deleted.
        return [sum(issubclass(type(one), kind) for one in objects) for kind in (Buffer, Kernel, Backend)]

    for _ in range(3):
        called(call)
    before = alive()
    for _ in range(4):
        called(call)
    # Objects of other tests may go meanwhile.
    assert all(now <= then for now, then in zip(alive(), before, strict=True))


def test_a_call_within_a_call_has_a_device_of_its_own():
    inner = []

    def callback(progress):
        if not inner:
            inner.append(called(SHORT_CALLS[0]).hash)

    outer = ok.run("ihc", instance="uniform:20:seed=1", climbers=10, backend="cpu", callback=callback)
    assert inner == [outer.hash]
