"""Compilation of CUDA C++ by NVRTC, which needs neither a GPU nor a driver; machine code is cached on disk."""

from __future__ import annotations

import hashlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from backends.cache import cache_folder, read_sealed, write_sealed

if TYPE_CHECKING:
    from cuda.bindings.nvrtc import nvrtcProgram

OPTIONS = ["--std=c++20", "--fmad=false", "--disable-warnings"]
"""Shifts of signed numbers are defined since C++20; float arithmetic is never contracted."""


def compile_cubin(source: str, architecture: str, name: str) -> bytes:
    """Return the machine code of a program for an architecture such as ``sm_90``.

    ``name`` is that of the program in the cache and in errors. Raises `RuntimeError` with the compiler's messages.
    """
    from cuda.bindings import nvrtc

    key = f"{source} {OPTIONS} {architecture} {nvrtc.nvrtcVersion()}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:24]
    path = os.path.join(cache_folder("nvrtc"), f"{name}-{digest}.cubin")
    code = read_sealed(path)
    if code is None:
        code = compile_source(source, architecture, name)
        write_sealed(path, code)
    return code


def compile_source(source: str, architecture: str, name: str, form: str = "CUBIN") -> bytes:
    """Compile without the cache; ``form`` is CUBIN or PTX."""
    from cuda.bindings import nvrtc

    handle = checked(nvrtc.nvrtcCreateProgram(source.encode(), f"{name}.cu".encode(), 0, [], []))
    try:
        options = [option.encode() for option in (*OPTIONS, f"--gpu-architecture={architecture}")]
        (status,) = nvrtc.nvrtcCompileProgram(handle, len(options), options)
        if status:
            raise RuntimeError(
                f"NVRTC does not compile {name} for {architecture}: {status.name}\n"
                f"{output(nvrtc, 'ProgramLog', handle).decode(errors='replace')}"
            )
        return output(nvrtc, form, handle)
    finally:
        checked(nvrtc.nvrtcDestroyProgram(handle))


def output(nvrtc: ModuleType, form: str, handle: nvrtcProgram) -> bytes:
    """Return an output of the compiler, without the zero behind a text."""
    data = bytearray(checked(getattr(nvrtc, f"nvrtcGet{form}Size")(handle)))
    checked(getattr(nvrtc, f"nvrtcGet{form}")(handle, data))
    return bytes(data) if form == "CUBIN" else bytes(data).rstrip(b"\0")


def checked(result: tuple[Any, ...]) -> Any:
    """Return the value of a function of NVRTC without its status."""
    status, *values = result
    if status:
        raise RuntimeError(f"NVRTC error {status.name}")
    return values[0] if values else None
