"""The protocol of a backend: what a device must offer so that every algorithm of the suite runs on it.

Launches queue; only `Backend.download` and `Backend.synchronize` wait. A backend that cannot run what is asked refuses;
it never changes a launch silently. In the spirit of BabelStream's ``Stream`` and tinygrad's devices: one class each.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import reprlib
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from backends.collectives import Collective, Collectives, memory_groups
from backends.device_output import DeviceOutput, checks_enabled, output_types
from backends.launch_cache import LaunchCache, PackedLaunch
from core.errors import LaunchRefused, TeamTooLarge, UserError
from core.lang import tree
from core.lang.bundles import Row, Rows, fields_of, is_bundle, row_sizes, unbundled
from core.lang.types import BY_DTYPE, Array, Const, Generic, Integer, Table, boolean, described, fits, i32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from core.lang import Kernel


class Unavailable(UserError):
    """A backend or device cannot be used here; the message says why, and what would help."""


class OutOfMemory(MemoryError):
    """The device has not enough memory; the same exception on every backend, so the caller can halve its batch."""


class DeviceInfo(NamedTuple):
    """One device as `Backend.devices` lists it.

    ``index`` is what ``--device`` takes. ``kind`` is what the device is, whichever backend runs it: ``core`` (one core
    of a processor), ``cores`` (several of them) or ``gpu``; nobody has to conclude it from a backend's name. ``part``
    says which part of the device is used where that is not all of it, "4 of 16 cores".
    """

    index: str  # type: ignore[assignment]
    name: str
    driver: str
    memory_bytes: int
    compute_units: int
    kind: str = "core"
    part: str = ""


class Capabilities(NamedTuple):
    """What a device can do; algorithms ask this, never a backend's name.

    ``shared_bytes`` is per team; ``lanes_resident`` is how many lanes one compute unit holds at a time.
    """

    max_team_size: int
    shared_bytes: int
    compute_units: int
    lanes_resident: int
    float64: bool = True


class Timings:
    """Seconds spent since `reset`, split as the papers split them, and bytes copied.

    ``copied_bytes`` counts what the host copied into buffers and out of them; a CPU backend's buffers are host memory
    too, and what goes into them is a copy all the same.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again from zero."""
        self.compile_s = self.transfer_s = self.kernel_s = 0.0
        self.copied_bytes = 0


class Buffer:
    """Memory of a device.

    ``handle`` is the backend's own object, ``image`` the same memory as one, if it was made, and ``address`` where it
    lies, if the backend has addresses and somebody asked. ``serial`` is a number that no other buffer of the process
    has or had.
    """

    serials = itertools.count()

    def __init__(self, handle: Any, shape: tuple[int, ...], dtype: Any) -> None:
        self.handle = handle
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.size = int(np.prod(shape))
        self.image: Buffer | None = None
        self.address: int | None = None
        self.serial = next(self.serials)


class Launch(NamedTuple):
    """One launch, ready to run: a compiled kernel, its teams, and its arguments without the constants.

    ``talks`` says whether the kernel may assert or print, so that the host listens when it has run.
    """

    executable: Any
    teams: int
    arguments: tuple[Any, ...]
    talks: bool = False


class LaunchRecording:
    """Launches and collectives recorded by `Backend.record`, to be run many times.

    The host takes part only where a collective needs it: what lies between two such runs without it.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.launches: list[Launch | Collective] = []
        self.parts: list[Callable[[int], None]] | None = None
        self.talks = False

    def prepare(self) -> list[Callable[[int], None]]:
        """The recording as functions that make a number of repetitions: what the device does alone, what the host."""
        parts: list[Callable[[int], None]] = []
        for replayed, steps in itertools.groupby(self.launches, self.backend.can_replay):
            if replayed:
                parts.append(partial(self.backend.replay, self.backend.prepare(list(steps))))
            else:
                parts += [partial(repeat, one.act) for one in steps if isinstance(one, Collective)]
        self.talks = any(launch.talks for launch in self.launches)
        return parts

    def replay(self, times: int = 1) -> None:
        """Queue the recorded launches ``times`` times, in order."""
        if self.parts is None:
            self.parts = self.prepare()
        if len(self.parts) == 1:
            self.parts[0](times)
        else:
            for _ in range(times):
                for part in self.parts:
                    part(1)
        if self.talks:
            self.backend.listener.hear()


def repeat(act: Callable[[], None], times: int) -> None:
    """Take a step so many times."""
    for _ in range(times):
        act()


class Backend:
    """A device that runs kernels. Subclasses implement the methods of the second half."""

    name = ""
    automatic_for = ""
    """The kind of device for which ``--backend auto`` takes this backend; empty: only who names it gets it."""
    oracle = False
    """Whether it is the meaning that the others are tested against, and too slow to race with them."""
    memory = ""
    """What ranks of one host share, so that a kernel of one reads what another has written; empty: nothing."""
    replays_by_itself = False
    """Whether a recording is replayed without the host, so that a further launch in it costs next to nothing."""
    replays_host_steps = False
    """Whether what the host does between launches, such as meeting other ranks, can be part of what is replayed."""
    same_as = ""
    """Another backend that runs the same programs on the same processors, where one of both is enough to show."""
    checks = False
    """Whether kernels assert and print, unless the user says otherwise (`backends.device_output.checks_enabled`)."""
    packs = False
    """Whether it implements `pack`, so that launches which repeat an earlier one are not bound again."""
    takes_cores = False
    """Whether it can be told how many of a processor's cores it shall use."""
    profiler = ""
    """The program that counts what its kernels do, where `drivers.runs.kernel_profile` knows one."""

    @classmethod
    def present(cls) -> int:
        """How many devices it seems to have here, found out without importing what they need."""
        return 1

    def __init__(self, device: DeviceInfo, capabilities: Capabilities) -> None:
        self.device = device
        self.capabilities = capabilities
        self.timings = Timings()
        self._executables: dict[Any, Any] = {}
        self.compiled_earlier: dict[str, str] = {}
        self.launch_cache = LaunchCache()
        self._recording: LaunchRecording | None = None
        self._collectives: dict[int, Collectives] = {}
        self.checks = self.oracle or checks_enabled(self.checks)
        self.listener = DeviceOutput(self)

    def launch(self, kernel: Kernel, teams: int, team_size: int, *arguments: Any) -> None:
        """Queue ``teams`` teams of ``team_size`` lanes.

        Parameters
        ----------
        kernel
            A function decorated with `core.lang.kernel`.
        teams, team_size
            The shape of the launch.
        *arguments
            One for each parameter: a `Buffer` for arrays, a number for scalars and ``Const`` parameters.

        Raises
        ------
        LaunchRefused
            The shape, the shared memory or an argument does not fit.
        KernelError
            The kernel is not in the language, or an assertion of it failed (where `checks`, which makes launches of
            kernels with ``assert`` or ``print`` wait).

        """
        if self._recording is not None:
            self._recording.launches.append(self.bind(kernel, teams, team_size, arguments))
            return
        kept = self.launch_cache.find(kernel, team_size, arguments) if teams >= 1 else None
        if kept is not None:
            talks = kept.talks
            kept.packed.start(teams)
        else:
            one = self.bind(kernel, teams, team_size, arguments)
            talks = one.talks
            if self.packs:
                self.launch_cache.keep(kernel, team_size, arguments, one, self.pack).start(teams)
            else:
                self.execute(one)
        if talks:
            self.listener.hear()

    def bind(self, kernel: Kernel, teams: int, team_size: int, arguments: tuple[Any, ...]) -> Launch:
        """Check a launch and compile its kernel if it is new."""
        if not 1 <= team_size <= self.capabilities.max_team_size:
            most = self.capabilities.max_team_size
            raise LaunchRefused(f"{self.name}: a team of {team_size} lanes; this device runs teams of 1 to {most}")
        if teams < 1:
            raise LaunchRefused(f"{self.name}: {teams} teams; a launch needs at least one")
        # The kernel language's own `min` and `max` give typed numbers, which no device's compiler would read.
        teams, team_size = int(teams), int(team_size)
        kinds, given, forms = unbundled(kernel, arguments)
        types = infer_generic_types(kinds, given, kernel) | forms
        constants: dict[str, Any] = {}
        values: list[Any] = []
        for name, kind in kinds.items():
            if isinstance(kind, Const):
                constants[name] = scalar_argument(kind.scalar, given[name], kernel, name)
            elif isinstance(kind, Table):
                values.append(self.placed(kind, given[name], kernel, name))
            elif isinstance(kind, Array):
                values.append(given[name])
            else:
                value = scalar_argument(types.get(getattr(kind, "name", ""), kind), given[name], kernel, name)
                values.append(i32(value) if kind is boolean else value)
        talks = False
        if self.checks and kernel.says and not self.oracle:  # plain Python asserts and prints by itself
            talks = True
            types |= output_types(kernel, self.capabilities.float64)
            values += self.listener.arguments(kernel, constants, team_size, types)
        return Launch(self.executable(kernel, constants, team_size, types), teams, tuple(values), talks)

    def placed(self, table: Table, buffer: Buffer, kernel: Kernel, name: str) -> Buffer:
        """The buffer of a table as kernels take it; refuses one that is too short, and images where there are none."""
        if table.count is not None and buffer.size < table.count:
            raise LaunchRefused(f"{kernel.name}: table {name} has {table.count} elements; {buffer.size} given")
        return self.image(buffer, f"{kernel.name}: argument {name}") if table.place == "image" else buffer

    def executable(self, kernel: Kernel, constants: dict[str, Any], team_size: int, types: dict[str, Any]) -> Any:
        """The compiled kernel for these constants, this team size and these types of generic parameters."""
        key = (kernel, tuple(constants.values()), team_size, tuple(types.values()))
        made = self._executables.get(key)
        if made is None:
            began = time.perf_counter()
            name = f"{kernel.identity} {constants} {team_size} {sorted(map(repr, types.items()))}"
            found = self.reload(self.compiled_earlier[name]) if name in self.compiled_earlier else None
            if found is not None:
                self._executables[key] = found
                self.timings.compile_s += time.perf_counter() - began
                return found
            program = kernel.specialise(constants, team_size, types)
            needed = tree.shared_bytes(program)
            if needed > self.capabilities.shared_bytes:
                room = self.capabilities.shared_bytes
                raise LaunchRefused(
                    f"{self.name}: {kernel.name} needs {needed} bytes of shared memory; a team has {room}"
                )
            try:
                made = self.compile(program)
                most = self.most_lanes(made)
            finally:
                self.timings.compile_s += time.perf_counter() - began
            if team_size > most:
                raise TeamTooLarge(f"{self.name}: {kernel.name} runs teams of 1 to {most} lanes here, not {team_size}")
            self._executables[key] = made
            if isinstance(made, str) and kernel.identity is not None:
                self.compiled_earlier[name] = made
        return made

    def largest_team(self, kernel: Kernel, team_size: int, *arguments: Any) -> int:
        """How many lanes the teams of a kernel can have here: ``team_size``, or that halved until a team fits.

        A kernel that needs many registers has smaller teams than the device. Every size is another program, so each is
        compiled until one fits, and its launches compile nothing more. On NVIDIA's GPUs a lane has up to 255 of a
        multiprocessor's 65,536 registers: teams of up to 256 lanes always fit, and only who wants more has to ask.

        Parameters
        ----------
        kernel, team_size, *arguments
            Of the launches, as `launch` takes them.

        """
        lanes = min(team_size, self.capabilities.max_team_size)
        while lanes > 1:
            try:
                self.bind(kernel, 1, lanes, arguments)
                break
            except TeamTooLarge:
                lanes = -(-lanes // 2)
        return lanes

    def collectives(self, ranks: Any) -> Collectives:
        """What this device does together with those of the other ranks; all ranks call this, with their communicator.

        The same object for the same communicator.
        """
        known = self._collectives.get(id(ranks))  # which holds the communicator, so that no other has its number
        if known is None:
            if ranks.size == 1 or ranks.is_silent:
                known = Collectives(self, ranks, range(ranks.size))
            else:
                known = self.joined(ranks, ranks.bcast(ranks.gather((ranks.host(), self.link()))))
            self._collectives[id(ranks)] = known
        return known

    def seconds_in_collectives(self) -> float:
        """How long this device has been in collectives so far, as `Collectives.seconds_on_device` counts."""
        return sum(one.seconds_on_device() for one in self._collectives.values())

    @property
    def why_ranks_are_slow(self) -> str:
        """See `Collectives.why_not_faster`."""
        return next((one.why_not_faster for one in self._collectives.values() if one.why_not_faster), "")

    def queue_collective(self, one: Collective) -> None:
        """Record a collective like a launch, or take part in it."""
        if self._recording is not None:
            self._recording.launches.append(one)
        else:
            one.act()

    def can_replay(self, one: Launch | Collective) -> bool:
        """Whether a recorded step can be part of what `prepare` takes."""
        return isinstance(one, Launch) or one.on_device or self.replays_host_steps

    @contextmanager
    def on_host(
        self, buffer: Buffer, start: int, count: int, *, read: bool = True, written: bool = True
    ) -> Iterator[np.ndarray]:
        """Some elements of a buffer as host memory, when all queued work has ended.

        Parameters
        ----------
        buffer, start, count
            The elements.
        read, written
            Whether the block reads what is there, and whether what it writes is to be kept.

        """
        host = self.read(buffer, start, count) if read else np.empty(count, buffer.dtype)
        yield host
        if written:
            self.put(buffer, start, host)

    @contextmanager
    def record(self) -> Iterator[LaunchRecording]:
        """Record the launches made inside the block instead of running them."""
        sequence = LaunchRecording(self)
        self._recording = sequence
        try:
            yield sequence
        finally:
            self._recording = None

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Count the launches made inside the block as compilation: some drivers compile at the first one."""
        yield
        self.synchronize()
        compiled = self.timings.compile_s + self.timings.kernel_s
        self.timings.reset()
        self.timings.compile_s = compiled

    def upload(self, host: np.ndarray) -> Buffer:
        """Copy a host array to the device."""
        buffer = self.allocate(host.shape, host.dtype)
        self.write(buffer, host)
        return buffer

    def load(self, bundle: Any, **types: Any) -> Any:
        """The bundle on the device: its host arrays are copied, the rows that it leaves out are allocated.

        Parameters
        ----------
        bundle
            With arrays of NumPy's or buffers.
        **types
            The dtype of every `core.lang.Generic` among the rows to allocate, by its name.

        Raises
        ------
        UserError
            No bundle; an array of another type than its field, or of another size than its rows; rows of a `Generic`
            that ``types`` does not name, or of 2^31 elements and more; a negative count.

        """
        return self.rows(bundle, 1, **types).bundle

    def rows(self, bundle: Any, count: int, **types: Any) -> Rows:
        """As many rows of a bundle as ``count`` says; all else as for `load`."""
        if not is_bundle(type(bundle)) or count < 0:
            raise UserError(f"{count} rows of {reprlib.repr(bundle)}; expected a bundle, and a count of 0 or more")
        found = copy.copy(bundle)
        sizes = row_sizes(bundle)
        for name, kind in fields_of(type(bundle)).items():
            value, what = getattr(bundle, name), f"{type(bundle).__name__}.{name}"
            if is_bundle(kind):
                value = self.rows(value, count, **types).bundle
            elif isinstance(kind, Array):
                value = self._array_field(what, kind, value, count * sizes.get(name, 0), types)
            elif isinstance(value, (np.ndarray, Buffer)):
                raise UserError(f"{what} is an array; expected a number, {described(kind)}")
            setattr(found, name, value)
        return Rows(found, count)

    def _array_field(self, what: str, kind: Array, value: Any, size: int, types: dict[str, Any]) -> Buffer:
        """The buffer of a bundle's array; rows have ``size`` elements in all."""
        element = kind.element
        if isinstance(kind, Row) and size >= 2**31:
            raise UserError(f"{what}: rows of {size} elements in all; expected less than 2^31")
        if isinstance(kind, Row) and value is None:
            if isinstance(element, Generic) and element.name not in types:
                raise UserError(f"{what}: rows of {element.name}; say what that is, as in {element.name}=np.uint8")
            dtype = types[element.name] if isinstance(element, Generic) else element.dtype
            return self.allocate(max(1, size), dtype)
        is_array = isinstance(value, (np.ndarray, Buffer))
        if not is_array or (not isinstance(element, Generic) and value.dtype != element.dtype):
            given = f"an array of {value.dtype}" if is_array else reprlib.repr(value)
            stored = ", whose elements are uint8" if element is boolean else ""
            raise UserError(f"{what} is {given}; expected Array[{described(element)}]{stored}")
        if isinstance(kind, Row) and value.size not in (size, max(1, size)):
            raise UserError(f"{what} has {value.size} elements; expected {size} for all rows")
        return value if isinstance(value, Buffer) else self.upload(value.reshape(-1))

    def write(self, buffer: Buffer, host: np.ndarray) -> None:
        """Copy a host array into a buffer of the same size and dtype.

        Raises
        ------
        LaunchRefused
            The sizes or dtypes differ: numbers would be cut, repeated or left out.

        """
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

    def stream_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        """Queue a copy of some elements after all launches so far; later launches run meanwhile.

        Parameters
        ----------
        buffer, start, count
            The elements; nobody may write them before the copy is there.
        host : 1-D, count, of the buffer's dtype
            Where they go; `host_array` makes such memory.

        Returns
        -------
        A function that waits until the elements are in ``host``.

        Raises
        ------
        LaunchRefused
            The buffer has no such elements, or ``host`` is of another size or dtype.

        """
        self.check_part(buffer, start, count)
        if (host.size, host.dtype) != (count, buffer.dtype):
            raise LaunchRefused(f"{self.name}: {count} elements of {buffer.dtype} for {host.size} of {host.dtype}")
        self.timings.copied_bytes += host.nbytes
        return self.copy_out(buffer, start, count, host)

    def check_part(self, buffer: Buffer, start: int, count: int) -> None:
        """Refuse elements that a buffer does not have."""
        if not 0 <= start <= start + count <= buffer.size:
            raise LaunchRefused(f"{self.name}: {count} elements from {start} on, of a buffer of {buffer.size}")

    # --- what a device implements ---

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        """The devices of this machine; raises `Unavailable` if there can be none."""
        raise NotImplementedError

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        """Memory that nobody has written; raises `OutOfMemory`."""
        raise NotImplementedError

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        """Copy a flat and contiguous host array of the buffer's size and dtype into it."""
        raise NotImplementedError

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        """Copy a flat and contiguous host array of the buffer's dtype to the elements from ``start`` on."""
        raise NotImplementedError

    def shared(self, size: int, dtype: Any) -> Buffer:
        """A flat buffer that other ranks can open, all zeros, whose ``segment`` tells them where; if `memory`."""
        raise NotImplementedError

    def opened(self, segment: Any, size: int, dtype: Any) -> Buffer:
        """The buffer that another rank of the same `memory` has made by `shared`."""
        raise NotImplementedError

    def link(self) -> Any:
        """What other ranks have to know of this device to reach it without the host; None: nothing helps."""
        return None

    def joined(self, ranks: Any, links: list[Any]) -> Collectives:
        """New collectives with other ranks, all of which call this.

        Parameters
        ----------
        ranks
            Their communicator.
        links
            For every rank (host, what its `link` says).

        """
        return Collectives(self, ranks, memory_groups(ranks, self.memory))

    def download(self, buffer: Buffer) -> np.ndarray:
        """Wait for all queued work and copy a buffer to the host; counts its bytes in `Timings.copied_bytes`."""
        raise NotImplementedError

    def host_array(self, count: int, dtype: Any) -> np.ndarray:
        """Flat host memory for `stream_out`, page-locked where copies are faster to such memory."""
        return np.empty(count, dtype)

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        """What `stream_out` says, of elements that are there; here at once."""
        began = time.perf_counter()
        host[:] = buffer.handle[start : start + count]
        self.timings.transfer_s += time.perf_counter() - began
        return lambda: None

    def image(self, buffer: Buffer, what: str) -> Buffer:
        """The same memory as an image; ``what`` begins the message of a refusal."""
        raise LaunchRefused(f"{what} is an image on {self.name}: images exist on OpenCL devices; use readonly")

    def synchronize(self) -> None:
        """Wait for all queued work, and bring `timings` up to date."""

    def compile(self, program: tree.Program) -> Any:
        """Machine code for a program."""
        raise NotImplementedError

    def most_lanes(self, executable: Any) -> int:
        """Lanes of a team, at most, of what `compile` made: its registers may be too many for the device's largest."""
        return self.capabilities.max_team_size

    def lanes_side_by_side(self, executable: Any) -> int:
        """Lanes of what `compile` made that a compute unit runs at a time: fewer than resident if registers lack."""
        return self.capabilities.lanes_resident

    def reload(self, saved: str) -> Any:
        """Take over what another rank has compiled, one of its `compiled_earlier`; None: it cannot be used here."""
        return None

    def execute(self, launch: Launch) -> None:
        """Queue one launch; who implements `pack` need not implement this."""
        self.pack(launch, []).start(launch.teams)

    def pack(self, launch: Launch, places: list[int]) -> PackedLaunch:
        """A launch's arguments as machine code reads them; the numbers at some places may be stored again."""
        raise NotImplementedError

    def prepare(self, launches: list[Any]) -> Any:
        """Make recorded launches cheap to repeat."""
        return launches

    def replay(self, prepared: Any, times: int) -> None:
        """Queue what `prepare` made, ``times`` times."""
        for _ in range(times):
            for launch in prepared:
                self.execute(launch)

    def close(self) -> None:
        """Give back processes and memory that outlive Python's references."""


def scalar_argument(scalar: Any, value: Any, kernel: Kernel, name: str) -> Any:
    """A scalar argument, which must fit its parameter's type."""
    if type(value) is int and issubclass(scalar, Integer) and scalar.low <= value <= scalar.high:
        return int.__new__(scalar, value)
    if not fits(scalar, value):
        named = f"{kernel.name}: argument {name}"
        raise LaunchRefused(f"{named} is {scalar.__name__}; {reprlib.repr(value)} does not fit")
    return bool(value) if scalar is boolean else scalar(value)


def infer_generic_types(kinds: dict[str, Any], given: dict[str, Any], kernel: Kernel) -> dict[str, Any]:
    """Check the arrays of a launch; the element types that they give to the kernel's generic parameters.

    Raises
    ------
    LaunchRefused
        An argument is no buffer or one of another element type; a buffer is given twice (compilers are told that the
        arrays of a launch share no memory); or a number's generic type is that of no array.

    """
    types: dict[str, Any] = {}
    names: dict[int, str] = {}
    for name, kind in kinds.items():
        if not isinstance(kind, Array):
            continue
        buffer, named = given[name], name
        if not isinstance(buffer, Buffer):
            advice = "; load the bundle first" if "." in named else ""
            found = reprlib.repr(buffer)
            raise LaunchRefused(f"{kernel.name}: argument {named} must be a Buffer, not {found}{advice}")
        if id(buffer.handle) in names:
            raise LaunchRefused(f"{kernel.name}: arguments {names[id(buffer.handle)]} and {named} are the same buffer")
        names[id(buffer.handle)] = named
        element = kind.element
        if isinstance(element, Generic):
            element = types.setdefault(element.name, BY_DTYPE[buffer.dtype])
        if buffer.dtype != element.dtype:
            raise LaunchRefused(f"{kernel.name}: argument {named} is Array[{element.__name__}], not {buffer.dtype}")
    for name, kind in kinds.items():
        if isinstance(kind, Generic) and kind.name not in types:
            raise LaunchRefused(f"{kernel.name}: argument {name} is {kind.name}, which no array gives a type")
    return types


def cpu_device() -> DeviceInfo:
    """This machine's processor, as all CPU backends show it."""
    import os
    import platform

    name = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    # The platform's own word may cost a process.
    name = name or platform.processor() or platform.machine() or "unknown processor"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return DeviceInfo("0", name, platform.system() + " " + platform.release(), memory, available_cores(), "cores")


def limit_cores(device: DeviceInfo, cores: int) -> DeviceInfo:
    """A processor of which so many cores are used, and which says so by its name.

    Raises
    ------
    Unavailable
        It has fewer.

    """
    present = device.compute_units
    if not 1 <= cores <= present:
        raise Unavailable(
            f"--cores {cores}: found {present} core{'s' if present > 1 else ''} for this process, expected 1 to "
            f"{present} (mpirun binds a rank to one core, or to all of the host with --bind-to none)"
        )
    part = f"{cores} of {present} cores"
    return device._replace(name=f"{device.name}, {part}", compute_units=cores, part=part)


@functools.cache
def available_cores() -> int:
    """Cores that this process may use; those of the beginning where it keeps to some of them later."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
