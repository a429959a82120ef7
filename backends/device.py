"""Protocol of a device: memory, copies, compilation and queued launches, implemented once for each kind of device.

Launches queue; only `Device.download` and `Device.synchronize` wait. A device refuses launches that it cannot run
and never changes one silently. In the spirit of BabelStream's ``Stream`` and tinygrad's devices: one class each.
"""

from __future__ import annotations

import copy
import itertools
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from core.errors import LaunchRefused, UserError, shown
from core.lang.bundle_forms import RowArray, fields_of, is_bundle
from core.lang.bundles import Rows, row_sizes
from core.lang.types import Array, Generic, boolean, described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import DTypeLike

    from core.lang import tree

T = TypeVar("T")
Shape = int | tuple[int, ...]
"""Shape of an array; a number of elements is that of a flat one."""


class Unavailable(UserError):
    """A backend or device cannot be used; the message has the reason and a remedy."""


class OutOfMemory(MemoryError):
    """The device has not enough memory; the same exception on every backend, so the caller can halve its batch."""


class DeviceInfo(NamedTuple):
    """One device as `Device.devices` lists it.

    ``index`` is the value of ``--device``. ``kind`` is the kind of device, the same for every backend: ``core`` (one
    core of a processor), ``cores`` (several of them) or ``gpu``. ``part`` is the part of the device in use if it is
    limited, such as "4 of 16 cores", and ``compiler`` the compiler of its kernels if there is a choice. ``has_teams``
    is True for a processor that runs teams of several lanes on request.
    """

    index: str  # type: ignore[assignment]
    name: str
    driver: str
    memory_bytes: int
    compute_units: int
    kind: str = "core"
    part: str = ""
    compiler: str = ""
    has_teams: bool = False


class Capabilities(NamedTuple):
    """Properties of a device by which algorithms choose, never by the name of a backend.

    ``shared_bytes`` is per team; ``lanes_resident`` is the number of lanes that a compute unit holds at a time.
    """

    max_team_size: int
    shared_bytes: int
    compute_units: int
    lanes_resident: int
    float64: bool = True


class Timings:
    """Seconds spent since `reset`, split as the papers split them, and bytes copied.

    ``prepare_s`` are those of the processor in making the last search, without compilation.
    ``copied_bytes`` counts bytes copied between host arrays and buffers. Buffers of CPU backends are host memory too,
    and copies into them count as well.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.compile_s = self.transfer_s = self.kernel_s = self.prepare_s = 0.0
        self.copied_bytes = 0

    def add(self, kind: str, seconds: float) -> None:
        """Add the time of a ``transfer`` or of a ``kernel``."""
        if kind == "transfer":
            self.transfer_s += seconds
        else:
            self.kernel_s += seconds


class Buffer:
    """Memory of a device.

    ``handle`` is the backend's object, and ``serial`` a number that no other buffer of the process has or had.
    ``image``, the same memory as an image, and ``address``, if the backend has addresses, are set when they are needed.
    """

    serials = itertools.count()

    def __init__(self, handle: Any, shape: Shape, dtype: DTypeLike) -> None:
        self.handle = handle
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.size = int(np.prod(shape))
        self.image: Buffer | None = None
        self.address: int | None = None
        self.serial = next(self.serials)


class Launch(NamedTuple):
    """One launch, ready to run: a compiled kernel, its teams, and its arguments without the constants."""

    executable: Any
    teams: int
    arguments: tuple[Any, ...]


class Collective(NamedTuple):
    """A recorded step that is no kernel; only a step that queues work of the device can be part of a CUDA graph."""

    act: Callable[[], None]
    on_device: bool


class PackedLaunch(Protocol):
    """A packed launch; the number of teams and some scalar arguments are variable."""

    def put(self, numbers: list[Any]) -> None:
        """Store the variable numbers; raises ``struct.error`` for one that is no integer or does not fit its type."""

    def start(self, teams: int) -> None:
        """Queue the launch."""


class Device:
    """Memory and compiler of one device; subclasses implement the methods of the second half."""

    name = ""
    automatic_for = ""
    """The kind of device for which ``--backend auto`` takes this backend; empty: never."""
    is_reference = False
    """True for the reference interpreter, which is too slow for comparisons of speed."""
    memory = ""
    """Memory that ranks of one host share, so that their kernels see each other's writes; empty if none."""
    replays_by_itself = False
    """True if a recording is replayed without the host, so that a further launch in it costs almost nothing."""
    replays_host_steps = False
    """True if host steps between launches, such as a reduction over ranks, can be part of a replay."""
    same_as = ""
    """Another backend that runs the same programs on the same processors; one of both is enough in comparisons."""
    timing_weight = 1
    """Number of equal steps for which a timed one counts; with 0 CUDA and OpenCL time none, to save driver calls."""
    packs = False
    """True if `pack` is implemented, so that repeated launches are not bound again."""
    shares_executables = False
    """True if all backends of a class and device in a process share executables; else each backend has its own."""
    takes_cores = False
    """True if the number of cores can be chosen."""
    compilers: tuple[str, ...] = ()
    """Compilers of kernels between which `--compiler` chooses; empty if there is no choice."""
    profiler = ""
    """The program that profiles kernels of this device, if `drivers.runs.kernel_profile` supports one."""

    @classmethod
    def present(cls) -> int:
        """Estimate the number of devices here, without importing what they need."""
        return 1

    @classmethod
    def with_teams(cls, device: DeviceInfo) -> DeviceInfo:
        """Return the device as it runs teams of several lanes on request; raises `Unavailable` if it does not."""
        raise Unavailable(f"{cls.name} has no teams of several lanes on request: expected opencl on a processor")

    def __init__(self, device: DeviceInfo, capabilities: Capabilities) -> None:
        self.device = device
        self.capabilities = capabilities
        self.timings = Timings()

    @contextmanager
    def on_host(
        self, buffer: Buffer, start: int, count: int, *, read: bool = True, written: bool = True
    ) -> Iterator[np.ndarray]:
        """Wait for all queued work, and yield some elements of a buffer as host memory.

        With ``read`` the block reads them; with ``written`` elements that it writes are copied to the buffer.
        """
        host = self.read(buffer, start, count) if read else np.empty(count, buffer.dtype)
        yield host
        if written:
            self.put(buffer, start, host)

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Count the launches made inside the block as compilation: some drivers compile at the first one."""
        yield
        self.synchronize()
        compiled = self.timings.compile_s + self.timings.kernel_s
        self.timings.reset()
        self.timings.compile_s = compiled

    def upload(self, host: np.ndarray) -> Buffer:
        buffer = self.allocate(host.shape, host.dtype)
        self.write(buffer, host)
        return buffer

    def load(self, bundle: T, **types: DTypeLike) -> T:
        """Return the bundle on the device: host arrays are copied, and rows that are left out are allocated.

        ``types`` has the dtype of every `core.lang.Generic` among the rows to allocate, by its name. Raises `UserError`
        for no bundle; an array of another type than its field, or of another size than its rows; rows of a `Generic`
        that ``types`` does not name, or of 2^31 elements and more; a negative count.
        """
        return self.rows(bundle, 1, **types).bundle

    def rows(self, bundle: object, count: int, **types: DTypeLike) -> Rows:
        """Return ``count`` rows of a bundle on the device; arguments and errors as for `load`."""
        if not is_bundle(type(bundle)) or count < 0:
            raise UserError(f"{count} rows of {shown(bundle)}; expected a bundle, and a count of 0 or more")
        filled = copy.copy(bundle)
        sizes = row_sizes(bundle)
        for name, kind in fields_of(type(bundle)).items():
            value, what = getattr(bundle, name), f"{type(bundle).__name__}.{name}"
            if is_bundle(kind):
                value = self.rows(value, count, **types).bundle
            elif isinstance(kind, Array):
                value = self._array_field(what, kind, value, count * sizes.get(name, 0), types)
            elif isinstance(value, (np.ndarray, Buffer)):
                raise UserError(f"{what} is an array; expected a number, {described(kind)}")
            setattr(filled, name, value)
        return Rows(filled, count)

    def _array_field(self, what: str, kind: Array, value: Any, size: int, types: dict[str, DTypeLike]) -> Buffer:
        """Return the buffer of a bundle's array; rows have ``size`` elements in all."""
        element = kind.element
        if isinstance(kind, RowArray) and size >= 2**31:
            raise UserError(f"{what}: rows of {size} elements in all; expected less than 2^31")
        if isinstance(kind, RowArray) and value is None:
            if isinstance(element, Generic) and element.name not in types:
                raise UserError(f"{what}: rows of {element.name}; say what that is, as in {element.name}=np.uint8")
            dtype = types[element.name] if isinstance(element, Generic) else element.dtype
            return self.allocate(max(1, size), dtype)
        is_array = isinstance(value, (np.ndarray, Buffer))
        if not is_array or (not isinstance(element, Generic) and value.dtype != element.dtype):
            description = f"an array of {value.dtype}" if is_array else shown(value)
            stored = ", stored as uint8" if element is boolean else ""
            raise UserError(f"{what} is {description}; expected Array[{described(element)}]{stored}")
        if isinstance(kind, RowArray) and value.size not in (size, max(1, size)):
            raise UserError(f"{what} has {value.size} elements; expected {size} for all rows")
        return value if isinstance(value, Buffer) else self.upload(value.reshape(-1))

    def write(self, buffer: Buffer, host: np.ndarray) -> None:
        """Copy a host array into a buffer; raises `LaunchRefused` if their sizes or dtypes differ."""
        if (host.size, host.dtype) != (buffer.size, buffer.dtype):
            raise LaunchRefused(
                f"{self.name}: {host.size} elements of {host.dtype} for a buffer of {buffer.size} of {buffer.dtype}"
            )
        self.fill(buffer, np.ascontiguousarray(host).reshape(-1))
        self.timings.copied_bytes += host.nbytes

    def read(self, buffer: Buffer, start: int, count: int) -> np.ndarray:
        """Wait for all queued work and copy some elements to the host."""
        host = np.empty(count, buffer.dtype)
        self.stream_out(buffer, start, count, host)()
        return host

    def stream_out(
        self, buffer: Buffer, start: int, count: int, host: np.ndarray, *, beside: bool = True
    ) -> Callable[[], None]:
        """Queue a copy of some elements after all launches so far.

        With ``beside``, later launches run meanwhile, and must not write the elements before the copy has ended;
        without, they run after the copy, which needs fewer driver calls. ``host`` is flat and of the elements' number
        and dtype; `host_array` makes such memory. Returns a function that waits for the copy. Raises `LaunchRefused`
        for elements that do not exist, or another ``host``.
        """
        self.check_part(buffer, start, count)
        if (host.size, host.dtype) != (count, buffer.dtype):
            raise LaunchRefused(f"{self.name}: {count} elements of {buffer.dtype} for {host.size} of {host.dtype}")
        self.timings.copied_bytes += host.nbytes
        return self.copy_out(buffer, start, count, host, beside)

    def check_part(self, buffer: Buffer, start: int, count: int) -> None:
        if not 0 <= start <= start + count <= buffer.size:
            raise LaunchRefused(f"{self.name}: {count} elements from {start} on, of a buffer of {buffer.size}")

    # --- what a device implements ---

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        """List the devices of this machine; raises `Unavailable` if there can be none."""
        raise NotImplementedError

    def allocate(self, shape: Shape, dtype: DTypeLike) -> Buffer:
        """Allocate uninitialised memory; raises `OutOfMemory`."""
        raise NotImplementedError

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        """Copy a flat and contiguous host array of the buffer's size and dtype into it; by default by `put`."""
        self.put(buffer, 0, host)

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        """Copy a flat and contiguous host array of the buffer's dtype to the elements from ``start`` on."""
        raise NotImplementedError

    def shared(self, size: int, dtype: DTypeLike) -> Buffer:
        """Make a flat buffer of zeros that other ranks can open by its ``segment``; only if `memory` is set."""
        raise NotImplementedError

    def opened(self, segment: Any, size: int, dtype: DTypeLike) -> Buffer:
        """Open the buffer that another rank of the same `memory` has made by `shared`."""
        raise NotImplementedError

    def link(self) -> dict[str, str] | None:
        """Return what other ranks need to reach this device without the host; None if they cannot."""
        return None

    def queue_collective(self, step: Collective) -> None:
        """Queue a step that several ranks run together, or record it."""
        raise NotImplementedError

    def download(self, buffer: Buffer) -> np.ndarray:
        """Wait for all queued work and copy a buffer to the host; counts its bytes in `Timings.copied_bytes`."""
        raise NotImplementedError

    def host_array(self, count: int, dtype: DTypeLike) -> np.ndarray:
        """Allocate flat host memory for `stream_out`, page-locked where copies to such memory are faster."""
        return np.empty(count, dtype)

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray, beside: bool) -> Callable[[], None]:
        """Do what `stream_out` describes, for elements that exist; by default at once."""
        began = time.perf_counter()
        host[:] = buffer.handle[start : start + count]
        self.timings.transfer_s += time.perf_counter() - began
        return lambda: None

    def image(self, buffer: Buffer, what: str) -> Buffer:
        """Return the same memory as an image; ``what`` begins the error message."""
        raise LaunchRefused(f"{what} is an image on {self.name}: images exist on OpenCL devices; use readonly")

    def synchronize(self) -> None:
        """Wait for all queued work, and bring `timings` up to date."""

    def compile(self, program: tree.Program) -> object:
        raise NotImplementedError

    def most_lanes(self, executable: Any) -> int:
        """Return the largest team of an executable; its registers may limit it below the device's largest."""
        return self.capabilities.max_team_size

    def resident_lanes(self, executable: Any) -> int:
        """Return the lanes of an executable that a compute unit holds at a time; its registers may limit them."""
        return self.capabilities.lanes_resident

    def reload(self, saved: str) -> object:
        """Load an executable of another rank, one of its `compiled_here`; None if it cannot be used here."""
        return None

    def execute(self, launch: Launch) -> None:
        """Queue one launch; needed only without `pack`."""
        self.pack(launch, []).start(launch.teams)

    def pack(self, launch: Launch, places: list[int]) -> PackedLaunch:
        """Pack the arguments of a launch as machine code reads them; numbers at ``places`` stay variable."""
        raise NotImplementedError

    def prepare(self, launches: list[Any]) -> Callable[[int], None]:
        """Return a function that repeats recorded launches a number of times, as cheaply as this device can."""

        def replay(times: int) -> None:
            for _ in range(times):
                for launch in launches:
                    self.execute(launch)

        return replay

    def close(self) -> None:
        """Free processes and memory that outlive Python's references."""
