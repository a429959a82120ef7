"""NVIDIA GPUs through numba-cuda: a team is a block, recorded launches are a CUDA graph.

The only module that imports ``numba.cuda``. With ``NUMBA_ENABLE_CUDASIM=1`` the same code runs in numba's simulator.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.base import Backend, Buffer, Capabilities, DeviceInfo, Launch, OutOfMemory, Unavailable
from backends.cache import cache_folder, write_once
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = "pip install 'onekernel[cuda]' (or 'onekernel[cuda12]' for drivers of CUDA 12)"
REPETITIONS = 64
"""Of a recorded sequence in one CUDA graph."""
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "1"


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

    def __init__(self, device: DeviceInfo) -> None:
        self.cuda = cuda = numba_cuda()
        if SIMULATED:
            super().__init__(device, Capabilities(1024, 48 << 10, 2, 2048))
            self.stream = cuda.stream()
        else:
            cuda.select_device(int(device.index))
            chip = cuda.get_current_device()
            limits = Capabilities(
                chip.MAX_THREADS_PER_BLOCK,
                chip.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                chip.MULTIPROCESSOR_COUNT,
                chip.MAX_THREADS_PER_MULTIPROCESSOR,
            )
            super().__init__(device, limits)
            from cuda.core import Device

            core = Device(int(device.index))
            core.set_current()
            self.core_stream = core.create_stream()
            self.stream = cuda.external_stream(int(self.core_stream.handle))
        self.copies = cuda.stream()
        self.spans: list[tuple[str, Any, Any]] = []

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        cuda = numba_cuda()
        if SIMULATED:
            return [DeviceInfo("0", "numba's CUDA simulator", "simulated", 0, 1, "gpu")]
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
        """An event in a stream (that of the kernels), or the simulator's time."""
        if SIMULATED:
            return time.perf_counter()
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

    def write(self, buffer: Buffer, host: np.ndarray) -> None:
        first = self.mark()
        flat = np.ascontiguousarray(host, buffer.dtype).reshape(-1)
        buffer.handle[: flat.size].copy_to_device(flat, stream=self.stream)
        self.span("transfer", first)

    def download(self, buffer: Buffer) -> np.ndarray:
        first = self.mark()
        host = buffer.handle.copy_to_host(stream=self.stream)
        self.span("transfer", first)
        self.synchronize()
        return np.asarray(host[: buffer.size]).reshape(buffer.shape)

    def host_array(self, count: int, dtype: Any) -> np.ndarray:
        try:
            return np.asarray(self.cuda.pinned_array(max(1, count), dtype))[:count]
        except Exception as error:  # numba passes on the driver's error
            if "OUT_OF_MEMORY" not in str(error):
                raise
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked: {error}") from error

    def stream_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        queued = self.mark()
        if not SIMULATED:
            queued.wait(self.copies)
        first = self.mark(self.copies)
        buffer.handle[start : start + count].copy_to_host(host, stream=self.copies)
        last = self.mark(self.copies)
        self.spans.append(("transfer", first, last))
        return self.copies.synchronize if SIMULATED else last.synchronize

    def synchronize(self) -> None:
        self.stream.synchronize()
        self.copies.synchronize()
        for kind, first, last in self.spans:
            seconds = last - first if SIMULATED else self.cuda.event_elapsed_time(first, last) * 1e-3
            if kind == "transfer":
                self.timings.transfer_s += seconds
            else:
                self.timings.kernel_s += seconds
        self.spans.clear()

    def compile(self, program: tree.Program) -> Any:
        """A dispatcher with one compiled overload, its team size and its shared bytes."""
        dispatcher = emitted_kernel(program)
        shared = tree.shared_bytes(program)
        if not SIMULATED:
            dispatcher.compile(signature(program))
            if shared > 48 << 10:
                self.allow_shared(dispatcher, shared)
        return dispatcher, program.team_size, shared

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

    def enqueue(self, launch: Launch) -> None:
        """Queue one launch."""
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
        if SIMULATED:
            for _ in range(times):
                for launch in launches:
                    self.enqueue(launch)
        else:
            # From the host a graph costs some microseconds, a further launch inside it less than one.
            for repetitions in (REPETITIONS, 1):
                if times >= repetitions and repetitions not in graphs:
                    graphs[repetitions] = self.graph(launches, repetitions)
                for _ in range(times // repetitions):
                    graphs[repetitions].launch(self.core_stream)
                times %= repetitions
        self.span("kernel", first)


def signature(program: tree.Program) -> Any:
    """Numba's types of the kernel's arguments."""
    from numba.cuda import types

    def numba_type(scalar: Any) -> Any:
        return getattr(types, str(scalar.dtype))

    kinds = program.kernel.parameters.values()
    return types.void(
        *(types.Array(numba_type(k.element), 1, "C") if isinstance(k, tree.ArrayType) else numba_type(k) for k in kinds)
    )


def emitted_kernel(program: tree.Program) -> Any:
    """The kernel printed into a file of the cache, and imported: numba keeps its machine code beside it."""
    from backends.emit.numba_python import CudaPython, SimulatorPython

    source = (SimulatorPython if SIMULATED else CudaPython)(program).source()
    here = os.path.join(os.path.dirname(__file__), "emit")
    digest = hashlib.sha256(source.encode())
    for words in ("llvm_words.py", "cuda_words.py", "simulator_words.py"):
        with open(os.path.join(here, words), "rb") as file:
            digest.update(file.read())
    name = f"{program.kernel.name}_{digest.hexdigest()[:24]}"
    path = os.path.join(cache_folder("cuda"), name + ".py")
    if not os.path.exists(path):
        write_once(path, source.encode())
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return getattr(sys.modules[name], program.kernel.name + "_")


def ptx(program: tree.Program, compute_capability: tuple[int, int]) -> str:
    """Compile a program to PTX; needs the toolkit's wheels, but no GPU."""
    from types import SimpleNamespace
    from unittest.mock import patch

    cuda = numba_cuda()
    chip = SimpleNamespace(compute_capability=compute_capability)
    with patch("numba.cuda.dispatcher.get_current_device", lambda: chip):  # asked for by functions, even here
        text, _ = cuda.compile(
            emitted_kernel(program).py_func,
            signature(program),
            device=False,
            abi="numba",
            cc=compute_capability,
            launch_bounds=program.team_size,
        )
    return str(text)
