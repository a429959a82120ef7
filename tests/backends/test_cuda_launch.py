"""Driver calls of the CUDA backend, with a driver that runs kernels as plain Python; needs no GPU."""

import re

import numpy as np
import pytest

from backends.cuda.backend import REPETITIONS
from backends.cuda.memory import STAGED_BYTES
from backends.device import OutOfMemory
from tests.backends import kernels
from tests.backends.fake_cuda import DEVICE, MS_A_LAUNCH, FakeCuda
from tests.backends.ptx import ptx
from tests.backends.test_conformance import CASES, INTEGERS, after, of_all_types, replayed, same
from tests.backends.test_launch_cache import store


@pytest.fixture(params=["numba", "nvrtc"])
def gpu(request):
    return FakeCuda(DEVICE._replace(compiler=request.param))


@pytest.mark.parametrize("name", CASES)
def test_the_driver_gets_what_kernels_need(gpu, name):
    for team_size in (1, 7):
        for _ in range(3):
            same(*CASES[name](gpu, team_size))


def test_a_kernel_has_the_parameters_that_a_launch_packs(gpu):
    """The sizes of all, and of an array's seven of numba only its address."""
    arrays = [gpu.allocate(4, t) for t in (*INTEGERS, np.float32, np.float64)]
    launch = gpu.bind(kernels.elements, 1, 32, (*arrays, *of_all_types(0), 4))
    program, words = launch.executable.function, launch.executable.array_words
    text = ptx(gpu.device.compiler, program)
    head = text[text.index(".entry") : text.index("{", text.index(".entry"))]
    widths = [int(width) for width in re.findall(r"\.param \.[usbf](\d+) ", head)]
    numbers = [8 * number.dtype.itemsize for number in launch.arguments[10:]]
    assert widths == [64] * 10 * words + numbers
    assert len(gpu.pack(launch, []).pointers) == len(widths)
    read = {int(k) for k in re.findall(r"ld\.param\S*\s+%\w+, \[\w+_param_(\d+)\]", text)}
    assert read == {*range(4 if words == 7 else 0, 10 * words, words), *range(10 * words, len(widths))}


def test_a_sequence_is_graphs_of_packed_launches(gpu):
    times = 2 * REPETITIONS + 3
    same(replayed(gpu, times), after(times))
    assert len(gpu.driver.launches) == 3 * (REPETITIONS + 1)  # captured; a graph that exists is only launched
    assert gpu.timings.kernel_s == pytest.approx(times * 3 * MS_A_LAUNCH * 1e-3)


def test_kernels_are_timed_by_marks_that_are_used_again(gpu):
    values = gpu.upload(np.zeros(1, np.int32))
    for _ in range(3):
        for k in range(5):
            gpu.launch(store, 1, 1, k, 0, values)
        gpu.synchronize()
    assert gpu.timings.kernel_s == pytest.approx(15 * MS_A_LAUNCH * 1e-3)
    assert gpu.driver.events <= 12


def test_a_timed_step_counts_for_its_weight_and_others_have_no_marks(gpu):
    values = gpu.upload(np.zeros(1, np.int32))
    for gpu.timing_weight, sum_so_far in ((3, 7), (0, 14), (0, 21)):
        before = len(gpu.spans)
        gpu.launch(store, 1, 1, 7, 0, values)
        assert len(gpu.spans) - before == (gpu.timing_weight > 0) and gpu.download(values).tolist() == [sum_so_far]
    assert gpu.timings.kernel_s == pytest.approx(3 * MS_A_LAUNCH * 1e-3)


def test_who_waits_for_a_copy_waits_for_no_later_mark(gpu):
    values = gpu.upload(np.arange(4, dtype=np.int32))
    host = np.zeros(2, np.int32)
    wait = gpu.stream_out(values, 1, 2, host)
    wait()
    assert [name for name, _ in gpu.driver.calls] == ["wait for"]
    assert host.tolist() == [1, 2]
    for _ in range(2):  # the stream of copies has nothing the second time
        gpu.synchronize()
        wait()
    assert gpu.driver.calls[1:] == [("synchronize", stream) for stream in ("kernels", "copies", "kernels")]


@pytest.mark.parametrize("count", [0, 1, STAGED_BYTES // 8, STAGED_BYTES // 8 + 1])
def test_what_is_read_is_the_callers_own(gpu, count):
    sent = np.arange(count, dtype=np.int64)
    buffer = gpu.upload(sent)
    first = gpu.download(buffer)
    gpu.write(buffer, sent + 5)
    second = gpu.read(buffer, 0, count)
    assert first.tolist() == sent.tolist() and second.tolist() == (sent + 5).tolist()


def test_a_launch_that_the_driver_refuses_says_which(gpu):
    values = gpu.upload(np.zeros(1, np.int32))
    with pytest.raises(RuntimeError, match="store: CUDA driver error ERROR_INVALID_VALUE"):
        gpu.launch(store, 65_536, 1, 1, 0, values)


def test_memory_is_freed_with_its_last_reference_and_refused_if_there_is_too_little(gpu):
    before = len(gpu.driver.memory)
    values, host = gpu.allocate((3, 5), np.int16), gpu.host_array(7, np.float32)
    assert host.shape == (7,) and len(gpu.driver.memory) == before + 2
    del values, host
    assert len(gpu.driver.memory) == before
    with pytest.raises(OutOfMemory, match="^2,147,483,648 bytes do not fit a GPU that is none$"):
        gpu.allocate(1 << 29, np.int32)
    with pytest.raises(OutOfMemory, match="^2147483648 elements of uint8 cannot be page-locked$"):
        gpu.host_array(1 << 31, np.uint8)
