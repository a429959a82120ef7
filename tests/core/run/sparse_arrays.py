"""Arrays that hold only the elements that were written, so the largest ones cost no memory, and launches on them.

The reference interpreter raises beyond 32 bits. Only the team with the greatest indices runs.
"""

import builtins

import numpy as np
import pytest

from backends.device import Buffer
from backends.python import PythonBackend
from core.lang import reference_interpreter

WORDS = 2**31 - 1
ORACLE = PythonBackend(PythonBackend.devices()[0])
NARROW, WIDE = np.uint16, np.uint32


class Sparse:
    """An array of any size that holds what was written, and ``fill`` elsewhere."""

    def __init__(self, size, dtype, fill=0, start=0, held=None):
        self.size, self.dtype, self.fill, self.start = size, np.dtype(dtype), fill, start
        self.held = {} if held is None else held

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Sparse(self.size - index.start, self.dtype, self.fill, self.start + index.start, self.held)
        return self.dtype.type(self.held.get(self.start + index, self.fill))

    def __setitem__(self, index, value):
        self.held[self.start + index] = value


def virtual(size, dtype, fill=0, **elements):
    """A buffer of ``size`` elements that takes no memory."""
    buffer = Buffer(Sparse(int(size), dtype, fill), (int(size),), dtype)
    buffer.handle.held.update(elements.get("held", ()))
    return buffer


def words(*values, dtype=np.int32):
    return ORACLE.upload(np.array(values, dtype))


@pytest.fixture
def team(monkeypatch):
    def run(kernel, teams, team_size, *arguments, rank=None):
        launch = ORACLE.bind(kernel, teams, team_size, arguments)
        assert teams != team_size
        rank = teams - 1 if rank is None else rank

        def only(*bounds):
            return builtins.range(rank, rank + 1) if bounds == (teams,) else builtins.range(*bounds)

        with monkeypatch.context() as patch:
            patch.setattr(reference_interpreter, "range", only, raising=False)
            ORACLE.execute(launch)

    return run


def overflows(run, *arguments, **named):
    with pytest.raises(OverflowError):
        run(*arguments, **named)
