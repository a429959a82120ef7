"""Kernels of both compilers, and compilation by numba-cuda, with machine code cached beside the text."""

from __future__ import annotations

import glob
import hashlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from backends.cache import cache_folder, read_sealed, write_once, write_sealed
from backends.cuda.driver import check_driver_call
from backends.cuda.nvrtc import compile_cubin
from backends.device import OutOfMemory
from core.atomic_files import read_text
from core.lang import tree
from core.lang.types import Scalar

if TYPE_CHECKING:
    from cuda.bindings.driver import CUfunction, CUkernel
    from numba.cuda.dispatcher import CUDADispatcher
    from numba.cuda.typing import Signature


NUMBA_WORDS, POINTER_WORDS = 7, 1
"""Parameters by which numba's kernels, and those of CUDA C++, take an array (`backends.cuda.launch`)."""


class CudaExecutable(NamedTuple):
    """A kernel of either compiler, with what launches need.

    ``function`` is the driver's, and numba's dispatcher in its simulator. ``shared`` is in bytes, ``registers`` are
    those of a lane, ``most_lanes`` is the largest team, and ``array_words`` the number of parameters of an array.
    """

    name: str
    function: CUfunction | CUDADispatcher
    team_size: int
    shared: int
    registers: int = 0
    most_lanes: int = 1024
    array_words: int = NUMBA_WORDS


def loaded(kernel: CUkernel, device: int, program: tree.Program, array_words: int) -> CudaExecutable:
    """Return the executable of a loaded kernel; raises `OutOfMemory` for more shared memory than a team can have."""
    from cuda.bindings import driver

    of_kernel = driver.CUfunction_attribute
    chip, shared = check_driver_call(driver.cuDeviceGet(device)), tree.shared_bytes(program)
    if shared > 48 << 10:
        attribute = of_kernel.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        (status,) = driver.cuKernelSetAttribute(attribute, shared, kernel, chip)
        if status:
            raise OutOfMemory(f"{shared} bytes of shared memory per team: {status}")
    registers, most_lanes = (
        int(check_driver_call(driver.cuKernelGetAttribute(attribute, kernel, chip)))
        for attribute in (of_kernel.CU_FUNC_ATTRIBUTE_NUM_REGS, of_kernel.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    )
    function = driver.CUfunction(int(kernel))
    return CudaExecutable(program.kernel.name, function, program.team_size, shared, registers, most_lanes, array_words)


def numba_kernel(program: tree.Program) -> CUkernel:
    """Compile a program by numba-cuda for the current device, and load it."""
    from backends.emit.numba_python import CudaPython

    dispatcher, types = emitted_kernel(program, CudaPython(program).source()), signature(program)
    compile_sealed(dispatcher, types)
    # Programs that differ only in their parameters' types have one text, and so one dispatcher.
    return dispatcher.overloads[types.args]._codelibrary.get_cufunc().handle


def nvrtc_kernel(program: tree.Program, architecture: str) -> CUkernel:
    """Compile a program by NVRTC, and load it for as long as the process runs."""
    from cuda.bindings import driver

    from backends.emit.cuda_c import CudaC

    name = program.kernel.name
    code = compile_cubin(CudaC(program).source(), architecture, name)
    library = check_driver_call(driver.cuLibraryLoadData(code, [], [], 0, [], [], 0))
    return check_driver_call(driver.cuLibraryGetKernel(library, f"{name}_".encode()))


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
        if read_text(path) != source.strip():
            path = write_once(path, source.encode())
        module = ModuleType(name)
        module.__file__ = path
        exec(compile(source, path, "exec"), vars(module))
        sys.modules[name] = module
    return getattr(sys.modules[name], program.kernel.name + "_")


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


def resident_lanes(registers: int, of_all: int) -> int:
    """Return the lanes of a multiprocessor with ``of_all`` registers if each lane needs ``registers``.

    A warp's registers lie in one of the multiprocessor's four parts and are allocated in units of eight.
    """
    of_a_warp = 32 * -(-registers // 8) * 8
    return 4 * 32 * (of_all // 4 // of_a_warp)
