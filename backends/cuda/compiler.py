"""Compilation of printed kernels by numba-cuda, with machine code cached beside the text."""

from __future__ import annotations

import glob
import hashlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from backends.cache import cache_folder, read_sealed, write_once, write_sealed
from backends.device import OutOfMemory
from core.lang import tree
from core.lang.types import Scalar

if TYPE_CHECKING:
    from cuda.bindings.driver import CUfunction
    from numba.cuda.cudadrv.driver import CudaPythonFunction
    from numba.cuda.dispatcher import CUDADispatcher
    from numba.cuda.typing import Signature


class CudaExecutable(NamedTuple):
    """A kernel as numba wraps it, its team size, its shared bytes, and the driver's function."""

    kernel: CudaPythonFunction
    team_size: int
    shared: int
    function: CUfunction | None = None


def signature(program: tree.Program) -> Signature:
    from numba.cuda import types

    def numba_type(scalar: Scalar) -> object:
        return getattr(types, str(scalar.dtype))

    kinds = program.kernel.parameters.values()
    return types.void(
        *(types.Array(numba_type(k.element), 1, "C") if isinstance(k, tree.ArrayType) else numba_type(k) for k in kinds)
    )


def emitted_kernel(program: tree.Program, source: str) -> CUDADispatcher:
    """Return the kernel, with its text in a file of the cache: numba stores its machine code beside it."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "emit")
    digest = hashlib.sha256(source.encode())
    for words in ("llvm_operations.py", "cuda_operations.py", "simulator_operations.py"):
        with open(os.path.join(folder, words), "rb") as file:
            digest.update(file.read())
    name = f"{program.kernel.name}_{digest.hexdigest()[:24]}"
    if name not in sys.modules:
        path = os.path.join(cache_folder("cuda"), name + ".py")
        if not file_equals(path, source):
            path = write_once(path, source.encode())
        module = ModuleType(name)
        module.__file__ = path
        exec(compile(source, path, "exec"), vars(module))
        sys.modules[name] = module
    return getattr(sys.modules[name], program.kernel.name + "_")


def file_equals(path: str, source: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == source.encode()
    except OSError:
        return False


def compile_sealed(dispatcher: CUDADispatcher, types: Signature) -> None:
    """Compile a kernel, or load its machine code from numba's files if these are unchanged."""
    machine_code = dispatcher._cache
    name = dispatcher.py_func.__module__
    seal = os.path.join(cache_folder("cuda"), name + ".seal")
    if read_sealed(seal) != (sealed := digest_of_files(machine_code.cache_path, name)):
        machine_code.flush()
        sealed = b""
    dispatcher.compile(types)
    digest = digest_of_files(machine_code.cache_path, name)
    if digest != sealed:
        write_sealed(seal, digest)


def digest_of_files(folder: str, name: str) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + ".*.nb[ci]"))):
        with open(path, "rb") as file:
            digest.update(os.path.basename(path).encode() + hashlib.sha256(file.read()).digest())
    return digest.digest()


def allow_shared(kernel: CudaPythonFunction, shared: int) -> None:
    """Raise a kernel's limit of dynamic shared memory above the default of 48 KiB."""
    from cuda.bindings import driver

    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (status,) = driver.cuKernelSetAttribute(attribute, shared, kernel.handle, kernel.device.id)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise OutOfMemory(f"{shared} bytes of shared memory per team: {status}")


def resident_lanes(registers: int, of_all: int) -> int:
    """Return the lanes of a multiprocessor with ``of_all`` registers if each lane needs ``registers``.

    A warp's registers lie in one of the multiprocessor's four parts and are allocated in units of eight.
    """
    of_a_warp = 32 * -(-registers // 8) * 8
    return 4 * 32 * (of_all // 4 // of_a_warp)
