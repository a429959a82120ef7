"""The lines that kernels are said to have reached are those that ran."""

import importlib.util

import numpy as np

from backends.python import PythonBackend
from core.lang import reference_interpreter
from tests import kernel_coverage
from tests.kernel_coverage import KernelCoverage, lines_of_kernels, table

TEXT = '''\
from core.lang import *

@function
def first(a: Array[i32]) -> i32:
    """Only statements count."""
    if a[0] > 5:
        return 1
    return (
        a[0]
    )

@kernel
def k(a: Array[i32], n: i32):
    total = 0
    for i in range(n):
        for k in unroll(2):
            total += a[i] + k
    if lane() == 0:
        a[0] = first(a)
    elif total < 0:
        a[0] = 7
    while n > 8:
        if total > 5:
            continue
        n += 1
'''
NOT_REACHED = [7, 21, 23, 24, 25]  # with 3, 1, 2, 0 and two lanes


def test_lines_are_marked_when_they_are_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_coverage, "FOLDER", tmp_path)
    monkeypatch.setattr(kernel_coverage, "ROOT", tmp_path)
    recorder, path = KernelCoverage(), tmp_path / "program.py"
    monkeypatch.setattr(reference_interpreter, "coverage_hook", recorder.add_marks)
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.launch(module.k, 1, 2, backend.upload(np.array([3, 1, 2, 0], np.int32)), 4)
    numbers = lines_of_kernels(TEXT)
    assert numbers == [6, 7, 8, *range(14, 26)]
    assert [n for n in numbers if not recorder.reached["program.py"][n]] == NOT_REACHED
    rows = list(table({"program.py": numbers, "other.py": [3, 4, 9], "without.py": []}, recorder.reached))
    assert rows == [
        "program.py  66.6 %  not 7, 21, 23-25",
        "other.py     0.0 %  not 3-9",
        "all         55.5 % of 18 lines",
    ]
