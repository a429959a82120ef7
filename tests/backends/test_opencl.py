"""OpenCL's drivers: discovery and order, output, times, and errors for missing memory."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from backends.device import OutOfMemory, Unavailable
from backends.opencl import backend as opencl_backend
from backends.opencl import icd
from tests.backends import kernels


def test_compilers_keep_silent_and_an_error_says_what_they_said(opencl, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    fresh = opencl_backend.OpenClBackend(opencl.device)
    values = fresh.upload(np.zeros(4, np.uint32))
    fresh.launch(kernels.grow, 1, 1, values, 4, 3)
    assert fresh.download(values).tolist() == [1] * 4
    text = "__kernel void wrong(__global int* a) { char c = 70000; a[0] = nonsense(c); }"
    with pytest.raises(Unavailable, match=r"(?s)does not compile wrong on .*nonsense"):
        fresh.build("wrong", fresh.cl.Program(fresh.context, text))
    assert capfd.readouterr() == ("", "")


def test_a_cached_binary_is_of_the_processor_that_the_user_chose(opencl, tmp_path, monkeypatch):
    if opencl.is_pocl:
        pytest.skip("PoCL has a separate cache")
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    for chosen in ("corei7", "corei7-avx"):
        monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", chosen)
        opencl_backend.OpenClBackend(opencl.device).program("__kernel void none_(__global int* a) {}", "none")
    assert len([*tmp_path.rglob("none-*.bin")]) == 2


def test_cpu_drivers_have_as_many_threads_as_a_quota_grants(opencl, monkeypatch):
    for name in icd.THREAD_COUNTS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    for module in (icd, opencl_backend):
        monkeypatch.setattr(module, "available_cores", lambda: 1)
    icd.list_devices.__wrapped__()
    assert [os.environ[name] for name in icd.THREAD_COUNTS] == ["1", "1"]
    assert {one.compute_units for one in opencl_backend.OpenClBackend.devices() if one.kind == "cores"} <= {1}


def test_buffers_that_together_do_not_fit_are_refused_until_one_is_gone(opencl, monkeypatch):
    backend = opencl_backend.OpenClBackend(opencl.device._replace(memory_bytes=1000))
    first = backend.allocate(150, np.uint32)
    with pytest.raises(OutOfMemory, match="600 bytes do not fit .* has 1000, 600 of them in use"):
        backend.allocate(150, np.uint32)
    del first
    second = backend.upload(np.arange(150, dtype=np.uint32))
    assert backend.download(second).sum() == 150 * 149 // 2

    def refuse(*arguments):
        raise backend.cl.MemoryError("MEM_OBJECT_ALLOCATION_FAILURE")

    monkeypatch.setattr(backend.cl, "Buffer", refuse)
    with pytest.raises(OutOfMemory, match="100 bytes do not fit .*: MEM_OBJECT_ALLOCATION_FAILURE"):
        backend.allocate(25, np.uint32)
    monkeypatch.setattr(backend.cl, "enqueue_nd_range_kernel", refuse)
    with pytest.raises(OutOfMemory, match="a launch's buffers do not fit"):
        backend.launch(kernels.grow, 1, 1, second, 150, 3)


def test_gpus_come_first_and_pocl_last(opencl):
    devices = opencl_backend.OpenClBackend.devices()
    ranks = [(d.kind != "gpu", d.driver.startswith(icd.POCL)) for d in devices]
    assert ranks == sorted(ranks)
    assert [d.index for d in devices] == [str(k) for k in range(len(devices))]
    # Intel's runtime, if installed, is one of the drivers, unless the user chose them.
    if icd.installed_file(icd.LIBRARY, "intel-opencl-rt") and not any(os.environ.get(name) for name in icd.SET_BY_USER):
        assert [d.kind for d in devices if d.driver.startswith(icd.INTEL)] == ["cores"]
        assert "OCL_ICD_VENDORS" not in os.environ


@pytest.fixture
def machine(tmp_path, monkeypatch):
    for name in icd.SET_BY_USER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(icd, "installed_file", lambda name, package: f"/there/{name}")
    loader = tmp_path / "pyopencl" / ".libs" / "libOpenCL-1.so"
    loader.parent.mkdir(parents=True)
    loader.touch()
    system = tmp_path / "vendors"
    system.mkdir()
    (system / "nvidia.icd").write_text("libnvidia-opencl.so.1\n")
    return tmp_path / "pyopencl", system


def drivers(folder):
    return {path.read_text().strip() for path in Path(folder).glob("*.icd")}


def test_the_systems_drivers_are_seen_beside_intels(machine):
    pyopencl, system = machine
    with icd.intel_icd_registered(str(pyopencl), str(system)):
        assert drivers(os.environ["OCL_ICD_VENDORS"]) == {"libnvidia-opencl.so.1", f"/there/{icd.LIBRARY}"}
    assert "OCL_ICD_VENDORS" not in os.environ
    with icd.intel_icd_registered(str(pyopencl), str(system / "missing")):
        assert drivers(os.environ["OCL_ICD_VENDORS"]) == {f"/there/{icd.LIBRARY}"}


@pytest.mark.parametrize("reason", ["the system has it", "the loader is another", "not installed", *icd.SET_BY_USER])
def test_intels_runtime_is_not_added_where_it_has_no_place_or_the_user_chose_drivers(machine, monkeypatch, reason):
    pyopencl, system = machine
    if reason == "the system has it":
        (system / "intel.icd").write_text(f"/opt/intel/{icd.LIBRARY}\n")
    elif reason == "the loader is another":
        (pyopencl / ".libs" / "libOpenCL-1.so").unlink()
    elif reason == "not installed":
        monkeypatch.setattr(icd, "installed_file", lambda name, package: None)
    else:
        monkeypatch.setenv(reason, "/my/drivers")
    before = dict(os.environ)
    with icd.intel_icd_registered(str(pyopencl), str(system)):
        assert dict(os.environ) == before


def test_a_timed_step_counts_for_its_weight_and_others_for_nothing(opencl, monkeypatch):
    opencl.synchronize()
    opencl.timings.reset()
    monkeypatch.setattr(opencl, "seconds_of", lambda first, last: 1.0)
    for weight in (3, 0):
        monkeypatch.setattr(opencl, "timing_weight", weight)
        opencl.upload(np.zeros(1, np.int32))
    opencl.synchronize()
    assert opencl.timings.transfer_s == 3.0


def test_times_of_events_that_come_late_are_waited_for(monkeypatch):
    class MissingError(Exception):
        code = -7

    class Late(SimpleNamespace):
        @property
        def profile(self):
            self.misses -= 1
            if self.misses >= 0:
                raise MissingError
            return SimpleNamespace(start=1_000, end=4_000)

    codes = SimpleNamespace(PROFILING_INFO_NOT_AVAILABLE=-7)
    backend = SimpleNamespace(cl=SimpleNamespace(RuntimeError=MissingError, status_code=codes))
    seconds_of, pauses = opencl_backend.OpenClBackend.seconds_of, []
    monkeypatch.setattr(opencl_backend.time, "sleep", pauses.append)
    assert seconds_of(backend, Late(misses=0), Late(misses=2)) == pytest.approx(3e-6)
    assert pauses == list(opencl_backend.PAUSES_S[:2])
    with pytest.raises(MissingError):
        seconds_of(backend, Late(misses=0), Late(misses=9))
