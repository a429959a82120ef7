"""The cache of compiled kernels: many processes at once, no compiler when warm, no trust in damaged files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import backends

ROOT = Path(__file__).parents[2]
LAUNCH = """
import sys
import numpy as np
import backends
from tests.backends import kernels

kind = backends.backend_class(sys.argv[1])
backend = kind(kind.devices()[0])
backend.is_pocl = False  # PoCL keeps its own cache; here it stands for devices whose programs the suite keeps
values, sums = backend.upload(np.arange(5, dtype=np.uint32)), backend.upload(np.ones(5, np.uint64))
with backend.record() as sequence:
    backend.launch(kernels.grow, 2, 1, values, 5, 3)
    backend.launch(kernels.collect, 2, 1, values, 5, sums)
sequence.replay(2)
print(backend.download(values).tolist(), backend.download(sums).tolist(), "numba" in sys.modules)
backend.close()
"""
GROWN = [9 * k + 4 for k in range(5)]
SUMS = [3 * (3 + 3 * k + 1) + 9 * k + 4 for k in range(5)]


@pytest.fixture(params=["cpu", "opencl"])
def name(request):
    try:
        kind = backends.backend_class(request.param)
        kind(kind.devices()[0])
    except backends.Unavailable as error:
        pytest.skip(str(error))
    return request.param


@pytest.fixture
def start(tmp_path):
    """Start a process that launches two kernels with the test's own cache; PoCL's own cache moves too."""
    environment = {
        **os.environ,
        "ONEKERNEL_CACHE": str(tmp_path / "cache"),
        "POCL_CACHE_DIR": str(tmp_path / "pocl"),
        "PYTHONPATH": str(ROOT),
    }

    def process(name):
        command = [sys.executable, "-c", LAUNCH, name]
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    return process


def finish(process):
    """Check a process's answers; whether it has imported numba."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    answers, _, imported = out.strip().rpartition(" ")
    assert answers == f"{GROWN} {SUMS}"
    return imported == "True"


def compiled_files(folder):
    """The files of an object or binary cache, without what a writer may have left."""
    return sorted(p for p in folder.glob("cache/*/*") if p.suffix in (".o", ".bin"))


def test_processes_that_compile_the_same_kernels_at_once_all_succeed(start, tmp_path):
    for process in [start("cpu") for _ in range(4)]:
        finish(process)
    left = [p.name for p in tmp_path.glob("cache/*/*") if p.suffix != ".o"]
    assert compiled_files(tmp_path) and left == []


def test_a_warm_cache_needs_no_compiler(start):
    assert finish(start("cpu"))
    assert not finish(start("cpu"))


@pytest.mark.parametrize("damage", ["cut short", "one byte changed", "empty"])
def test_a_damaged_file_is_noticed_and_made_anew(name, damage, start, tmp_path):
    finish(start(name))
    paths = compiled_files(tmp_path)
    assert len(paths) >= 2
    whole = {path: path.read_bytes() for path in paths}
    for path, content in whole.items():
        changed = bytearray(content)
        changed[len(changed) // 2] ^= 0x10
        path.write_bytes({"cut short": content[: len(content) // 2], "empty": b""}.get(damage, bytes(changed)))
        assert path.read_bytes() != content
    damaged = {path: path.read_bytes() for path in paths}
    compiled = finish(start(name))
    assert compiled or name != "cpu"
    assert compiled_files(tmp_path) == paths
    assert all(path.read_bytes() != damaged[path] and len(path.read_bytes()) > 1000 for path in paths)
    assert not finish(start(name))


def test_what_another_process_compiled_is_taken_over_only_if_whole(tmp_path, monkeypatch):
    import numpy as np

    from backends.cpu import CpuBackend
    from tests.backends import kernels

    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    backend = CpuBackend(CpuBackend.devices()[0])
    backend.launch(kernels.grow, 1, 1, backend.upload(np.zeros(1, np.uint32)), 1, 3)
    (path,) = backend.known.values()
    assert backend.reload(path) == path
    damaged = Path(path).with_name("damaged-" + Path(path).name)
    damaged.write_bytes(Path(path).read_bytes()[:-1])
    assert backend.reload(str(damaged)) is None
    assert backend.reload(str(damaged) + ".missing") is None
