"""Fixtures of the whole suite, and the summary that tells which backends were tested and why others were not."""

import os
from pathlib import Path

import pytest

import backends

SHARED_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
DEMANDED = [name for name in os.environ.get("ONEKERNEL_BACKENDS", "").split(",") if name]
tested: dict[str, str] = {}


@pytest.fixture(scope="session")
def shared_data():
    """The folder of TSPLIB and other instances beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no instances beside the checkout (../shared/data)")
    return SHARED_DATA.resolve()


def _made(name):
    try:
        return backends.create(name)
    except backends.Unavailable as error:
        if name in DEMANDED:
            pytest.fail(f"backend {name} was demanded by ONEKERNEL_BACKENDS: {error}")
        tested[name] = f"not tested: {error}"
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=backends.NAMES)
def backend(request):
    """Each backend that this machine can use; ``ONEKERNEL_BACKENDS=cpu,opencl`` demands some."""
    made = _made(request.param)
    tested[request.param] = f"tested on {made.device.name}"
    yield made
    made.close()


def pytest_report_header():
    """Say before the run which backends it will test."""
    lines = []
    for row in backends.survey():
        state = f"{row.name} ({row.driver})" if row.usable else f"not tested: {row.reason}"
        if row.backend == "cuda" and not row.usable:
            state += "; its kernels are compiled to PTX and run in numba's simulator"
        lines.append(f"backend {row.backend}: {state}")
    return lines
