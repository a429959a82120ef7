"""Emitted modules are compiled by parts of numba, apart from the functions that a user compiles by numba."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import native

ROOT = Path(__file__).parents[2]

KERNEL = """
import numpy as np
import backends
from tests.backends import kernels
grown = []
for name in ("cpu", "python"):
    kind = backends.backend_class(name)
    backend = kind(kind.devices()[0])
    values = backend.upload(np.arange(5, dtype=np.uint32))
    backend.launch(kernels.grow, 2, 1, values, 5, 3)
    grown.append(backend.download(values).tolist())
assert grown[0] == grown[1], grown
"""
FUNCTION = """
import math
import numba
import numpy as np
@numba.njit
def norms(rows):
    names = {k: str(k) for k in range(len(rows))}
    return np.array([math.sqrt((row * row).sum()) for row in rows]), len(names)
found, count = norms(np.array([[3.0, 4.0], [5.0, 12.0]]))
assert found.tolist() == [5.0, 13.0] and count == 2, found
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [KERNEL + FUNCTION, FUNCTION + KERNEL])
def test_functions_of_a_user_compile_before_and_after_kernels(program, tmp_path):
    environment = {**os.environ, "ONEKERNEL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(source, tmp_path, results):
    """Compile an emitted module and run one team, with an array of ``results`` numbers; returns the array."""
    sums = np.zeros(results, np.int32)
    slots = np.array([sums.ctypes.data], np.uint64)
    native.load(native.compile_object(source, str(tmp_path / "entry.o")))(0, 1, 5, slots.ctypes.data)
    return sums.tolist()


NEVER_INLINED = """
from backends.emit.cpu_operations import (
    add_i32, literal_i32, lt_i32, never_inlined, pointer_i32, separate_function, single_function, store, team_function
)

@separate_function()
def inner(x):
    never_inlined()
    return add_i32(x, literal_i32(1))

@separate_function()
def outer(x):
    never_inlined()
    return add_i32(inner(x), inner(add_i32(x, literal_i32(10))))

@team_function()
def least(x, is_least):
    y = inner(x)
    flag = True
    if lt_i32(x, literal_i32(7)) and not is_least:
        flag = is_least
    return (y if flag else outer(x))

@single_function()
def kernel(sums, x):
    store(sums, literal_i32(0), outer(x))
    store(sums, literal_i32(1), least(x, False))
    store(sums, literal_i32(2), least(x, True))

def entry(begin, end, count, slots):
    kernel(pointer_i32(slots, 0), count)
"""


def test_functions_that_are_never_inlined_call_each_other(tmp_path):
    assert run(NEVER_INLINED, tmp_path, 3) == [22, 22, 6]
