"""Choice of the compiler of CUDA devices, which changes neither results nor work and which records name."""

from types import SimpleNamespace

import pytest

import backends
import onekernel as ok
from backends.cuda import driver
from backends.cuda.backend import CudaBackend
from backends.cuda.memory import CudaDevice
from backends.device import OutOfMemory
from core.lang import Array, barrier, i32, kernel, lane, shared_array
from reports.records.files import load, merge

pytest.importorskip("cuda.bindings.nvrtc")
BOTH = ("numba_cuda", "cuda.core")


@kernel
def large(out: Array[i32]):
    """A team needs 50 KiB of shared memory."""
    values = shared_array(12_800, i32)
    values[lane()] = out[lane()]
    barrier()
    out[lane()] = values[640 - lane()]


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
    for compiler in (None, "nvrtc"):
        where = {"backend": "cuda", "execution": ok.Execution(compiler=compiler)}
        ok.minimize(problem, iterations=2, record=path, progress=False, **where)
    runs = merge(load(path))
    assert [run.execution["compiler"] for run in runs] == ["numba", "nvrtc"]
    assert len({run.hash for run in runs}) == 1 and len({run.identity for run in runs}) == 2
    assert "compiler" not in runs[0].parameters


class Answers:
    """Functions of CUDA's driver that note their arguments and return what a made-up GPU has."""

    def __init__(self, monkeypatch, **values):
        self.calls = []
        self.values = values
        for name in values:
            monkeypatch.setattr(f"cuda.bindings.driver.{name}", lambda *given, name=name: self.answer(name, given))

    def answer(self, name, given):
        self.calls.append((name, given))
        value = self.values[name]
        return (SUCCESS,) if value is None else (SUCCESS, value(*given) if callable(value) else value)


SUCCESS = 0


def attribute(which, *of):
    of_all = {"MULTIPROCESSOR_COUNT": 132, "CAPABILITY_MAJOR": 9, "CAPABILITY_MINOR": 0, "NUM_REGS": 96}
    return next((value for name, value in of_all.items() if which.name.endswith(name)), 640)


def test_gpus_are_listed_by_the_driver_alone(monkeypatch):
    monkeypatch.setenv(backends.COMPILER_VARIABLE, "nvrtc")
    Answers(
        monkeypatch, cuInit=None, cuDriverGetVersion=13_020, cuDeviceGetCount=2, cuDeviceGet=lambda index: index,
        cuDeviceGetName=lambda length, index: f"GPU {index}".encode().ljust(length, b"\0"), cuDeviceTotalMem=1 << 30,
        cuDeviceGetAttribute=attribute,
    )  # fmt: skip
    expected = [(str(k), f"GPU {k}", "CUDA 13.2", 1 << 30, 132, "gpu", "", "nvrtc", False) for k in range(2)]
    assert CudaDevice.devices() == expected


def test_a_kernel_is_loaded_with_its_registers_and_with_more_shared_memory_than_usual(monkeypatch, tmp_path):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    asked = Answers(
        monkeypatch, cuDeviceGet=lambda index: index, cuDeviceGetAttribute=attribute, cuKernelGetAttribute=attribute,
        cuLibraryLoadData="library", cuLibraryGetKernel=17, cuKernelSetAttribute=None,
    )  # fmt: skip
    program = large.specialise({}, 640)
    gpu = SimpleNamespace(device=SimpleNamespace(index="0", compiler="nvrtc"))
    found = CudaBackend.compile(gpu, program)
    assert (found.name, int(found.function), found.team_size, found.shared) == ("large", 17, 640, 51_200)
    assert (found.registers, found.most_lanes, found.array_words) == (96, 640, 1)
    calls = dict(asked.calls)
    assert calls["cuLibraryLoadData"][0][:4] == b"\x7fELF" and calls["cuLibraryGetKernel"] == ("library", b"large_")
    assert calls["cuKernelSetAttribute"][1:] == (51_200, 17, 0)
    monkeypatch.setattr("cuda.bindings.driver.cuKernelSetAttribute", lambda *given: (1,))
    with pytest.raises(OutOfMemory, match="^51200 bytes of shared memory per team: 1$"):
        CudaBackend.compile(gpu, program)
