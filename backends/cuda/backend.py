"""NVIDIA GPUs through numba-cuda: a team is a block, recorded launches are a CUDA graph.

The only module that imports ``numba.cuda``; `backends.cuda.simulator` is the same backend without a GPU.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import re
import sys
import time
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.cache import cache_folder, read_sealed, write_once, write_sealed
from backends.collectives import Collective, Collectives
from backends.cuda.launch import CudaExecutable, PackedKernel, check_driver_call
from backends.device import Backend, Buffer, Capabilities, DeviceInfo, Launch, OutOfMemory, Unavailable
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = "pip install 'onekernel[cuda]' (or 'onekernel[cuda12]' for drivers of CUDA 12)"
REPETITIONS = 64
"""Of a recorded sequence in one CUDA graph."""
STAGED_BYTES = 64 << 10
"""Up to so many bytes are read through page-locked memory: the driver takes longer to copy to other memory."""


def numba_cuda() -> Any:
    """numba-cuda's module, or the reason why there is none."""
    if importlib.util.find_spec("numba_cuda") is None:
        raise Unavailable(f"numba-cuda is not installed; {INSTALL}")
    from numba import cuda
    from numba.cuda.core import config

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # the caller chose the shape of the launch
    return cuda


class CudaBackend(Backend):
    """Runs kernels in one stream; copies that later kernels need not wait for go through another."""

    name = "cuda"
    automatic_for = "gpu"
    packs = True
    profiler = "ncu"
    replays_by_itself = True

    @classmethod
    def present(cls, folder: str = "/dev") -> int:
        """Count NVIDIA's GPUs by their device files, fewer where ``CUDA_VISIBLE_DEVICES`` names some.

        0 where numba-cuda, which would run them, is not installed.
        """
        if importlib.util.find_spec("numba_cuda") is None or not os.path.isdir(folder):
            return 0
        found = sum(re.fullmatch("nvidia[0-9]+", name) is not None for name in os.listdir(folder))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            return found
        # CUDA itself stops at the first entry that names no device.
        named = re.match(r"(?:[0-9A-Za-z/-]*[0-9A-Za-z](?:,|$))*", visible.replace("-1", ""))
        return min(found, len([name for name in named[0].split(",") if name])) if named else 0

    def __init__(self, device: DeviceInfo) -> None:
        self.cuda = numba_cuda()
        super().__init__(device, self.select(int(device.index)))
        self.begin(int(device.index))
        self.staging = self.host_array(STAGED_BYTES, np.uint8)
        self.spans: list[tuple[str, Any, Any]] = []

    def select(self, index: int) -> Capabilities:
        """Make a GPU this thread's current one; what it can do."""
        self.cuda.select_device(index)
        chip = self.cuda.get_current_device()
        return Capabilities(
            chip.MAX_THREADS_PER_BLOCK,
            chip.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            chip.MULTIPROCESSOR_COUNT,
            chip.MAX_THREADS_PER_MULTIPROCESSOR,
        )

    def begin(self, index: int) -> None:
        """Make the streams of kernels and of copies."""
        from cuda.bindings import driver
        from cuda.core import Device

        core = Device(index)
        core.set_current()
        self.driver = driver
        self.core_stream, self.core_copies = core.create_stream(), core.create_stream()
        self.stream, self.copies = (driver.CUstream(int(one.handle)) for one in (self.core_stream, self.core_copies))
        self.unused_marks: list[Any] = []
        self.waits = 0

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        cuda = numba_cuda()
        if not cuda.is_available():
            reason = " ".join(str(cuda.cuda_error() or "no device found").split())
            raise Unavailable(f"no CUDA driver or device here ({reason})")
        found = []
        for k, chip in enumerate(cuda.gpus.lst):
            with chip:
                memory = cuda.current_context().get_memory_info().total
                version = ".".join(map(str, cuda.runtime.get_version()))
                name = chip.name.decode() if isinstance(chip.name, bytes) else chip.name
                found.append(DeviceInfo(str(k), name, f"CUDA {version}", memory, chip.MULTIPROCESSOR_COUNT, "gpu"))
        return found

    def mark(self, stream: Any = None) -> Any:
        """An event in a stream, that of the kernels unless another is named."""
        event = self.unused_marks.pop() if self.unused_marks else check_driver_call(self.driver.cuEventCreate(0))
        check_driver_call(self.driver.cuEventRecord(event, stream or self.stream))
        return event

    def span(self, kind: str, first: Any) -> None:
        """Remember the time since ``first`` for `synchronize`."""
        self.spans.append((kind, first, self.mark()))

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        count = max(1, int(np.prod(shape)))
        try:
            return Buffer(self.cuda.device_array(count, dtype), shape, dtype)
        except Exception as error:
            if "OUT_OF_MEMORY" not in str(error):
                raise
            size = count * np.dtype(dtype).itemsize
            raise OutOfMemory(f"{size:,} bytes do not fit {self.device.name}") from error

    def at_address(self, address: int, size: int, dtype: Any, holder: Any) -> Buffer:
        """A buffer at an address of the device that others manage; it keeps ``holder`` as long as it lives."""
        interface = {"shape": (size,), "typestr": np.dtype(dtype).str, "data": (address, False), "version": 3}
        array = SimpleNamespace(__cuda_array_interface__=interface, holder=holder)
        buffer = Buffer(self.cuda.as_cuda_array(array, sync=False), (size,), dtype)
        buffer.address = address
        return buffer

    def address_of(self, buffer: Buffer) -> int:
        """Where a buffer lies on the device."""
        if buffer.address is None:
            buffer.address = int(buffer.handle.__cuda_array_interface__["data"][0])
        return buffer.address

    @property
    def raw_stream(self) -> int:
        """The driver's handle of the kernels' stream."""
        return int(self.core_stream.handle)

    def link(self) -> Any:
        from backends.cuda.collectives import describe_link

        return describe_link(self)

    def joined(self, ranks: Any, links: list[Any]) -> Collectives:
        if any(found is None for _, found in links):  # some rank has another kind of device
            return super().joined(ranks, links)
        from backends.cuda.collectives import create_collectives

        return create_collectives(self, ranks, links)

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        self.put(buffer, 0, host)

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        first = self.mark()
        self.copy_in(buffer, start, host)
        self.span("transfer", first)

    def copy_in(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        """Queue a copy to the elements from ``start`` on; when it returns, ``host`` may change."""
        to = self.address_of(buffer) + start * buffer.dtype.itemsize
        if host.size:
            check_driver_call(self.driver.cuMemcpyHtoDAsync(to, host_address(host), host.nbytes, self.stream))

    def copy_back(self, buffer: Buffer, start: int, host: np.ndarray, stream: Any) -> None:
        """Queue a copy of the elements from ``start`` on into all of ``host``."""
        source = self.address_of(buffer) + start * buffer.dtype.itemsize
        if host.size:
            check_driver_call(self.driver.cuMemcpyDtoHAsync(host_address(host), source, host.nbytes, stream))

    def download(self, buffer: Buffer) -> np.ndarray:
        return self.fetch(buffer, 0, buffer.size).reshape(buffer.shape)

    def read(self, buffer: Buffer, start: int, count: int) -> np.ndarray:
        self.check_part(buffer, start, count)
        return self.fetch(buffer, start, count)

    def fetch(self, buffer: Buffer, start: int, count: int) -> np.ndarray:
        """Elements of a buffer when all queued work is done; few of them through page-locked memory."""
        staged = count * buffer.dtype.itemsize <= STAGED_BYTES
        host = self.staging.view(buffer.dtype)[:count] if staged else np.empty(count, buffer.dtype)
        first = self.mark()
        self.copy_back(buffer, start, host, self.stream)
        self.span("transfer", first)
        self.synchronize()
        self.timings.copied_bytes += host.nbytes
        return host.copy() if staged else host

    def host_array(self, count: int, dtype: Any) -> np.ndarray:
        try:
            return np.asarray(self.cuda.pinned_array(max(1, count), dtype))[:count]
        except Exception as error:  # numba passes on the driver's error
            if "OUT_OF_MEMORY" not in str(error):
                raise
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked: {error}") from error

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        queued = self.mark()
        check_driver_call(self.driver.cuStreamWaitEvent(self.copies, queued, 0))
        self.unused_marks.append(queued)
        first = self.mark(self.copies)
        self.copy_back(buffer, start, host, self.copies)
        last = self.mark(self.copies)
        self.spans.append(("transfer", first, last))
        waits = self.waits

        def wait() -> None:
            if self.waits == waits:  # else it has ended, and the mark may be another's
                check_driver_call(self.driver.cuEventSynchronize(last))

        return wait

    def synchronize(self) -> None:
        self.wait()
        for kind, first, last in self.spans:
            seconds = self.elapsed(first, last)
            if kind == "transfer":
                self.timings.transfer_s += seconds
            else:
                self.timings.kernel_s += seconds
        self.spans.clear()

    def wait(self) -> None:
        """Wait for all queued work."""
        check_driver_call(self.driver.cuStreamSynchronize(self.stream))
        check_driver_call(self.driver.cuStreamSynchronize(self.copies))
        self.waits += 1

    def elapsed(self, first: Any, last: Any) -> float:
        """Seconds between two marks, which are used again."""
        self.unused_marks += (first, last)
        return float(check_driver_call(self.driver.cuEventElapsedTime(first, last))) * 1e-3

    def compile(self, program: tree.Program) -> Any:
        """The kernel, compiled and loaded."""
        from backends.emit.numba_python import CudaPython

        dispatcher = emitted_kernel(program, CudaPython(program).source())
        shared, types = tree.shared_bytes(program), signature(program)
        compile_sealed(dispatcher, types)
        # Programs that differ in nothing but the types of their parameters have one text, and so one dispatcher.
        kernel = dispatcher.overloads[types.args]._codelibrary.get_cufunc()
        if shared > 48 << 10:
            self.allow_shared(kernel, shared)
        return CudaExecutable(kernel, program.team_size, shared, self.driver.CUfunction(int(kernel.handle)))

    def most_lanes(self, executable: CudaExecutable) -> int:
        """What the driver says; a kernel is compiled with as few registers as its own team's lanes leave each other."""
        return int(executable.kernel.attrs.maxthreads)

    def lanes_side_by_side(self, executable: CudaExecutable) -> int:
        """As many as there are registers for."""
        registers = self.cuda.get_current_device().MAX_REGISTERS_PER_MULTIPROCESSOR
        needed = int(executable.kernel.attrs.regs)
        return min(self.capabilities.lanes_resident, resident_lanes(needed, registers))

    @staticmethod
    def allow_shared(kernel: Any, shared: int) -> None:
        """Raise a kernel's limit of dynamic shared memory, which is 48 KiB by default."""
        from cuda.bindings import driver

        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(attribute, shared, kernel.handle, kernel.device.id)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise OutOfMemory(f"{shared} bytes of shared memory per team: {status}")

    def pack(self, launch: Launch, places: list[int]) -> PackedKernel:
        return PackedKernel(self, launch, places)

    def enqueue(self, step: PackedKernel | Collective) -> None:
        """Queue a step of a recording, a packed launch or a collective; graphs are made of what is queued here."""
        step.act()

    def prepare(self, launches: list[Any]) -> Any:
        """The recorded steps, and CUDA graphs of so many repetitions of them, made when they are first needed."""
        return [self.pack(one, []) if isinstance(one, Launch) else one for one in launches], {}

    def graph(self, steps: list[Any], repetitions: int) -> Any:
        """A CUDA graph of recorded steps, repeated; making it counts as compilation."""
        began = time.perf_counter()
        builder = self.core_stream.create_graph_builder()
        builder.begin_building()
        for _ in range(repetitions):
            for step in steps:
                self.enqueue(step)
        graph = builder.end_building().complete()
        graph.upload(self.core_stream)
        self.timings.compile_s += time.perf_counter() - began
        return graph

    def replay(self, prepared: Any, times: int) -> None:
        steps, graphs = prepared
        first = self.mark()
        # From the host a graph costs some microseconds, a further launch inside it less than one.
        for repetitions in (REPETITIONS, 1):
            if times >= repetitions and repetitions not in graphs:
                graphs[repetitions] = self.graph(steps, repetitions)
            for _ in range(times // repetitions):
                graphs[repetitions].launch(self.core_stream)
            times %= repetitions
        self.span("kernel", first)


def host_address(host: np.ndarray) -> int:
    """Where an array of the host begins."""
    return int(host.__array_interface__["data"][0])


def resident_lanes(registers: int, of_all: int) -> int:
    """Lanes of a multiprocessor with ``of_all`` registers if each lane needs so many.

    A warp has its registers in one of the multiprocessor's four parts, eight at a time.
    """
    of_a_warp = 32 * -(-registers // 8) * 8
    return 4 * 32 * (of_all // 4 // of_a_warp)


def signature(program: tree.Program) -> Any:
    """Numba's types of the kernel's arguments."""
    from numba.cuda import types

    def numba_type(scalar: Any) -> Any:
        return getattr(types, str(scalar.dtype))

    kinds = program.kernel.parameters.values()
    return types.void(
        *(types.Array(numba_type(k.element), 1, "C") if isinstance(k, tree.ArrayType) else numba_type(k) for k in kinds)
    )


def emitted_kernel(program: tree.Program, source: str) -> Any:
    """The kernel, its text kept in a file of the cache: numba keeps its machine code beside it."""
    here = os.path.join(os.path.dirname(os.path.dirname(__file__)), "emit")
    digest = hashlib.sha256(source.encode())
    for words in ("llvm_operations.py", "cuda_operations.py", "simulator_operations.py"):
        with open(os.path.join(here, words), "rb") as file:
            digest.update(file.read())
    name = f"{program.kernel.name}_{digest.hexdigest()[:24]}"
    if name not in sys.modules:
        path = os.path.join(cache_folder("cuda"), name + ".py")
        if not file_equals(path, source):
            path = write_once(path, source.encode())
        module = ModuleType(name)
        module.__file__ = path
        exec(compile(source, path, "exec"), vars(module))
        sys.modules[name] = module
    return getattr(sys.modules[name], program.kernel.name + "_")


def file_equals(path: str, source: str) -> bool:
    """Whether a file has this text."""
    try:
        with open(path, "rb") as file:
            return file.read() == source.encode()
    except OSError:
        return False


def compile_sealed(dispatcher: Any, types: Any) -> None:
    """Compile a kernel, or load what numba kept of it if nobody has changed that since."""
    machine_code = dispatcher._cache
    name = dispatcher.py_func.__module__
    seal = os.path.join(cache_folder("cuda"), name + ".seal")
    if read_sealed(seal) != (found := digest_of_files(machine_code.cache_path, name)):
        machine_code.flush()
        found = b""
    dispatcher.compile(types)
    made = digest_of_files(machine_code.cache_path, name)
    if made != found:
        write_sealed(seal, made)


def digest_of_files(folder: str, name: str) -> bytes:
    """A digest of the files in which numba keeps a module's machine code."""
    digest = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + ".*.nb[ci]"))):
        with open(path, "rb") as file:
            digest.update(os.path.basename(path).encode() + hashlib.sha256(file.read()).digest())
    return digest.digest()
