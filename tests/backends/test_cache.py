"""The cache of compiled kernels: many processes at once, no compiler when warm, no trust in damaged files."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import backends
from backends import cache, native

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
        backends.create(request.param).close()
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

    def process(name, **variables):
        command = [sys.executable, "-c", LAUNCH, name]
        settings = environment | variables
        return subprocess.Popen(
            command, cwd=ROOT, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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
    (path,) = backend.compiled_earlier.values()
    assert backend.reload(path) == path
    damaged = Path(path).with_name("damaged-" + Path(path).name)
    damaged.write_bytes(Path(path).read_bytes()[:-1])
    assert backend.reload(str(damaged)) is None
    assert backend.reload(str(damaged) + ".missing") is None


def test_numbas_settings_are_a_part_of_the_key(start, tmp_path):
    assert finish(start("cpu", NUMBA_OPT="0"))
    assert not finish(start("cpu", NUMBA_OPT="0"))  # code that names numba's runtime runs without it
    assert finish(start("cpu"))
    names = [path.name.split("-")[0] for path in compiled_files(tmp_path)]
    assert names == ["collect", "collect", "grow", "grow", "replay", "replay"]


def test_a_file_copied_over_another_is_noticed_and_made_anew(start, tmp_path):
    finish(start("cpu"))
    grow, collect = (next(tmp_path.glob(f"cache/objects/{name}-*.o")) for name in ("grow", "collect"))
    shutil.copy(collect, grow)
    assert finish(start("cpu"))
    assert grow.read_bytes() != collect.read_bytes()


@pytest.fixture
def cache_here(tmp_path, monkeypatch):
    """A cache of this test's own, in this process, without a temporary one from another test."""
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path / "cache"))
    cache._temporary_root.cache_clear()
    yield tmp_path / "cache"
    if cache._temporary_root.cache_info().currsize:
        shutil.rmtree(cache._temporary_root())
    cache._temporary_root.cache_clear()


def test_a_seal_is_that_of_one_name(cache_here):
    folder = Path(cache.cache_folder("objects"))
    first, second = str(folder / "first"), str(folder / "second")
    assert cache.write_sealed(first, b"machine code") == first
    assert cache.read_sealed(first) == b"machine code"
    shutil.copy(first, second)
    assert cache.read_sealed(second) is None


def not_a_folder(path):
    path.write_text("")


def anybodys(path):
    path.mkdir()
    path.chmod(0o777)


def of_another_user(path):
    path.mkdir()
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (not_a_folder, "Not a directory"),
        (anybodys, "everybody may write to"),
        (of_another_user, "belongs to another user"),
    ],
)
def test_a_cache_that_cannot_be_trusted_is_left_alone_with_one_warning(make, reason, cache_here):
    if make is of_another_user and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    make(cache_here)
    with pytest.warns(cache.CacheWarning, match=reason) as caught:
        folders = [cache.cache_folder(kind) for kind in ("objects", "self-test", "objects")]
    assert len(caught) == 1
    assert folders[0] == folders[2] != folders[1]
    assert not Path(folders[0]).is_relative_to(cache_here)
    path = os.path.join(folders[0], "kept")
    assert cache.write_sealed(path, b"code") == path and cache.read_sealed(path) == b"code"


def test_a_file_of_another_user_is_not_run(cache_here):
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    path = cache.write_sealed(os.path.join(cache.cache_folder("objects"), "planted"), b"code")
    os.chown(path, 12345, 12345)
    assert cache.read_sealed(path) is None


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


def test_without_a_cache_a_run_compiles_and_says_so_in_one_line(start, tmp_path):
    (tmp_path / "cache").write_text("")
    process = start("cpu")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and out.startswith(f"{GROWN} {SUMS}")
    assert err.count("CacheWarning: no cache of compiled kernels") == 1


def test_every_symbol_of_an_object_is_its_own(cache_here):
    """Two processes name their first kernels alike; the names of their symbols must still differ."""
    source = "from backends.emit.cpu_words import team_function\n\ndef entry(a, b, c, slots):\n    pass{}\n"
    symbols = []
    for text in (source.format(""), source.format("  # another program")):
        content = cache.read_sealed(native.compile_object(text, native.object_path(text, "entry")))
        header = json.loads(content.partition(b"\n")[0])
        symbols.append(header["entry"])
        assert hashlib.sha256(text.encode()).hexdigest()[:16] in header["entry"]
    assert symbols[0] != symbols[1]
