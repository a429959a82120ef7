"""PTX of programs by both compilers of CUDA devices, on machines without a GPU."""

import importlib.metadata
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from backends.cuda.compiler import emitted_kernel, signature
from backends.cuda.driver import numba_cuda
from backends.cuda.nvrtc import compile_source
from backends.emit.cuda_c import CudaC
from backends.emit.numba_python import CudaPython

WHEELS = {
    "numba": ("numba-cuda", "cuda-bindings", "nvidia-nvvm", "nvidia-cuda-nvrtc"),
    "nvrtc": ("cuda-bindings", "nvidia-cuda-nvrtc"),
}
ALIASES = {"nvidia-nvvm": "nvidia-cuda-nvcc"}  # place of the compiler's library in CUDA 12
TEXTS = {}


def ptx(compiler, program, capability=(9, 0)):
    """Compile a program for a compute capability; skips the test without the toolkit's wheels."""
    installed = {str(d.metadata["Name"]).lower().removesuffix("-cu12") for d in importlib.metadata.distributions()}
    missing = [w for w in WHEELS[compiler] if not {w, ALIASES.get(w, w)} & installed]
    if missing:
        pytest.skip(f"no PTX by {compiler} without {', '.join(missing)}; pip install 'onekernel[cuda]'")
    if compiler == "numba":
        return numba_ptx(program, capability)
    architecture = f"compute_{capability[0]}{capability[1]}"
    return compile_source(CudaC(program).source(), architecture, program.kernel.name, "PTX").decode()


def numba_ptx(program, capability):
    source, types = CudaPython(program).source(), signature(program)
    key = source, types, capability
    if key not in TEXTS:
        chip = SimpleNamespace(compute_capability=capability)
        kernel = emitted_kernel(program, source).py_func
        how = {"device": False, "abi": "numba", "cc": capability, "launch_bounds": program.team_size}
        with patch("numba.cuda.dispatcher.get_current_device", lambda: chip):  # asked for by functions, even here
            TEXTS[key] = str(numba_cuda().compile(kernel, types, **how)[0])
    return TEXTS[key]
