"""Backends that a process keeps, and compiled kernels that later backends find."""

import gc
import os
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import backends
from backends import kept
from backends.cpu.single_core import CpuBackend
from backends.executables import Executables
from core.lang import Array, function, i32, kernel
from tests.core.lang.module_texts import loaded

TEXT = """
from core.lang import Array, function, i32, kernel

FACTOR = 3
SHAPES = (1, 2)


@function
def scaled(x: i32) -> i32:
    return FACTOR * x + SHAPES[1]


@kernel
def scale(out: Array[i32]):
    out[0] = scaled(out[0])


def made(by):
    @kernel
    def multiply(out: Array[i32]):
        out[0] = out[0] * by

    def change(to):
        nonlocal by
        by = to

    return multiply, change
"""


@kernel
def store(out: Array[i32], value: i32):
    out[0] = value


@pytest.fixture
def compiled(monkeypatch):
    names = []
    compile_ = CpuBackend.compile

    def counted(self, program):
        names.append(program.kernel.name)
        return compile_(self, program)

    monkeypatch.setattr(CpuBackend, "compile", counted)
    return names


@pytest.fixture(autouse=True)
def nothing_idle():
    kept.close_idle()
    yield
    kept.close_idle()


@pytest.fixture
def few_objects():
    """The collector looks at the objects of one test alone: those of a whole run take seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


def result(backend, kernel, value, *more):
    out = backend.upload(np.array([value], np.int32))
    backend.launch(kernel, 1, 1, out, *more)
    return int(backend.download(out)[0])


def test_a_backend_rests_without_times_launches_and_compiled_names():
    backend = kept.take("cpu")
    for value in range(4):
        assert result(backend, store, 0, value) == value
    assert backend.timings.kernel_s > 0
    kept.give_back(backend)
    assert backend.timings.kernel_s == backend.timings.compile_s == backend.timings.copied_bytes == 0
    assert not backend.compiled_here
    assert not any(reader and reader.kept for reader in backend.launch_cache.readers[store].values())
    assert result(kept.take("cpu"), store, 0, 7) == 7


def test_only_backends_of_take_are_kept_and_only_a_few(monkeypatch):
    closed = []
    monkeypatch.setattr(CpuBackend, "close", lambda self: closed.append(self))
    own = backends.create("cpu")
    kept.give_back(own)
    opened = [kept.take("cpu") for _ in range(kept.MOST_IDLE + 1)]
    for one in opened:
        kept.give_back(one)
    assert closed == [own, opened[-1]]


def test_a_thread_has_backends_of_its_own():
    kept.give_back(mine := kept.take("cpu"))
    others = []
    thread = threading.Thread(target=lambda: others.append(kept.take("cpu")))
    thread.start()
    thread.join()
    assert others[0] is not mine and kept.take("cpu") is mine


def test_other_cores_are_other_backends():
    kept.give_back(backend := kept.take("threads", None, 1))
    other = kept.take("threads")
    assert other is not backend and other.workers == len(os.sched_getaffinity(0))
    other.close()


def test_joblibs_processes_end_with_a_run():
    backend = kept.take("joblib", None, 1)
    ended = []
    backend.pool = SimpleNamespace(shutdown=lambda **_: ended.append(backend))
    kept.give_back(backend)
    assert ended == [backend] and kept.take("joblib", None, 1) is not backend


def test_buffers_go_with_their_run(few_objects):
    backend = kept.take("cpu")
    values = backend.upload(np.zeros(1, np.int32))
    for k in range(3):
        backend.launch(store, 1, 1, values, k)
    with backend.record() as sequence:
        backend.launch(store, 1, 1, values, 4)
    sequence.replay(2)
    gone = weakref.ref(values)
    kept.give_back(backend)
    del values, sequence
    gc.collect()
    assert gone() is None


def test_a_new_backend_finds_what_another_compiled(compiled):
    @kernel
    def add(out: Array[i32], value: i32):
        out[0] = out[0] + value

    first, second = backends.create("cpu"), backends.create("cpu")
    assert result(first, add, 1, 2) == 3
    assert result(second, add, 2, 2) == 4
    assert compiled == ["add"]
    assert first.timings.compile_s > 0 and second.timings.compile_s == 0


def test_a_constant_of_another_type_is_compiled_anew(tmp_path, compiled):
    module, backend = loaded(tmp_path, TEXT), backends.create("cpu")
    assert result(backend, module.scale, 5) == 17
    module.FACTOR = 3.0
    with pytest.raises(backends.device.UserError, match="i32"):
        result(backend, module.scale, 5)
    assert compiled == ["scale"]


@function
def scaled(x: i32) -> i32:
    return x - 1


CHANGES = {
    "a constant": (lambda module: setattr(module, "FACTOR", 10), 52),
    "a tuple": (lambda module: setattr(module, "SHAPES", (1, 4)), 19),
    "a function defined again": (lambda module: setattr(module, "scaled", scaled), 4),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_kernel_reads_of_its_module_is_compiled_anew_if_it_changes(tmp_path, change):
    module, backend = loaded(tmp_path, TEXT), backends.create("cpu")
    out = backend.upload(np.zeros(1, np.int32))

    def scale_again():
        backend.write(out, np.array([5], np.int32))
        backend.launch(module.scale, 1, 1, out)
        return int(backend.download(out)[0])

    assert [scale_again() for _ in range(4)] == [17] * 4
    act, expected = CHANGES[change]
    act(module)
    assert scale_again() == result(backends.create("python"), module.scale, 5) == expected


def test_a_variable_of_an_outer_function_that_changes_is_compiled_anew(tmp_path):
    multiply, change = loaded(tmp_path, TEXT).made(3)
    backend = backends.create("cpu")
    assert result(backend, multiply, 5) == 15
    change(4)
    assert result(backend, multiply, 5) == 20


def test_a_module_that_is_loaded_again_has_other_kernels(tmp_path):
    backend = kept.take("cpu")
    path = tmp_path / "program.py"
    scales = []
    for text in (TEXT, TEXT.replace("FACTOR * x", "FACTOR + x + 0")):
        path.write_text(text)
        scope = {"__name__": "program"}
        exec(compile(text, str(path), "exec"), scope)
        scales.append(scope["scale"])
        assert result(backend, scales[-1], 5) == (17, 10)[len(scales) - 1]
        kept.give_back(backend)
        assert kept.take("cpu") is backend
    assert result(backend, scales[0], 5) == 17


def test_executables_go_with_their_kernel(few_objects):
    backend = backends.create("cpu")
    backend.executables = Executables()

    def use():
        @kernel
        def passing(out: Array[i32]):
            out[0] = out[0] + 1

        for _ in range(3):
            assert result(backend, passing, 1) == 2
        assert len(backend.executables.kernels) == 1

    use()
    gc.collect()
    assert not backend.executables.kernels
