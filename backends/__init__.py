"""Devices that run kernels, and the registry that finds a backend by its name in `CLASSES`.

A program calls `create`, and gets a `launch.Backend` on a `device.DeviceInfo` that passed the self-test. It uploads
arrays to `device.Buffer` objects, launches kernels on them, and downloads results. `survey` lists all devices.

Other packages import this module, `device`, `launch`, `kept`, `cpu_info`, `tuning` and `show`; no backend's modules. A
backend is one class and one line in `CLASSES`. Algorithms, MPI and result files do not belong here.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import NamedTuple

from backends.cpu_info import limit_cores
from backends.device import DeviceInfo, Unavailable
from backends.launch import Backend
from core.errors import did_you_mean, shown

CLASSES = {
    "python": "backends.python.PythonBackend",
    "cpu": "backends.cpu.single_core.CpuBackend",
    "threads": "backends.cpu.threads.ThreadsBackend",
    "joblib": "backends.cpu.joblib.JoblibBackend",
    "opencl": "backends.opencl.backend.OpenClBackend",
    "cuda": "backends.cuda.backend.CudaBackend",
}
NAMES = tuple(CLASSES)
SIMULATORS = {"cuda": ("NUMBA_ENABLE_CUDASIM", "backends.cuda.simulator.CudaSimulator")}
"""A variable of the environment that is 1 where a backend's devices are simulated, and the class that does so."""
COMPILER_VARIABLE = "ONEKERNEL_CUDA_COMPILER"
"""A variable of the environment: compiler of CUDA devices for which none is chosen."""

TEAMS = ":teams"
"""Ending of a device's index or name that requests teams of several lanes on a processor."""
LEAST_STACK = 2**20
"""Bytes. On stacks of 112 KiB programs of five workloads crashed (PoCL and Intel's OpenCL), of 128 one, of 256 none."""


class Usability(NamedTuple):
    """One row of ``onekernel devices``: a device of a backend, usable or with the reason why not.

    ``kind`` and ``compiler`` are the device's (`backends.device.DeviceInfo`); ``is_reference``, ``same_as`` and
    ``takes_cores`` are the backend's (`backends.device.Device`).
    """

    backend: str
    device: str
    name: str
    driver: str
    memory_bytes: int
    compute_units: int
    usable: bool
    reason: str
    kind: str = ""
    is_reference: bool = False
    same_as: str = ""
    takes_cores: bool = False
    compiler: str = ""


def backend_class(name: str) -> type[Backend]:
    """Return the class of a backend; raises `Unavailable` for a name that does not exist."""
    if name not in CLASSES:
        raise Unavailable(f"no backend {shown(name)}{did_you_mean(name, NAMES)}; choose one of {', '.join(NAMES)}")
    path = CLASSES[name]
    if name in SIMULATORS and os.environ.get(SIMULATORS[name][0], "0") == "1":
        path = SIMULATORS[name][1]
    module, _, kind = path.rpartition(".")
    return getattr(importlib.import_module(module), kind)


def automatic(kind: str) -> str | None:
    """Return the backend of ``--backend auto`` for a kind of device: the first with such a device on this machine."""
    classes = ((name, backend_class(name)) for name in NAMES)
    return next((name for name, backend in classes if backend.automatic_for == kind and backend.present()), None)


def create(name: str, device: str | None = None, cores: int | None = None, compiler: str | None = None) -> Backend:
    """Make a backend on one of its devices.

    Raises `Unavailable` if the backend or device does not exist, several devices match, the device failed its
    self-test, it has fewer cores or cannot be limited to some of its cores, it has no such compiler or that is not
    installed, or the stack is too small.

    Parameters
    ----------
    name
        One of `NAMES`.
    device
        An index (any text of digits), or a part of the name of one device; by default the first device that
        passes the self-test. With ``:teams`` behind it, a processor of OpenCL runs teams of several lanes, slowly.
    cores
        Number of the processor's cores to use; by default all that this process may use.
    compiler
        One of the backend's compilers; by default `backends.device.DeviceInfo.compiler` of its devices.
    """
    kind = backend_class(name)
    require_stack()
    if cores is not None and not kind.takes_cores:
        takers = [other for other in NAMES if backend_class(other).takes_cores]
        raise Unavailable(f"--cores {cores} with {name}: expected it with {' or '.join(takers)}")
    if compiler is not None and compiler not in kind.compilers:
        takers = [f"{other} ({', '.join(names)})" for other in NAMES if (names := backend_class(other).compilers)]
        raise Unavailable(f"--compiler {compiler} with {name}: expected it with {' or '.join(takers)}")
    devices = kind.devices()
    reasons = []
    chosen = (device or "").removesuffix(TEAMS)
    for candidate in devices if device in (None, TEAMS) else [named_device(name, devices, chosen)]:
        candidate = kind.with_teams(candidate) if device and device.endswith(TEAMS) else candidate
        candidate = candidate if cores is None else limit_cores(candidate, cores)
        candidate = candidate if compiler is None else candidate._replace(compiler=compiler)
        backend, reason = _tested(kind, candidate)
        if backend is not None:
            return backend
        reasons.append(f"{candidate.name}: {reason}")
    raise Unavailable(f"{name}: " + "; ".join(reasons))


def require_stack() -> None:
    """Refuse a stack below `LEAST_STACK`, on which compilers and kernels would end by a segmentation fault."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if limit != resource.RLIM_INFINITY and limit < LEAST_STACK:
        raise Unavailable(
            f"a stack of {limit >> 10} KiB: found by `ulimit -s`, expected at least {LEAST_STACK >> 10}, as by "
            "`ulimit -s 8192`"
        )


def named_device(backend: str, devices: list[DeviceInfo], device: str) -> DeviceInfo:
    """Return the only device that matches an index or a part of a name; raises `Unavailable` otherwise."""
    if device.isdigit():
        chosen = [d for d in devices if d.index == device]
    else:
        exact = [d for d in devices if d.name.lower() == device.lower()]
        chosen = exact or [d for d in devices if device and device.lower() in d.name.lower()]
    if len(chosen) == 1:
        return chosen[0]
    listed = "; ".join(f"{d.index}: {d.name}" for d in chosen or devices)
    if chosen:
        raise Unavailable(f"{backend} has {len(chosen)} devices {device!r}; give the index of one: {listed}")
    raise Unavailable(f"{backend} has no device {device!r}; there are {listed}")


def _tested(kind: Callable[[DeviceInfo], Backend], device: DeviceInfo) -> tuple[Backend | None, str]:
    from backends.self_test import find_cached_failure

    try:
        backend: Backend = kind(device)
    except Unavailable as error:
        return None, str(error)
    wrong = find_cached_failure(backend)
    if wrong:
        backend.close()
        return None, f"failed its self-test: {wrong}"
    return backend, ""


def survey() -> list[Usability]:
    """List every backend and device of this machine, usable or not, with the reason."""
    rows = []
    for name in NAMES:
        kind = backend_class(name)
        facts = (kind.is_reference, kind.same_as, kind.takes_cores)
        try:
            require_stack()
            devices = kind.devices()
        except Unavailable as error:
            rows.append(Usability(name, "", "", "", 0, 0, False, str(error), "", *facts))
            continue
        for device in devices:
            backend, reason = _tested(kind, device)
            usable = backend is not None
            rows.append(Usability(name, *device[:5], usable, reason, device.kind, *facts, device.compiler))
            if backend is not None:
                backend.close()
    return rows
