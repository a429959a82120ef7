"""Any OpenCL device through pyopencl: a team is a work-group; programs are kept as binaries on disk."""

from __future__ import annotations

import hashlib
import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backends import icd
from backends.base import Backend, Buffer, Capabilities, DeviceInfo, Launch, LaunchRefused, OutOfMemory, Unavailable
from backends.cache import cache_folder, read_sealed, write_sealed
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGE_CHANNELS = {
    "i1": "SIGNED_INT8", "i2": "SIGNED_INT16", "i4": "SIGNED_INT32",
    "u1": "UNSIGNED_INT8", "u2": "UNSIGNED_INT16", "u4": "UNSIGNED_INT32",
    "f4": "FLOAT",
}  # fmt: skip
# PoCL 3.0 is wrong now and then with several lanes in a team (CONTRIBUTING.md): it is offered teams of one. It has a
# cache of its own, shared by all processes, into which it would unpack a binary of ours: it gets none.
OPTIONS = ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"]


class Executable(NamedTuple):
    """A compiled kernel. Intel's runtime forgets a program that nobody else holds, and its kernels go with it."""

    program: Any
    kernel: Any
    team_size: int


class OpenClBackend(Backend):
    """Runs kernels through one in-order queue with profiling; copies that they need not wait for go through another.

    Parameters
    ----------
    device
        What `devices` lists; its index counts the devices of all platforms.

    """

    name = "opencl"

    def __init__(self, device: DeviceInfo) -> None:
        import pyopencl as cl

        self.cl = cl
        self.handle = icd.every_device()[int(device.index)]
        extensions = self.handle.extensions.split()
        missing = {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} - set(extensions)
        if missing:
            raise Unavailable(f"{device.name} lacks {', '.join(sorted(missing))}, which the suite's kernels need")
        self.context = cl.Context([self.handle])
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        self.queue = cl.CommandQueue(self.context, properties=profiling)
        self.copies = cl.CommandQueue(self.context, properties=profiling)
        is_cpu = bool(self.handle.type & cl.device_type.CPU)
        self.is_pocl = self.handle.platform.name == icd.POCL
        self.is_intel = self.handle.platform.name == icd.INTEL
        limit = Capabilities(
            1 if is_cpu else self.handle.max_work_group_size,
            self.handle.local_mem_size,
            self.handle.max_compute_units,
            1 if is_cpu else 2048,
            "cl_khr_fp64" in extensions,
        )
        super().__init__(device, limit)
        self.events: list[tuple[str, Any, Any]] = []

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        try:
            import pyopencl as cl
        except ImportError as error:
            raise Unavailable("pyopencl is not installed; pip install 'onekernel[opencl]'") from error
        found = [
            DeviceInfo(
                str(k),
                d.name.strip(),
                f"{d.platform.name} {d.driver_version}",
                d.global_mem_size,
                d.max_compute_units,
                "cores" if d.type & cl.device_type.CPU else "gpu",
            )
            for k, d in enumerate(icd.every_device())
        ]
        if not found:
            raise Unavailable("no OpenCL platform has a device; pip install 'onekernel[opencl]' brings PoCL for CPUs")
        return found

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = max(1, int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize)
        if size > self.device.memory_bytes:  # some drivers take memory only when it is used
            raise OutOfMemory(f"{size} bytes do not fit {self.device.name}, which has {self.device.memory_bytes}")
        try:
            return Buffer(self.cl.Buffer(self.context, self.cl.mem_flags.READ_WRITE, size), shape, dtype)
        except (self.cl.MemoryError, self.cl.LogicError, self.cl.RuntimeError) as error:
            raise OutOfMemory(f"{size} bytes do not fit {self.device.name}: {error}") from error

    def image(self, buffer: Buffer, what: str) -> Buffer:
        """The buffer as an ``image1d_buffer_t`` of one channel, made once."""
        if buffer.image is None:
            cl = self.cl
            form = cl.ImageFormat(cl.channel_order.R, self.channel(buffer, what))
            shape = cl.ImageDescriptor()
            shape.image_type, shape.shape = cl.mem_object_type.IMAGE1D_BUFFER, (buffer.size, 0, 0)
            shape.buffer = buffer.handle
            made = cl.Image(self.context, cl.mem_flags.READ_ONLY, form, desc=shape)
            buffer.image = Buffer(made, buffer.shape, buffer.dtype)
        return buffer.image

    def channel(self, buffer: Buffer, what: str) -> Any:
        """The type of an image's channel, or why this device has no such image."""
        cl, device = self.cl, self.device.name
        if not self.handle.image_support:
            raise LaunchRefused(f"{what} is an image, and {device} has none; use readonly")
        most = self.handle.image_max_buffer_size
        if buffer.size > most:
            raise LaunchRefused(f"{what} is an image of {buffer.size} elements; {device} has at most {most}")
        name = IMAGE_CHANNELS.get(buffer.dtype.str[1:])
        if name is None:
            raise LaunchRefused(f"{what} is an image of {buffer.dtype}; images hold i8 to i32, u8 to u32 and f32")
        wanted = cl.ImageFormat(cl.channel_order.R, getattr(cl.channel_type, name))
        kind = cl.mem_object_type.IMAGE1D_BUFFER
        if wanted not in cl.get_supported_image_formats(self.context, cl.mem_flags.READ_ONLY, kind):
            raise LaunchRefused(f"{what} is an image of {buffer.dtype}, which {device} lacks; use readonly")
        return wanted.channel_data_type

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        event = self.cl.enqueue_copy(self.queue, buffer.handle, host, is_blocking=True)
        self.events.append(("transfer", event, event))

    def download(self, buffer: Buffer) -> np.ndarray:
        host = np.empty(buffer.size, buffer.dtype)
        event = self.cl.enqueue_copy(self.queue, host, buffer.handle, is_blocking=True)
        self.events.append(("transfer", event, event))
        self.synchronize()
        return host.reshape(buffer.shape)

    def host_array(self, count: int, dtype: Any) -> np.ndarray:
        cl = self.cl
        size = max(1, count * np.dtype(dtype).itemsize)
        try:
            locked = cl.Buffer(self.context, cl.mem_flags.ALLOC_HOST_PTR | cl.mem_flags.READ_WRITE, size)
            mapped, _ = cl.enqueue_map_buffer(
                self.copies, locked, cl.map_flags.READ | cl.map_flags.WRITE, 0, (count,), dtype, is_blocking=True
            )
        except (cl.MemoryError, cl.LogicError, cl.RuntimeError) as error:
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked: {error}") from error
        return np.asarray(mapped)

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        queued = self.cl.enqueue_marker(self.queue)
        self.queue.flush()
        event = self.cl.enqueue_copy(
            self.copies,
            host,
            buffer.handle,
            src_offset=start * buffer.dtype.itemsize,
            is_blocking=False,
            wait_for=[queued],
        )
        self.copies.flush()
        self.events.append(("transfer", event, event))
        return event.wait

    def synchronize(self) -> None:
        self.queue.finish()
        self.copies.finish()
        for kind, first, last in self.events:
            seconds = (last.profile.end - first.profile.start) * 1e-9
            if kind == "transfer":
                self.timings.transfer_s += seconds
            else:
                self.timings.kernel_s += seconds
        self.events.clear()

    def compile(self, program: tree.Program) -> Any:
        """A kernel object with its program and its team size."""
        from backends.emit.opencl_c import OpenClC

        source = OpenClC(program).source()
        built = self.program(source, program.kernel.name)
        kernel = self.cl.Kernel(built, program.kernel.name + "_")
        info = self.cl.kernel_work_group_info
        most = kernel.get_work_group_info(info.WORK_GROUP_SIZE, self.handle)
        if program.team_size > most:
            name = program.kernel.name
            raise LaunchRefused(f"opencl: {name} runs teams of 1 to {most} lanes here, not {program.team_size}")
        return Executable(built, kernel, program.team_size)

    def program(self, source: str, name: str) -> Any:
        """Build from the binary that an earlier run left, else from source."""
        if self.is_pocl:
            return self.built(source)
        key = f"{source} {OPTIONS} {self.handle.platform.version} {self.device} {self.handle.version}"
        path = os.path.join(cache_folder("opencl"), f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.bin")
        binary = read_sealed(path)
        if binary is not None:
            return self.cl.Program(self.context, [self.handle], [binary]).build(OPTIONS)
        built = self.built(source)
        write_sealed(path, built.get_info(self.cl.program_info.BINARIES)[0])
        return built

    def built(self, source: str) -> Any:
        """Compile; warnings about what the emitter writes are nobody's business."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self.cl.CompilerWarning)
            return self.cl.Program(self.context, source).build(OPTIONS, cache_dir=False)

    def execute(self, launch: Launch) -> None:
        _, kernel, team_size = launch.executable
        set_arguments(kernel, launch.arguments)
        event = self.enqueue(kernel, launch.teams, team_size)
        self.events.append(("kernel", event, event))

    def enqueue(self, kernel: Any, teams: int, team_size: int) -> Any:
        """Queue one launch whose arguments are set."""
        try:
            return self.cl.enqueue_nd_range_kernel(self.queue, kernel, (teams * team_size,), (team_size,))
        except self.cl.MemoryError as error:
            raise OutOfMemory(f"{self.device.name}: {error}") from error

    def prepare(self, launches: list[Launch]) -> Any:
        """A kernel object for each launch, with its arguments set once."""
        prepared = []
        for launch in launches:
            program, kernel, team_size = launch.executable
            own = self.cl.Kernel(program, kernel.function_name)
            set_arguments(own, launch.arguments)
            prepared.append((own, launch.teams, team_size))
        return prepared

    def replay(self, prepared: Any, times: int) -> None:
        first = last = None
        for _ in range(times):
            for kernel, teams, team_size in prepared:
                last = self.enqueue(kernel, teams, team_size)
                first = first or last
        if last is not None:
            self.events.append(("kernel", first, last))


def set_arguments(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Hand over buffers and typed numbers."""
    kernel.set_args(*(a.handle if isinstance(a, Buffer) else a.dtype.type(a) for a in arguments))
