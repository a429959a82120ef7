"""Random programs mean the same as plain Python, as machine code and in OpenCL C, bit for bit."""

import secrets

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.core.lang import programs

PER_KERNEL, ROWS = 14, 48
TEAM_SIZES = {"python": 4, "cpu": 1, "opencl": 1}


def disagreement(backend, kernel, texts, columns, expected):
    """First program and row where a backend differs from plain Python, or an empty text."""
    valid, whole, real = expected
    outputs = programs.launched(backend, TEAM_SIZES[backend.name], kernel, columns, valid)
    wrong = (outputs[0] != whole) | (outputs[1].view(np.uint64) != real.view(np.uint64))
    if not wrong.any():
        return ""
    place = int(np.flatnonzero(wrong)[0])
    k, row = divmod(place, ROWS)
    given_values = {name: column[row] for name, column in columns.items()}
    (kind, text), integers = texts[k], texts[k][0] not in programs.FLOATS
    pair = (outputs[0][place], whole[place]) if integers else (outputs[1][place], real[place])
    return f"{backend.name} gives {pair[0]}, plain Python {pair[1]} for {given_values}:\n-> {kind}\n{text}"


def check(devices, kernels, number):
    """Draw ``kernels`` times `PER_KERNEL` programs and compare; return the numbers of programs and results.

    `number` is the seed, unless new examples are requested.
    """
    number = number if settings.default.derandomize else secrets.randbits(32)
    columns = programs.rows(ROWS)
    tally = np.zeros(3, np.int64)

    @seed(number)
    @settings(
        max_examples=kernels,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.lists(programs.programs(), min_size=PER_KERNEL, max_size=PER_KERNEL))
    def compare(drawn):
        texts = [one for one in drawn if not programs.is_refused(*one)]
        kernel, _ = programs.packed(texts)
        expected = programs.expected(kernel, texts, columns)
        tally[:] += len(set(texts)), int(expected[0].sum()), expected[0].size
        for backend in devices:
            wrong = disagreement(backend, kernel, texts, columns, expected)
            assert not wrong, f"seed {number}: {wrong}"

    compare()
    return tally


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("number", "kernels"),
    [(0, 2), pytest.param(1, 12, marks=pytest.mark.slow), pytest.param(4, 800, marks=pytest.mark.long)],
)
def test_programs_agree(devices, number, kernels):
    different, valid, total = check(devices, kernels, number)
    assert different >= 9 * (kernels - 1)  # the first draw is the simplest
    assert valid > 0.6 * total  # the others are errors, such as an overflow
