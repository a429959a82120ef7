"""Choice of the compiler of CUDA devices, which changes neither results nor work and which records name."""

import pytest

import backends
import onekernel as ok
from backends.cuda import driver
from reports.records.files import load, merge

BOTH = ("numba_cuda", "cuda.core")


@pytest.mark.parametrize(
    ("installed", "named", "expected"),
    [(BOTH, "", "numba"), (BOTH[1:], "", "nvrtc"), (BOTH, "nvrtc", "nvrtc"), (BOTH[1:], "numba", "numba")],
)
def test_numba_compiles_where_it_is_installed_unless_another_compiler_is_named(monkeypatch, installed, named, expected):
    monkeypatch.setattr(driver, "is_installed", lambda module: module in installed)
    monkeypatch.setenv(backends.COMPILER_VARIABLE, named)
    assert driver.default_compiler() == expected


def test_a_compiler_that_does_not_exist_or_is_not_installed_is_one_line(monkeypatch):
    def no_library():
        raise RuntimeError("libnvrtc.so.13 is not found")

    monkeypatch.setattr(driver, "is_installed", lambda module: False)
    monkeypatch.setattr("cuda.bindings.nvrtc.nvrtcVersion", no_library)
    monkeypatch.setenv(backends.COMPILER_VARIABLE, "nvcc")
    messages = {
        driver.default_compiler: "^ONEKERNEL_CUDA_COMPILER: found 'nvcc', expected numba or nvrtc$",
        driver.numba_cuda: r"^numba-cuda is not installed; pip install 'onekernel\[cuda\]'",
        driver.require_nvrtc: r"^NVRTC is not installed \(libnvrtc.*\); pip install 'onekernel\[cuda-nvrtc\]'",
        driver.load_driver: r"^cuda-core is not installed; pip install 'onekernel\[cuda-nvrtc\]'",
    }
    for act, message in messages.items():
        with pytest.raises(backends.Unavailable, match=message):
            act()


@pytest.mark.parametrize(("name", "compiler"), [("threads", "nvrtc"), ("cuda", "nvcc")])
def test_a_backend_without_this_compiler_refuses_it(name, compiler):
    expected = rf"^--compiler {compiler} with {name}: expected it with cuda \(numba, nvrtc\)$"
    with pytest.raises(backends.Unavailable, match=expected):
        backends.create(name, compiler=compiler)


def test_both_compilers_find_the_same_and_records_name_them(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setitem(backends.CLASSES, "cuda", "tests.backends.fake_cuda.FakeCuda")
    problem, path = ok.Qap.load("taillard:5:seeds=1,2"), tmp_path / "runs.jsonl"
    for compiler in (None, "numba", "nvrtc"):
        where = {"backend": "cuda", "execution": ok.Execution(compiler=compiler)}
        ok.minimize(problem, iterations=2, record=path, progress=False, **where)
    runs = merge(load(path))
    assert [run.execution["compiler"] for run in runs] == ["numba", "nvrtc"]
    assert len({run.hash for run in runs}) == 1 and len({run.identity for run in runs}) == 2
    assert "compiler" not in runs[0].parameters
