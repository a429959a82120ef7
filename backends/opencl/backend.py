"""Any OpenCL device through pyopencl: a team is a work-group; program binaries are cached on disk."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import time
import warnings
import weakref
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backends.cache import cache_folder, read_sealed, write_sealed
from backends.cpu_info import available_cores, cpu_tag
from backends.device import Buffer, Capabilities, DeviceInfo, Launch, OutOfMemory, Shape, Unavailable
from backends.launch import Backend
from backends.opencl import icd
from core.errors import LaunchRefused
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopencl import Event, Kernel, Program

IMAGE_CHANNELS = {
    "i1": "SIGNED_INT8", "i2": "SIGNED_INT16", "i4": "SIGNED_INT32",
    "u1": "UNSIGNED_INT8", "u2": "UNSIGNED_INT16", "u4": "UNSIGNED_INT32",
    "f4": "FLOAT",
}  # fmt: skip
# -w: hide warnings about emitted code.
OPTIONS = ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt", "-w"]
KEPT_BYTES = 4 << 10
"""Arrays of up to this size are copied on the host and kept until `synchronize`, so that writing them does not wait."""
PAUSES_S = (0.001, 0.01, 0.1, 1.0)
"""Successive waits for the times of events that are finished."""


class OpenClExecutable(NamedTuple):
    """A compiled kernel with its program: Intel's runtime frees a program without references, and its kernels too."""

    program: Program
    kernel: Kernel
    team_size: int


class OpenClBackend(Backend):
    """Runs kernels through one in-order queue with profiling; independent copies go through another queue."""

    name = "opencl"
    packs = True

    def __init__(self, device: DeviceInfo) -> None:
        self.cl = cl = icd.import_pyopencl()
        self.handle = icd.list_devices()[int(device.index)]
        extensions = self.handle.extensions.split()
        missing = {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} - set(extensions)
        if missing:
            raise Unavailable(f"{device.name} lacks {', '.join(sorted(missing))}, which kernels need")
        self.context = cl.Context([self.handle])
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        self.queue = cl.CommandQueue(self.context, properties=profiling)
        self.copies = cl.CommandQueue(self.context, properties=profiling)
        self.is_pocl, self.is_intel = (self.handle.platform.name == name for name in (icd.POCL, icd.INTEL))
        # CPUs get one lane a team unless more are requested. With several, PoCL 3.0 is sometimes wrong
        # (docs/design/speeds.md). Intel's runtime is right, but kernels for lone lanes do less work: QAP ran several
        # times as fast as with a GPU's launch shapes.
        is_cpu = bool(self.handle.type & cl.device_type.CPU)
        has_one_lane = is_cpu and not device.has_teams
        limit = Capabilities(
            1 if has_one_lane else self.handle.max_work_group_size,
            self.handle.local_mem_size,
            device.compute_units,
            1 if has_one_lane else 2048,
            "cl_khr_fp64" in extensions,
        )
        super().__init__(device, limit)
        self.events: list[tuple[str, Event, Event, int]] = []
        self.taken = AllocatedBytes()
        self.memory_flags = cl.mem_flags.READ_WRITE
        if is_cpu:
            # Memory that the host could map is allocated at once: PoCL would allocate it at a launch, and crash then.
            self.memory_flags |= cl.mem_flags.ALLOC_HOST_PTR

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        try:
            cl = icd.import_pyopencl()
        except ImportError as error:
            raise Unavailable("pyopencl is not installed; pip install 'onekernel[opencl]'") from error
        devices = [
            DeviceInfo(
                str(k),
                d.name.strip(),
                f"{d.platform.name} {d.driver_version}",
                d.global_mem_size,
                min(d.max_compute_units, available_cores()) if d.type & cl.device_type.CPU else d.max_compute_units,
                "cores" if d.type & cl.device_type.CPU else "gpu",
            )
            for k, d in enumerate(icd.list_devices())
        ]
        if not devices:
            raise Unavailable(f"no OpenCL driver has a device; {icd.driver_advice()}")
        return devices

    @classmethod
    def with_teams(cls, device: DeviceInfo) -> DeviceInfo:
        if device.kind == "gpu":
            return device
        if device.driver.startswith(f"{icd.POCL} 3."):
            wrong = f"{device.driver} is sometimes wrong with teams of several lanes"
            raise Unavailable(f"{device.name}: {wrong}; pip install 'onekernel[opencl-intel]' (x86-64 Linux)")
        return device._replace(name=f"{device.name}, teams of lanes", has_teams=True)

    def allocate(self, shape: Shape, dtype: np.typing.DTypeLike) -> Buffer:
        size = max(1, int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize)
        # Most drivers allocate memory at its first use, and the process would then end without a message.
        if self.taken.bytes + size > self.device.memory_bytes:
            available = f"{self.device.memory_bytes}, {self.taken.bytes} of them in use"
            raise OutOfMemory(f"{size} bytes do not fit {self.device.name}, which has {available}")
        with self.memory_for(f"{size} bytes", self.cl.LogicError, self.cl.RuntimeError):
            handle = self.cl.Buffer(self.context, self.memory_flags, size)
        buffer = Buffer(handle, shape, dtype)
        self.taken.add(buffer, size)
        return buffer

    @contextmanager
    def memory_for(self, what: str, *kinds: type[Exception]) -> Iterator[None]:
        """Convert the driver's memory errors inside the block to `OutOfMemory`."""
        try:
            yield
        except (self.cl.MemoryError, *kinds) as error:
            raise OutOfMemory(f"{what} do not fit {self.device.name}: {error}") from error

    def image(self, buffer: Buffer, what: str) -> Buffer:
        """Return the buffer as an ``image1d_buffer_t`` of one channel, made once."""
        if buffer.image is None:
            cl = self.cl
            form = cl.ImageFormat(cl.channel_order.R, self.channel(buffer, what))
            shape = cl.ImageDescriptor()
            shape.image_type, shape.shape = cl.mem_object_type.IMAGE1D_BUFFER, (buffer.size, 0, 0)
            shape.buffer = buffer.handle
            image = cl.Image(self.context, cl.mem_flags.READ_ONLY, form, desc=shape)
            buffer.image = Buffer(image, buffer.shape, buffer.dtype)
        return buffer.image

    def channel(self, buffer: Buffer, what: str) -> int:
        """Return the type of an image's channel; raises the reason if this device has no such image."""
        cl, device = self.cl, self.device.name
        if not self.handle.image_support:
            raise LaunchRefused(f"{what} is an image, and {device} has none; use readonly")
        most_elements = self.handle.image_max_buffer_size
        if buffer.size > most_elements:
            raise LaunchRefused(f"{what} is an image of {buffer.size} elements; {device} has at most {most_elements}")
        name = IMAGE_CHANNELS.get(buffer.dtype.str[1:])
        if name is None:
            raise LaunchRefused(f"{what} is an image of {buffer.dtype}; images hold i8 to i32, u8 to u32 and f32")
        image_format = cl.ImageFormat(cl.channel_order.R, getattr(cl.channel_type, name))
        kind = cl.mem_object_type.IMAGE1D_BUFFER
        if image_format not in cl.get_supported_image_formats(self.context, cl.mem_flags.READ_ONLY, kind):
            raise LaunchRefused(f"{what} is an image of {buffer.dtype}, which {device} lacks; use readonly")
        return image_format.channel_data_type

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        waits, at = host.nbytes > KEPT_BYTES, start * buffer.dtype.itemsize
        source = host if waits else host.copy()  # the event holds the copy
        with self.memory_for(f"{host.nbytes} bytes"):
            event = self.cl.enqueue_copy(self.queue, buffer.handle, source, dst_offset=at, is_blocking=waits)
        self.span("transfer", event, event)

    def download(self, buffer: Buffer) -> np.ndarray:
        host = np.empty(buffer.size, buffer.dtype)
        self.stream_out(buffer, 0, buffer.size, host, beside=False)
        self.synchronize()
        return host.reshape(buffer.shape)

    def host_array(self, count: int, dtype: np.typing.DTypeLike) -> np.ndarray:
        cl = self.cl
        size = max(1, count * np.dtype(dtype).itemsize)
        with self.memory_for(f"{size} page-locked bytes", cl.LogicError, cl.RuntimeError):
            locked = cl.Buffer(self.context, cl.mem_flags.ALLOC_HOST_PTR | cl.mem_flags.READ_WRITE, size)
            mapped, _ = cl.enqueue_map_buffer(
                self.copies, locked, cl.map_flags.READ | cl.map_flags.WRITE, 0, (count,), dtype, is_blocking=True
            )
        return np.asarray(mapped)

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray, beside: bool) -> Callable[[], None]:
        queue = self.copies if beside else self.queue
        after = [self.cl.enqueue_marker(self.queue)] if beside else []
        self.queue.flush()
        at = start * buffer.dtype.itemsize
        with self.memory_for(f"{host.nbytes} bytes"):
            event = self.cl.enqueue_copy(queue, host, buffer.handle, src_offset=at, is_blocking=False, wait_for=after)
        queue.flush()
        self.span("transfer", event, event)
        return event.wait

    def span(self, kind: str, first: Event, last: Event) -> None:
        """Store the time between two events for `synchronize`."""
        self.events.append((kind, first, last, self.timing_weight))

    def synchronize(self) -> None:
        self.queue.finish()
        self.copies.finish()
        for kind, first, last, weight in self.events:
            if weight:
                self.timings.add(kind, weight * self.seconds_of(first, last))
        self.events.clear()

    def seconds_of(self, first: Event, last: Event) -> float:
        """Return the seconds from the start of one finished event to the end of another.

        On a busy machine Intel's runtime may lack their times for a moment after the queue has finished.
        """
        missing = self.cl.status_code.PROFILING_INFO_NOT_AVAILABLE
        for pause_s in PAUSES_S:
            try:
                return float(last.profile.end - first.profile.start) * 1e-9
            except self.cl.RuntimeError as error:
                if error.code != missing:
                    raise
            time.sleep(pause_s)
        return float(last.profile.end - first.profile.start) * 1e-9

    def compile(self, program: tree.Program) -> OpenClExecutable:
        from backends.emit.opencl_c import IntelC, OpenClC

        printer = IntelC if self.is_intel else OpenClC
        built = self.program(printer(program).source(), program.kernel.name)
        return OpenClExecutable(built, self.cl.Kernel(built, program.kernel.name + "_"), program.team_size)

    def most_lanes(self, executable: OpenClExecutable) -> int:
        info = self.cl.kernel_work_group_info.WORK_GROUP_SIZE
        return int(executable.kernel.get_work_group_info(info, self.handle))

    def program(self, source: str, name: str) -> Program:
        """Build from the cached binary of an earlier run, or from source."""
        if self.is_pocl:  # it has a separate cache, shared by all processes, into which it would unpack ours
            return self.build(name, self.cl.Program(self.context, source))
        device = (self.device._replace(memory_bytes=0), self.handle.version, cpu_tag())
        chosen = os.environ.get("CL_CONFIG_CPU_TARGET_ARCH")  # the processor for which Intel's driver compiles
        key = f"{source} {OPTIONS} {self.handle.platform.version} {device} {chosen}"
        path = os.path.join(cache_folder("opencl"), f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.bin")
        binary = read_sealed(path)
        if binary is not None:
            return self.build(name, self.cl.Program(self.context, [self.handle], [binary]))
        built = self.build(name, self.cl.Program(self.context, source))
        write_sealed(path, built.get_info(self.cl.program_info.BINARIES)[0])
        return built

    def build(self, name: str, program: Program) -> Program:
        """Compile and link without output on the terminal; errors have the compiler's messages."""
        cl = self.cl
        with warnings.catch_warnings(), captured_stderr() as words:
            warnings.simplefilter("ignore", cl.CompilerWarning)
            try:
                return program.build(OPTIONS, cache_dir=False)
            except (cl.MemoryError, cl.LogicError, cl.RuntimeError) as error:
                messages = [line for text in (str(error), *words()) for line in text.splitlines() if line.strip()]
        first = next((line for line in messages if line.startswith("error:") or ": error:" in line), messages[0])
        raise Unavailable(
            "\n".join([f"{self.device.driver} does not compile {name} on {self.device.name}: {first}", *messages])
        )

    def pack(self, launch: Launch, places: list[int]) -> PackedArguments:
        return PackedArguments(self, launch, places)

    def enqueue(self, kernel: Kernel, teams: int, team_size: int) -> Event:
        """Queue a launch after its arguments are set."""
        try:
            return self.cl.enqueue_nd_range_kernel(self.queue, kernel, (teams * team_size,), (team_size,))
        except self.cl.MemoryError:
            with self.memory_for("a launch's buffers"):
                raise

    def prepare(self, launches: list[Any]) -> Callable[[int], None]:
        """Make a kernel object for each launch, and set its arguments once."""
        prepared = []
        for launch in launches:
            program, kernel, team_size = launch.executable
            own_kernel = self.cl.Kernel(program, kernel.function_name)
            PackedArguments(self, launch, []).set(own_kernel)
            prepared.append((own_kernel, launch.teams, team_size))
        return partial(self.replay, prepared)

    def replay(self, prepared: list[tuple[Kernel, int, int]], times: int) -> None:
        first = last = None
        for _ in range(times):
            for kernel, teams, team_size in prepared:
                last = self.enqueue(kernel, teams, team_size)
                first = first or last
        if last is not None:
            self.span("kernel", first, last)


class PackedArguments:
    """A launch's arguments in the driver's format: a buffer's handle or a number, as bytes.

    pyopencl needs 2 to 13 us to find the type of each argument, and none for bytes.
    """

    def __init__(self, backend: OpenClBackend, launch: Launch, places: list[int]) -> None:
        self.backend = backend
        _, self.kernel, self.team_size = launch.executable
        self.words: list[int | bytes] = []  # place, bytes, place, bytes ...
        for place, argument in enumerate(launch.arguments):
            self.words += [place, argument_bytes(argument)]
        self.numbers = [(2 * k + 1, struct.Struct(launch.arguments[k].dtype.char).pack) for k in places]

    def put(self, numbers: list[Any]) -> None:
        for (word, pack), value in zip(self.numbers, numbers, strict=True):
            self.words[word] = pack(value)

    def set(self, kernel: Kernel) -> None:
        kernel._set_arg_buf_multi(tuple(self.words))

    def start(self, teams: int) -> None:
        self.set(self.kernel)
        event = self.backend.enqueue(self.kernel, teams, self.team_size)
        self.backend.span("kernel", event, event)


def argument_bytes(argument: Buffer | np.generic) -> bytes:
    if isinstance(argument, Buffer):
        return struct.pack("P", argument.handle.int_ptr)
    return np.asarray(argument, argument.dtype).tobytes()


class AllocatedBytes:
    """Number of bytes in existing buffers."""

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, buffer: Buffer, size: int) -> None:
        """Count a buffer until its last reference is gone."""
        self.bytes += size
        weakref.finalize(buffer, self.give_back, size).atexit = False

    def give_back(self, size: int) -> None:
        self.bytes -= size


@contextmanager
def captured_stderr() -> Iterator[Callable[[], list[str]]]:
    """Redirect the standard error of C libraries to a file inside the block; the function reads it.

    Drivers' compilers write there past Python: "27 warnings generated." is NVIDIA's.
    """
    try:
        original = os.dup(2)
    except OSError:  # there is no standard error
        yield list
        return
    # In memory where that is possible: there may be no folder for temporary files.
    with os.fdopen(os.memfd_create("err"), "w+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)

        def words() -> list[str]:
            file.seek(0)
            return file.read().decode(errors="replace").splitlines()

        try:
            yield words
        finally:
            os.dup2(original, 2)
            os.close(original)
