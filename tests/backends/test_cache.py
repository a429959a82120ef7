"""The cache of compiled kernels: many processes at once, no compiler when warm, no trust in damaged files."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import backends
from backends import cache
from backends.cpu import native
from tests.backends import kernels

ROOT = Path(__file__).parents[2]
LAUNCH = """
import sys
from tests.backends.test_cache import answers
print(answers("cpu"), "numba" in sys.modules)
"""
GROWN = [9 * k + 4 for k in range(5)]
SUMS = [3 * (3 + 3 * k + 1) + 9 * k + 4 for k in range(5)]
DAMAGES = (
    lambda content: content[:499] + bytes([content[499] ^ 0x10]) + content[500:],  # one byte
    lambda content: content[: len(content) // 2],
    lambda content: b"",
)


def answers(name):
    """Return the results of two recorded kernels on a backend without compiled kernels."""
    kind = backends.backend_class(name)
    backend = kind(kind.devices()[0])
    backend.is_pocl = (
        False  # PoCL has a separate cache; here it represents devices with programs in the project's cache
    )
    values, sums = backend.upload(np.arange(5, dtype=np.uint32)), backend.upload(np.ones(5, np.uint64))
    with backend.record() as sequence:
        backend.launch(kernels.grow, 2, 1, values, 5, 3)
        backend.launch(kernels.collect, 2, 1, values, 5, sums)
    sequence.replay(2)
    results = backend.download(values).tolist(), backend.download(sums).tolist()
    backend.close()
    return results


def start(folder):
    environment = {**os.environ, "ONEKERNEL_CACHE": str(folder), "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", LAUNCH], cwd=ROOT, env=environment, text=True, **pipes)


def finish(process):
    """Check a process's answers; True if it has imported numba."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    answer, _, imported = out.strip().rpartition(" ")
    assert answer == f"{(GROWN, SUMS)}"
    return imported == "True"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled") / "cache"
    assert finish(start(folder))
    return folder


@pytest.mark.slow
def test_processes_that_compile_the_same_kernels_at_once_leave_whole_files_alone(tmp_path):
    assert any([finish(process) for process in [start(tmp_path / "cache") for _ in range(4)]])
    names = sorted(path.name for path in tmp_path.glob("cache/*/*"))
    assert [name.split("-")[0] for name in names] == ["collect", "grow", "replay"]
    assert all(name.endswith(".o") for name in names)


def test_a_warm_cache_needs_no_compiler(filled):
    assert not finish(start(filled))


def test_damaged_files_are_noticed_and_made_anew(filled, tmp_path):
    folder = tmp_path / "cache"
    shutil.copytree(filled, folder)
    damaged = {}
    for path, damage in zip(sorted(folder.glob("*/*.o")), DAMAGES, strict=True):
        path.write_bytes(damage(path.read_bytes()))
        damaged[path] = path.read_bytes()
    assert finish(start(folder))
    assert sorted(folder.glob("*/*")) == sorted(damaged)
    assert all(path.read_bytes() != damaged[path] and cache.read_sealed(str(path)) for path in damaged)


@pytest.fixture
def cache_here(tmp_path, monkeypatch):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    cache._temporary_root.cache_clear()
    yield tmp_path / "cache"
    if cache._temporary_root.cache_info().currsize:
        shutil.rmtree(cache._temporary_root())
    cache._temporary_root.cache_clear()


def test_binaries_of_opencl_are_made_anew_if_they_are_damaged(opencl, cache_here):
    assert answers("opencl") == (GROWN, SUMS)
    paths = sorted(cache_here.glob("opencl/*.bin"))
    whole = [path.read_bytes() for path in paths]
    assert [path.name.split("-")[0] for path in paths] == ["collect", "grow"]
    for damage in DAMAGES:
        for path, content in zip(paths, whole, strict=True):
            path.write_bytes(damage(content))
        assert answers("opencl") == (GROWN, SUMS)
        assert all(cache.read_sealed(str(path)) for path in paths)  # the compiler's files differ a little


def test_numbas_settings_are_a_part_of_the_key(cache_here, monkeypatch):
    plain = native.object_path("a = 1", "entry")
    monkeypatch.setenv("NUMBA_OPT", "0")
    native._versions.cache_clear()
    try:
        assert native.object_path("a = 1", "entry") != plain
    finally:
        native._versions.cache_clear()


UNTRUSTED = {
    "Not a directory": lambda path: path.write_text(""),
    "is writable by all users": lambda path: path.mkdir() or path.chmod(0o777),
    "belongs to another user": lambda path: path.mkdir() or os.chown(path, 12345, 12345),
}


@pytest.mark.parametrize("reason", UNTRUSTED)
def test_a_cache_that_cannot_be_trusted_is_left_alone_with_one_warning(reason, cache_here):
    if "user" in reason and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    UNTRUSTED[reason](cache_here)
    with pytest.warns(cache.CacheWarning, match=reason) as caught:
        folders = [cache.cache_folder(kind) for kind in ("objects", "self-test", "objects")]
    assert len(caught) == 1
    assert folders[0] == folders[2] != folders[1]
    assert not Path(folders[0]).is_relative_to(cache_here)
    path = os.path.join(folders[0], "kept")
    assert cache.write_sealed(path, b"code") == path and cache.read_sealed(path) == b"code"


def test_a_file_of_another_name_or_another_user_is_not_run(cache_here):
    first = os.path.join(cache.cache_folder("objects"), "first")
    assert cache.write_sealed(first, b"machine code") == first
    assert cache.read_sealed(first) == b"machine code"
    shutil.copy(first, first + "-copied")
    assert cache.read_sealed(first + "-copied") is None
    if os.geteuid() == 0:  # only root gives files away
        os.chown(first, 12345, 12345)
        assert cache.read_sealed(first) is None


def test_a_full_disk_costs_the_cache_and_not_the_run(cache_here, monkeypatch):
    path = os.path.join(cache.cache_folder("objects"), "large")
    real = open

    def full(name, mode="r", **how):
        if str(cache_here) in str(name) and "x" in mode:
            raise OSError(28, "No space left on device")
        return real(name, mode, **how)

    monkeypatch.setattr("builtins.open", full)
    with pytest.warns(cache.CacheWarning, match="No space left on device"):
        kept = cache.write_sealed(path, b"code")
    assert kept != path and cache.read_sealed(kept) == b"code"


def test_every_symbol_of_an_object_is_its_own(cache_here):
    """Two processes give their first kernels the same name."""
    source = "from backends.emit.cpu_operations import team_function\n\ndef entry(a, b, c, slots):\n    pass{}\n"
    symbols = []
    for text in (source.format(""), source.format("  # another program")):
        content = cache.read_sealed(native.compile_object(text, native.object_path(text, "entry")))
        symbols.append(content.partition(b"\n")[0].decode())
        assert hashlib.sha256(text.encode()).hexdigest()[:16] in symbols[-1]
    assert symbols[0] != symbols[1]
