"""Machine code for the CPU family: compiled by numba once, saved as an object file, loaded by llvmlite alone.

A process that finds the object file runs it without importing numba, so 64 ranks can start on two cores.
Every kernel has one signature, ``entry(begin, end, team_count, slots)``, with its arguments in 64-bit slots.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from backends.cache import cache_folder, read_sealed, write_sealed
from backends.cpu_info import cpu_tag

if TYPE_CHECKING:
    from llvmlite.binding import ExecutionEngine

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)

RELEASE_COUNT = 1 << 63
"""More than workers ever count at a barrier."""


class MachineCode(Protocol):
    """An `ENTRY` with the address of its machine code."""

    address: int

    def __call__(self, begin: int, end: int, team_count: int, slots: int, /) -> None: ...


_engine: ExecutionEngine | None = None
_loaded: dict[str, Any] = {}
# Paths where this process saved its object files, by their paths in the cache, which may have refused them.
_elsewhere: dict[str, str] = {}


def object_path(source: str, stem: str) -> str:
    """Return the path of an emitted module's machine code for this CPU, these versions and numba's settings."""
    digest = hashlib.sha256(source.encode() + _operations() + f"{_machine()} {_versions()}".encode())
    return os.path.join(cache_folder("objects"), f"{stem}-{cpu_tag()}-{digest.hexdigest()[:24]}.o")


@functools.cache
def _operations() -> bytes:
    folder = Path(__file__).parents[1]
    names = ("emit/llvm_operations.py", "emit/cpu_operations.py", "emit/numba_compiler.py", "cpu/native.py")
    return b"".join((folder / name).read_bytes() for name in names)


@functools.cache
def _machine() -> str:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


@functools.cache
def _versions() -> str:
    """Return the compilers' versions and numba's settings, without importing numba."""
    texts = [f"python {sys.version_info[:2]}"]
    for package in ("numba", "llvmlite"):
        spec = importlib.util.find_spec(package)
        folder = os.path.dirname(spec.origin) if spec and spec.origin else ""
        texts.append(Path(folder, "_version.py").read_text(encoding="utf-8"))
    texts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    if os.path.exists(".numba_config.yaml"):  # numba reads it in the folder in which a program starts
        texts.append(Path(".numba_config.yaml").read_text(encoding="utf-8"))
    return "\n".join(texts)


def compile_object(source: str, path: str) -> str:
    """Compile a module printed by `backends.emit.numba_python.CpuPython`, save its machine code, and return the path.

    The module's name, and so every symbol, depends on the source. So one process can load code from several others, and
    equal names never clash. The path is a temporary one if the cache cannot take the file.
    """
    from backends.emit.numba_compiler import compile_entry

    scope: dict[str, Any] = {"__name__": "emitted_" + hashlib.sha256(source.encode()).hexdigest()[:16]}
    exec(compile(source, os.path.basename(path), "exec"), scope)
    symbol, code = compile_entry(scope["entry"])
    return write_sealed(path, symbol.encode() + b"\n" + code)


def load(path: str) -> MachineCode:
    """Load the function of an object file for ctypes, which releases the interpreter lock during a call.

    Its attribute ``address`` is that of the machine code.
    """
    if path not in _loaded:
        content = read_sealed(path)
        if content is None:
            raise FileNotFoundError(f"{path}: no object file, or a damaged one")
        symbol, _, code = content.partition(b"\n")
        address = _link(symbol.decode(), code)
        _loaded[path] = ENTRY(address)
        _loaded[path].address = address
    return _loaded[path]


def load_or_compile(source: str, path: str) -> str:
    """Load an object file, and compile it first if necessary; returns its path."""
    place = _elsewhere.get(path, path)
    try:
        load(place)
    except FileNotFoundError:
        place = _elsewhere[path] = compile_object(source, path)
        load(place)
    return place


def _link(entry: str, code: bytes) -> int:
    """Link machine code by llvmlite; returns the address of its entry."""
    global _engine
    import llvmlite.binding as llvm

    if _engine is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        _engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    _engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine.finalize_object()
    return int(_engine.get_function_address(entry))


SPINS = 16
"""Polls of a worker at a barrier before it gives up its core at each further one: half a microsecond."""

REPLAY = f"""
from backends.emit.cpu_operations import (
    add_i32, add_u64, atomic_add_u64, call_entry, floordiv_i64, i32_from_i64, i64_from_i32, literal_i32, literal_u64,
    load, lt_i32, lt_u64, mul_i64, pause, pointer_i32, pointer_u64, slot_i32, u64_from_i32, watch, yield_core,
)

def entry(worker, workers, times, slots):
    launches = slot_i32(slots, 0)
    entries = pointer_u64(slots, 1)
    teams = pointer_i32(slots, 2)
    arguments = pointer_u64(slots, 3)
    arrivals = pointer_u64(slots, 4)
    zero, one = literal_i32(0), literal_i32(1)
    expected = literal_u64(0)
    done = zero
    while lt_i32(done, times):
        k = zero
        while lt_i32(k, launches):
            total = load(teams, k)
            wide = i64_from_i32(total)
            begin = i32_from_i64(floordiv_i64(mul_i64(wide, i64_from_i32(worker)), i64_from_i32(workers)))
            end = i32_from_i64(floordiv_i64(mul_i64(wide, i64_from_i32(add_i32(worker, one))), i64_from_i32(workers)))
            if lt_i32(begin, end):
                call_entry(load(entries, k), begin, end, total, load(arguments, k))
            if lt_i32(one, workers):
                expected = add_u64(expected, u64_from_i32(workers))
                atomic_add_u64(arrivals, zero, literal_u64(1))
                waits = zero
                while lt_u64(watch(arrivals, zero), expected):
                    waits = add_i32(waits, one)
                    if lt_i32(waits, literal_i32({SPINS})):
                        pause()
                    else:
                        yield_core()
            k = add_i32(k, one)
        done = add_i32(done, one)
"""


def replay_code() -> str:
    """Return the path of the machine code that runs a recording; compile it if necessary."""
    return load_or_compile(REPLAY, object_path(REPLAY, "replay"))


class HostStep:
    """A step of the host between two recorded launches, called by compiled code like a kernel of one team.

    Exceptions cannot pass through compiled code, so the step's error is stored for the caller of the replay. Launches
    after an error get no teams, and workers do not wait for each other.
    """

    def __init__(self, act: Callable[[], None], teams: np.ndarray, arrivals: np.ndarray) -> None:
        self.act = act
        self.teams = teams
        self.arrivals = arrivals
        self.seconds = 0.0
        self.raised: BaseException | None = None
        # Weak, since reference cycles through a driver are never collected, and the step holds buffers.
        take = weakref.WeakMethod(self.take)
        self.callback = ENTRY(lambda *_: take()())  # type: ignore[misc]
        self.address = int(ctypes.cast(self.callback, ctypes.c_void_p).value or 0)

    def take(self) -> None:
        """Run the step and add up its time."""
        began = time.perf_counter()
        try:
            self.act()
        except BaseException as error:  # an interrupt too: ctypes would print it and continue
            self.raised = error
            self.teams[:] = 0
            self.arrivals[:] = RELEASE_COUNT
        self.seconds += time.perf_counter() - began


class CompiledReplay:
    """Recorded launches, replayed by compiled code; Python runs only for steps of the host.

    Several workers may run the same recording together; they synchronise after every launch by the counter
    ``arrivals``, which must be zero at the start. The last worker runs the host's steps while the others wait. ``code``
    is the result of `replay_code` in another process, if this is not the first.
    """

    def __init__(
        self,
        steps: Sequence[str | Callable[[], None]],
        teams: list[int],
        packed: list[np.ndarray],
        arrivals: np.ndarray | None = None,
        code: str | None = None,
    ) -> None:
        self.wanted_teams = np.array(teams, np.int32)
        self.teams = self.wanted_teams.copy()
        self.arrivals = np.zeros(1, np.uint64) if arrivals is None else arrivals
        calls = [call if isinstance(call, str) else HostStep(call, self.teams, self.arrivals) for call in steps]
        self.host_steps = [call for call in calls if isinstance(call, HostStep)]
        self.entries = np.array(
            [load(call).address if isinstance(call, str) else call.address for call in calls], np.uint64
        )
        self.packed = packed
        self.addresses = np.array([p.ctypes.data for p in packed], np.uint64)
        parts: list[np.ndarray] = [self.entries, self.teams, self.addresses, self.arrivals]
        self.slots = np.array([len(steps), *(p.ctypes.data for p in parts)], np.uint64)
        self.entry = load(code or replay_code())

    def run(self, times: int, worker: int, workers: int) -> None:
        self.entry(worker, workers, times, self.slots.ctypes.data)

    def host_seconds(self) -> float:
        """Return the seconds of the host's steps since the last call; raise the error that a step raised."""
        seconds = sum(step.seconds for step in self.host_steps)
        raised = [step.raised for step in self.host_steps if step.raised is not None]
        for step in self.host_steps:
            step.seconds, step.raised = 0.0, None
        if raised:
            self.teams[:] = self.wanted_teams
            raise raised[0]
        return seconds
