"""A driver of CUDA for tests: device memory is the host's, and kernels run as plain Python."""

import ctypes
from enum import IntEnum
from types import SimpleNamespace

import numpy as np

from backends.cuda.backend import CudaBackend
from backends.cuda.compiler import NUMBA_WORDS, POINTER_WORDS, CudaExecutable
from backends.device import Capabilities, DeviceInfo
from core.lang import reference_interpreter, tree

DEVICE = DeviceInfo("0", "a GPU that is none", "fake", 1 << 30, 2, "gpu", compiler="numba")
ARRAY_WORDS = {"numba": NUMBA_WORDS, "nvrtc": POINTER_WORDS}
MS_A_LAUNCH = 2.0


class Status(IntEnum):
    SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    ERROR_INVALID_VALUE = 1


def words_at(address, count):
    return (ctypes.c_uint64 * count).from_address(address)


class FakeDriver:
    """Driver calls of `backends.cuda.backend`; queued work completes at once, and takes time on a made-up clock."""

    def __init__(self, array_words):
        self.array_words = array_words
        self.memory = {}
        self.clock = 0.0
        self.events = 0
        self.launches = []
        self.captured = None
        self.calls = []

    def cuMemAlloc(self, size):  # noqa: N802
        if size > DEVICE.memory_bytes:
            return Status.CUDA_ERROR_OUT_OF_MEMORY, None
        memory = (ctypes.c_uint64 * -(-size // 8))()
        self.memory[ctypes.addressof(memory)] = memory, size
        return Status.SUCCESS, ctypes.addressof(memory)

    def cuMemHostAlloc(self, size, flags):  # noqa: N802
        return self.cuMemAlloc(size)

    def cuMemFree(self, address):  # noqa: N802
        del self.memory[address]
        return (Status.SUCCESS,)

    cuMemFreeHost = cuMemFree  # noqa: N815

    def cuEventCreate(self, flags):  # noqa: N802
        self.events += 1
        return Status.SUCCESS, SimpleNamespace(time=None)

    def cuEventRecord(self, event, stream):  # noqa: N802
        assert self.captured is None
        event.time = self.clock
        return (Status.SUCCESS,)

    def cuEventElapsedTime(self, first, last):  # noqa: N802
        return Status.SUCCESS, last.time - first.time

    def cuEventSynchronize(self, event):  # noqa: N802
        self.calls.append(("wait for", event))
        return (Status.SUCCESS,)

    def cuStreamSynchronize(self, stream):  # noqa: N802
        self.calls.append(("synchronize", stream))
        return (Status.SUCCESS,)

    def cuStreamWaitEvent(self, stream, event, flags):  # noqa: N802
        return (Status.SUCCESS,)

    def cuMemcpyHtoDAsync(self, to, source, size, stream):  # noqa: N802
        ctypes.memmove(to, source, size)
        return (Status.SUCCESS,)

    def cuMemcpyDtoHAsync(self, to, source, size, stream):  # noqa: N802
        ctypes.memmove(to, source, size)
        return (Status.SUCCESS,)

    def cuLaunchKernel(self, program, x, y, z, lanes, ly, lz, shared, stream, parameters, extra):  # noqa: N802
        if x > 65_535:
            return (Status.ERROR_INVALID_VALUE,)
        assert (y, z, ly, lz, extra) == (1, 1, 1, 1, 0) and stream == "kernels"
        assert (lanes, shared) == (program.team_size, tree.shared_bytes(program))
        values = self.arguments_at(program, parameters)

        def run():
            self.clock += MS_A_LAUNCH
            self.execute(program, x, values)

        self.launches.append((program.kernel.name, x))
        run() if self.captured is None else self.captured.append(run)
        return (Status.SUCCESS,)

    def execute(self, program, teams, values):
        reference_interpreter.run(program, teams, values, False)

    def arguments_at(self, program, parameters):
        """Read a program's arguments behind the addresses of its parameters, as a kernel of the compiler does."""
        kinds = list(program.kernel.parameters.values())
        words_of_array = [self.array_words if isinstance(kind, tree.ArrayType) else 1 for kind in kinds]
        places = iter(words_at(parameters, sum(words_of_array)))
        values = []
        for kind, count in zip(kinds, words_of_array, strict=True):
            if isinstance(kind, tree.ArrayType):
                words = [words_at(next(places), 1)[0] for _ in range(count)]
                address, dtype = words[4 if count == NUMBA_WORDS else 0], kind.element.dtype
                memory, size = self.memory[address]
                items = size // dtype.itemsize
                assert count == POINTER_WORDS or words == [0, 0, items, dtype.itemsize, address, items, dtype.itemsize]
                values.append(np.frombuffer(memory, dtype, items))
            else:
                number = np.frombuffer((ctypes.c_uint8 * kind.dtype.itemsize).from_address(next(places)), kind.dtype)[0]
                values.append(kind(number.item()) if kind.kind in "iu" else number)
        return values


class FakeStream:
    """A stream of cuda.core, which builds graphs: what is queued meanwhile is kept, and run at each launch of them."""

    def __init__(self, driver):
        self.driver = driver

    def create_graph_builder(self):
        return self

    def begin_building(self):
        self.driver.captured = []

    def end_building(self):
        steps, self.driver.captured = self.driver.captured, None
        return SimpleNamespace(complete=lambda: FakeGraph(steps))


class FakeGraph:
    def __init__(self, steps):
        self.steps = steps

    def upload(self, stream):
        pass

    def launch(self, stream):
        for step in self.steps:
            step()


class FakeCuda(CudaBackend):
    def __init__(self, device=DEVICE):
        super().__init__(device)

    @classmethod
    def devices(cls):
        return [DEVICE]

    def select(self, index):
        return Capabilities(1024, 48 << 10, 2, 2048)

    def begin(self, index):
        self.driver = FakeDriver(ARRAY_WORDS[self.device.compiler])
        self.core_stream = FakeStream(self.driver)
        self.stream, self.copies = "kernels", "copies"
        self.unused_marks = []
        self.waits, self.copied_at = 0, -1
        self.programs = []

    def link(self):
        """Return None: ranks communicate through the host."""

    def compile(self, program):
        self.programs.append(program)
        shared, words = tree.shared_bytes(program), self.driver.array_words
        return CudaExecutable(program.kernel.name, program, program.team_size, shared, array_words=words)
