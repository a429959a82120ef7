"""CUDA C++ computes what the language says: NVRTC's input, compiled for the host, which needs no GPU.

`test_cuda_ptx` runs searches in the same way.
"""

import pytest

from tests.backends.host_cuda import HostCuda
from tests.backends.test_conformance import CASES, TEAM_SIZES, same
from tests.core.lang import test_language_page as page

QUICK = {"atomics of i64": 7, "barriers in loops": 256, "bundles in shared memory": 32, "elements of all types": 1}
"""Cases of `make test`, and the sizes of their teams."""


@pytest.mark.parametrize(
    ("name", "sizes"),
    [*((name, [size]) for name, size in QUICK.items()),
     *(pytest.param(name, TEAM_SIZES, marks=pytest.mark.slow, id=name) for name in CASES)],
)  # fmt: skip
def test_kernels_compute_what_numpy_computes(name, sizes):
    for size in sizes:
        same(*CASES[name](HostCuda(), size))


def test_lines_of_the_language_page_store_what_they_say(tmp_path):
    stored = page.run(HostCuda, page.everything(tmp_path))
    found = {key: stored[8 * k :][: len(page.RESULTS[key][1])].tolist() for k, key in enumerate(page.RESULTS)}
    assert found == {key: values for key, (_, values) in page.RESULTS.items()}
