"""The lines that kernels are said to have reached are those that Python's own tracer sees."""

import importlib.util
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from backends.python import PythonBackend
from core.lang import oracle
from tests import kernel_coverage
from tests.kernel_coverage import KernelCoverage, lines_of_kernels, table

TEXT = '''\
from core.lang import *

def made(bound):
    @function
    def first(a: Array[i32], wanted: i32) -> i32:
        """Sought one by one."""
        at = 0
        while True:
            if a[at] > bound:
                break
            elif a[at] == wanted:
                return (
                    at
                )
            at += 1
            continue
        return at

    return first

first = made(5)

@kernel
def k(a: Array[i32], n: i32):
    total = 0
    for i in range(n):
        for k in unroll(2):
            if k == 1:
                total += a[i] + k
            else:
                pass
    if lane() == 0:
        a[0] = first(a, 2)
    elif total < 0:
        a[0] = (
            total
        )
    while n < 0:
        n += 1
'''
NOT_REACHED = [10, 17, 35, 39]  # with 3, 1, 2, 0 and two lanes


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    """A recorder that marks the lines of a suite in a folder."""
    monkeypatch.setattr(kernel_coverage, "FOLDER", tmp_path)
    monkeypatch.setattr(kernel_coverage, "ROOT", tmp_path)
    made = KernelCoverage()
    monkeypatch.setattr(oracle, "watch", made.add_marks)
    (tmp_path / "program.py").write_text(TEXT)
    return made


def launch(path):
    """Run the kernel of `TEXT`."""
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.launch(module.k, 1, 2, backend.upload(np.array([3, 1, 2, 0], np.int32)), 4)


def test_the_lines_are_those_that_a_tracer_sees(recorder, tmp_path):
    seen = set()

    def lines(frame, event, _):
        if event == "line" and frame.f_code.co_filename == str(tmp_path / "program.py"):
            seen.add(frame.f_lineno)
        return lines

    before = sys.gettrace()
    sys.settrace(lines)
    try:
        launch(tmp_path / "program.py")
    finally:
        sys.settrace(before)
    every = lines_of_kernels(TEXT)
    marks = [n for n in every if recorder.reached["program.py"][n]]
    assert marks == sorted(seen.intersection(every))
    assert [n for n in every if n not in marks] == NOT_REACHED
    rows = list(table({"program.py": every, "other.py": [3, 4, 9], "without.py": []}, recorder.reached))
    assert rows == [
        "program.py  80.9 %  not 10, 17, 35, 39",
        "other.py     0.0 %  not 3-9",
        "all         70.8 % of 24 lines",
    ]


def test_what_workers_saw_is_added_up():
    one, two, here = KernelCoverage(), KernelCoverage(), KernelCoverage()
    one.reached, two.reached = {"a.py": bytearray([0, 1, 0])}, {"a.py": bytearray([0, 0, 1]), "b.py": bytearray([1])}
    for worker in (one, two):
        node = SimpleNamespace(workeroutput={})
        worker.pytest_sessionfinish(SimpleNamespace(config=node))
        here.pytest_testnodedown(node)
    here.pytest_testnodedown(SimpleNamespace())  # a worker that crashed
    assert here.reached == {"a.py": bytearray([0, 1, 1]), "b.py": bytearray([1])}
