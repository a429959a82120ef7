"""NVIDIA GPUs through numba-cuda: a team is a block, recorded launches are a CUDA graph.

The only module that imports ``numba.cuda``; `backends.cuda_simulator` is the same backend without a GPU.
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

from backends.base import Backend, Buffer, Capabilities, DeviceInfo, Launch, OutOfMemory, Unavailable
from backends.cache import cache_folder, read_sealed, write_once, write_sealed
from backends.collectives import Collective, Collectives
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = "pip install 'onekernel[cuda]' (or 'onekernel[cuda12]' for drivers of CUDA 12)"
REPETITIONS = 64
"""Of a recorded sequence in one CUDA graph."""


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
    profiler = "ncu"

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
        self.stream = self.main_stream(int(device.index))
        self.copies = self.cuda.stream()
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

    def main_stream(self, index: int) -> Any:
        """The stream of kernels as numba's object; its graphs are built through cuda.core's."""
        from cuda.core import Device

        core = Device(index)
        core.set_current()
        self.core_stream = core.create_stream()
        return self.cuda.external_stream(int(self.core_stream.handle))

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
        event = self.cuda.event()
        event.record(stream or self.stream)
        return event

    def span(self, kind: str, first: Any) -> None:
        """Remember the time since ``first`` for `synchronize`."""
        self.spans.append((kind, first, self.mark()))

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        count = max(1, int(np.prod(shape)))
        try:
            return Buffer(self.cuda.device_array(count, dtype, stream=self.stream), shape, dtype)
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
        from backends.cuda_ranks import link

        return link(self)

    def joined(self, ranks: Any, links: list[Any]) -> Collectives:
        if any(found is None for _, found in links):  # some rank has another kind of device
            return super().joined(ranks, links)
        from backends.cuda_ranks import joined

        return joined(self, ranks, links)

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        first = self.mark()
        part(buffer, 0, host.size).copy_to_device(host, stream=self.stream)
        self.span("transfer", first)

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        first = self.mark()
        part(buffer, start, host.size).copy_to_device(host, stream=self.stream)
        self.span("transfer", first)

    def download(self, buffer: Buffer) -> np.ndarray:
        first = self.mark()
        host = buffer.handle.copy_to_host(stream=self.stream)
        self.span("transfer", first)
        self.timings.copied_bytes += buffer.size * buffer.dtype.itemsize
        self.synchronize()
        return np.asarray(host[: buffer.size]).reshape(buffer.shape)

    def host_array(self, count: int, dtype: Any) -> np.ndarray:
        try:
            return np.asarray(self.cuda.pinned_array(max(1, count), dtype))[:count]
        except Exception as error:  # numba passes on the driver's error
            if "OUT_OF_MEMORY" not in str(error):
                raise
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked: {error}") from error

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        self.mark().wait(self.copies)
        first = self.mark(self.copies)
        part(buffer, start, count).copy_to_host(host, stream=self.copies)
        last = self.mark(self.copies)
        self.spans.append(("transfer", first, last))
        return last.synchronize

    def synchronize(self) -> None:
        self.stream.synchronize()
        self.copies.synchronize()
        for kind, first, last in self.spans:
            seconds = self.elapsed(first, last)
            if kind == "transfer":
                self.timings.transfer_s += seconds
            else:
                self.timings.kernel_s += seconds
        self.spans.clear()

    def elapsed(self, first: Any, last: Any) -> float:
        """Seconds between two marks."""
        return float(self.cuda.event_elapsed_time(first, last)) * 1e-3

    def compile(self, program: tree.Program) -> Any:
        """A dispatcher with one compiled overload, its team size and its shared bytes."""
        from backends.emit.numba_python import CudaPython

        dispatcher = emitted_kernel(program, CudaPython(program).source())
        shared = tree.shared_bytes(program)
        compile_sealed(dispatcher, signature(program))
        if shared > 48 << 10:
            self.allow_shared(dispatcher, shared)
        return dispatcher, program.team_size, shared

    def most_lanes(self, executable: Any) -> int:
        """What the driver says; a kernel is compiled with as few registers as its own team's lanes leave each other."""
        dispatcher, *_ = executable
        (kernel,) = dispatcher.overloads.values()
        return int(kernel.max_threads_per_block)

    @staticmethod
    def allow_shared(dispatcher: Any, shared: int) -> None:
        """Raise a kernel's limit of dynamic shared memory, which is 48 KiB by default."""
        from cuda.bindings import driver

        (kernel,) = dispatcher.overloads.values()
        function = kernel._codelibrary.get_cufunc()
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(attribute, shared, function.handle, function.device.id)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise OutOfMemory(f"{shared} bytes of shared memory per team: {status}")

    def execute(self, launch: Launch) -> None:
        first = self.mark()
        self.enqueue(launch)
        self.span("kernel", first)

    def enqueue(self, launch: Launch | Collective) -> None:
        """Queue one launch, or the device's part in a collective."""
        if isinstance(launch, Collective):
            launch.act()
            return
        dispatcher, team_size, shared = launch.executable
        values = [a.handle if isinstance(a, Buffer) else a.dtype.type(a) for a in launch.arguments]
        dispatcher[launch.teams, team_size, self.stream, shared](*values)

    def prepare(self, launches: list[Launch]) -> Any:
        """The recorded launches, and CUDA graphs of so many repetitions of them, made when they are first needed."""
        return launches, {}

    def graph(self, launches: list[Launch], repetitions: int) -> Any:
        """A CUDA graph of recorded launches, repeated; making it counts as compilation."""
        began = time.perf_counter()
        builder = self.core_stream.create_graph_builder()
        builder.begin_building()
        for _ in range(repetitions):
            for launch in launches:
                self.enqueue(launch)
        graph = builder.end_building().complete()
        graph.upload(self.core_stream)
        self.timings.compile_s += time.perf_counter() - began
        return graph

    def replay(self, prepared: Any, times: int) -> None:
        launches, graphs = prepared
        first = self.mark()
        # From the host a graph costs some microseconds, a further launch inside it less than one.
        for repetitions in (REPETITIONS, 1):
            if times >= repetitions and repetitions not in graphs:
                graphs[repetitions] = self.graph(launches, repetitions)
            for _ in range(times // repetitions):
                graphs[repetitions].launch(self.core_stream)
            times %= repetitions
        self.span("kernel", first)


def part(buffer: Buffer, start: int, count: int) -> Any:
    """Elements of a buffer on the device; all of them as they are, since numba takes long to cut an array."""
    whole = buffer.handle
    return whole if start == 0 and count == whole.size else whole[start : start + count]


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
    here = os.path.join(os.path.dirname(__file__), "emit")
    digest = hashlib.sha256(source.encode())
    for words in ("llvm_words.py", "cuda_words.py", "simulator_words.py"):
        with open(os.path.join(here, words), "rb") as file:
            digest.update(file.read())
    name = f"{program.kernel.name}_{digest.hexdigest()[:24]}"
    if name not in sys.modules:
        path = os.path.join(cache_folder("cuda"), name + ".py")
        if not holds(path, source):
            path = write_once(path, source.encode())
        module = ModuleType(name)
        module.__file__ = path
        exec(compile(source, path, "exec"), vars(module))
        sys.modules[name] = module
    return getattr(sys.modules[name], program.kernel.name + "_")


def holds(path: str, source: str) -> bool:
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
