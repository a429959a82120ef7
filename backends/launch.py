"""Launches of kernels on a device: checks, compiled kernels, recordings, and collective steps of ranks."""

from __future__ import annotations

import itertools
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from backends.collectives import Collectives, memory_groups
from backends.device import Buffer, Capabilities, Collective, Device, DeviceInfo, Launch
from backends.executables import Executables, executables_of_process
from backends.launch_cache import LaunchCache
from core.errors import LaunchRefused, TeamTooLarge, shown
from core.lang import tree
from core.lang.bundle_forms import RowArray
from core.lang.bundles import unbundled
from core.lang.named_arrays import columns_of
from core.lang.types import BY_DTYPE, Array, Const, Generic, Integer, Scalar, Table, boolean, fits, i32
from core.ranks import Ranks, gather_on_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from core.lang import Kernel


class LaunchRecording:
    """Launches and collectives recorded by `Backend.record`, to be run many times.

    The host runs only collectives that need it; all steps between two of these run without it.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.launches: list[Launch | Collective] = []
        self.parts: list[Callable[[int], None]] | None = None

    def prepare(self) -> list[Callable[[int], None]]:
        """Split the recording into parts of the device and of the host; each is a function of a repetition count."""
        parts: list[Callable[[int], None]] = []
        for replayed, steps in itertools.groupby(self.launches, self.backend.can_replay):
            if replayed:
                parts.append(self.backend.prepare(list(steps)))
            else:
                parts += [partial(repeat, step.act) for step in steps if isinstance(step, Collective)]
        return parts

    def replay(self, times: int = 1) -> None:
        if self.parts is None:
            self.parts = self.prepare()
        if len(self.parts) == 1:
            self.parts[0](times)
        else:
            for _ in range(times):
                for part in self.parts:
                    part(1)


def repeat(act: Callable[[], None], times: int) -> None:
    for _ in range(times):
        act()


class Backend(Device):
    """A device with launches: kernels are compiled at their first launch, and recorded launches are replayed."""

    def __init__(self, device: DeviceInfo, capabilities: Capabilities) -> None:
        super().__init__(device, capabilities)
        self.executables = executables_of_process(type(self), device) if self.shares_executables else Executables()
        self.compiled_earlier: dict[str, str] = {}
        self.compiled_here: dict[str, str] = {}
        self.launch_cache = LaunchCache()
        self.launched: WeakSet[Kernel] = WeakSet()
        """Kernels launched since the backend was made, or last rested."""
        self._recording: LaunchRecording | None = None
        self._collectives: dict[int, Collectives] = {}
        self.kept_as: tuple[object, ...] | None = None
        """Key of this backend in `backends.kept`; None if it is not kept."""

    @property
    def can_rest(self) -> bool:
        """True if a later run may use this backend, which needs that it has worked with no other rank."""
        return all(collective.size == 1 for collective in self._collectives.values())

    def rest(self) -> None:
        """Drop everything of a run except compiled kernels."""
        self.synchronize()
        self.timings.reset()
        self.compiled_earlier, self.compiled_here = {}, {}
        self._collectives.clear()
        self.launch_cache.forget_launches()
        self.launched.clear()

    def launch(self, kernel: Kernel, teams: int, team_size: int, *arguments: object) -> None:
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
            The kernel is not in the language.
        """
        if self._recording is not None:
            self._recording.launches.append(self.bind(kernel, teams, team_size, arguments))
            return
        cached = self.launch_cache.find(kernel, team_size, arguments) if teams >= 1 else None
        if cached is not None:
            cached.packed.start(teams)
            return
        bound = self.bind(kernel, teams, team_size, arguments)
        if self.packs:
            self.launch_cache.keep(kernel, team_size, arguments, bound, self.pack).start(teams)
        else:
            self.execute(bound)

    def bind(self, kernel: Kernel, teams: int, team_size: int, arguments: tuple[Any, ...]) -> Launch:
        """Check a launch and compile its kernel if it is new."""
        if not 1 <= team_size <= self.capabilities.max_team_size:
            most = self.capabilities.max_team_size
            advice = "" if most > 1 else " (larger ones: --backend opencl --device 0:teams, or python)"
            raise LaunchRefused(
                f"{self.name}: a team of {team_size} lanes; this device runs teams of 1 to {most}{advice}"
            )
        if teams < 1:
            raise LaunchRefused(f"{self.name}: {teams} teams; a launch needs at least one")
        # The kernel language's `min` and `max` return typed numbers, which device compilers cannot read.
        teams, team_size = int(teams), int(team_size)
        kinds, by_name, forms = unbundled(kernel, arguments)
        types = infer_generic_types(kinds, by_name, kernel) | forms
        constants: dict[str, Any] = {}
        values: list[Any] = []
        for name, kind in kinds.items():
            if isinstance(kind, Const):
                constants[name] = scalar_argument(kind.scalar, by_name[name], kernel, name)
            elif isinstance(kind, Table):
                values.append(self.placed(kind, by_name[name], kernel, name))
            elif isinstance(kind, Array):
                values.append(by_name[name])
            else:
                value = scalar_argument(types.get(getattr(kind, "name", ""), kind), by_name[name], kernel, name)
                values.append(i32(value) if kind is boolean else value)
        self.launched.add(kernel)
        return Launch(self.executable(kernel, constants, team_size, types), teams, tuple(values))

    def placed(self, table: Table, buffer: Buffer, kernel: Kernel, name: str) -> Buffer:
        """Return the buffer of a table as kernels take it; refuse tables that are too short or cannot be images."""
        if table.count is not None and buffer.size < table.count:
            raise LaunchRefused(f"{kernel.name}: table {name} has {table.count} elements; {buffer.size} given")
        return self.image(buffer, f"{kernel.name}: argument {name}") if table.place == "image" else buffer

    def executable(self, kernel: Kernel, constants: dict[str, Any], team_size: int, types: dict[str, Any]) -> object:
        """Compile a kernel for these constants, this team size and these types of generic parameters, once."""
        key = (tuple(constants.values()), team_size, tuple(types.values()))
        executable = self.executables.of_kernel(kernel).get(key)
        if executable is None:
            began = time.perf_counter()
            name = f"{kernel.identity} {constants} {team_size} {sorted(map(repr, types.items()))}"
            loaded = self.reload(self.compiled_earlier[name]) if name in self.compiled_earlier else None
            if loaded is not None:
                self.executables.keep(kernel, key, loaded)
                self.timings.compile_s += time.perf_counter() - began
                return loaded
            program = kernel.specialise(constants, team_size, types)
            needed = tree.shared_bytes(program)
            if needed > self.capabilities.shared_bytes:
                room = self.capabilities.shared_bytes
                raise LaunchRefused(
                    f"{self.name}: {kernel.name} needs {needed} bytes of shared memory; a team has {room}"
                )
            try:
                executable = self.compile(program)
                limit = self.most_lanes(executable)
            finally:
                self.timings.compile_s += time.perf_counter() - began
            if team_size > limit:
                raise TeamTooLarge(f"{self.name}: {kernel.name} runs teams of 1 to {limit} lanes here, not {team_size}")
            self.executables.keep(kernel, key, executable)
            if isinstance(executable, str) and kernel.identity is not None:
                self.compiled_here[name] = executable
        return executable

    def largest_team(self, kernel: Kernel, team_size: int, *arguments: object) -> int:
        """Return the largest team of a kernel on this device: ``team_size``, halved until a team fits.

        A kernel with many registers has smaller teams than the device. Each size is compiled, as a separate program,
        until one fits; its launches compile nothing more. On NVIDIA's GPUs a lane has up to 255 of a multiprocessor's
        65,536 registers: teams of up to 256 lanes always fit, so only larger ones need this call.
        """
        lanes = min(team_size, self.capabilities.max_team_size)
        while lanes > 1:
            try:
                self.bind(kernel, 1, lanes, arguments)
                break
            except TeamTooLarge:
                lanes = -(-lanes // 2)
        return lanes

    def collectives(self, ranks: Ranks) -> Collectives:
        """Return this device's collectives with others, one object for each communicator; all ranks call this."""
        known = self._collectives.get(id(ranks))  # keeps the communicator alive, so that no other object gets its id
        if known is None:
            if ranks.size == 1 or ranks.is_silent:
                known = Collectives(self, ranks, range(ranks.size))
            else:
                link = ranks.host(), ranks.on_all(self.link, is_long=False)
                known = self.joined(ranks, gather_on_all(ranks, link))
            self._collectives[id(ranks)] = known
        return known

    def seconds_in_collectives(self) -> float:
        return sum(collective.seconds_on_device() for collective in self._collectives.values())

    @property
    def why_ranks_are_slow(self) -> str:
        return next((group.why_not_faster for group in self._collectives.values() if group.why_not_faster), "")

    def queue_collective(self, step: Collective) -> None:
        """Record a collective like a launch, or run it."""
        if self._recording is not None:
            self._recording.launches.append(step)
        else:
            step.act()

    def can_replay(self, step: Launch | Collective) -> bool:
        """Return True if a recorded step can be replayed by the device."""
        return isinstance(step, Launch) or step.on_device or self.replays_host_steps

    @contextmanager
    def record(self) -> Iterator[LaunchRecording]:
        """Record the launches made inside the block instead of running them."""
        sequence = LaunchRecording(self)
        self._recording = sequence
        try:
            yield sequence
        finally:
            self._recording = None

    def joined(self, ranks: Ranks, links: Sequence[tuple[str, dict[str, str] | None]]) -> Collectives:
        """Make new collectives with other ranks, all of which call this."""
        return Collectives(self, ranks, memory_groups(ranks, self.memory))


def scalar_argument(scalar: Scalar, value: object, kernel: Kernel, name: str) -> object:
    """Convert a scalar argument to its parameter's type; raises `LaunchRefused` if it does not fit."""
    if type(value) is int and issubclass(scalar, Integer) and scalar.low <= value <= scalar.high:
        return int.__new__(scalar, value)
    if not fits(scalar, value):
        named = f"{kernel.name}: argument {name}"
        raise LaunchRefused(f"{named} is {scalar.__name__}; {shown(value)} does not fit")
    return bool(value) if scalar is boolean else scalar(value)


def infer_generic_types(kinds: dict[str, Any], values: dict[str, Any], kernel: Kernel) -> dict[str, Any]:
    """Check the arrays of a launch, and return the types of the kernel's generic parameters by name.

    Raises `LaunchRefused` if an argument is no buffer, has another element type, or has fewer elements than its named
    array has names; a buffer occurs twice (compilers assume that the arrays of a launch share no memory); or no array
    has the generic type of a number.
    """
    types: dict[str, Any] = {}
    names: dict[int, str] = {}
    for name, kind in kinds.items():
        if not isinstance(kind, Array):
            continue
        buffer, named = values[name], name
        if not isinstance(buffer, Buffer):
            advice = "; load the bundle first" if "." in named else ""
            raise LaunchRefused(f"{kernel.name}: argument {named} must be a Buffer, not {shown(buffer)}{advice}")
        if id(buffer.handle) in names:
            raise LaunchRefused(f"{kernel.name}: arguments {names[id(buffer.handle)]} and {named} are the same buffer")
        names[id(buffer.handle)] = named
        # `core.lang.bundles.unbundled` checks the sizes of rows.
        columns = columns_of(kind.naming) if kind.naming and not isinstance(kind, RowArray) else ()
        if columns and buffer.size < len(columns):
            found = f"{buffer.size} elements; expected {', '.join(columns)}"
            raise LaunchRefused(f"{kernel.name}: argument {named} has {found}")
        element = kind.element
        if isinstance(element, Generic):
            element = types.setdefault(element.name, BY_DTYPE[buffer.dtype])
        if buffer.dtype != element.dtype:
            raise LaunchRefused(f"{kernel.name}: argument {named} is Array[{element.__name__}], not {buffer.dtype}")
    for name, kind in kinds.items():
        if isinstance(kind, Generic) and kind.name not in types:
            raise LaunchRefused(f"{kernel.name}: argument {name} is {kind.name}, which no array gives a type")
    return types
