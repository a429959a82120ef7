"""PTX of programs on machines without a GPU."""

from types import SimpleNamespace
from unittest.mock import patch

from backends.cuda.compiler import emitted_kernel, signature
from backends.cuda.driver import numba_cuda
from backends.emit.numba_python import CudaPython

TEXTS = {}


def ptx(program, compute_capability):
    """Compile a program to PTX for a compute capability such as (9, 0); needs the toolkit's wheels."""
    source, types = CudaPython(program).source(), signature(program)
    key = source, types, compute_capability
    if key not in TEXTS:
        chip = SimpleNamespace(compute_capability=compute_capability)
        kernel = emitted_kernel(program, source).py_func
        how = {"device": False, "abi": "numba", "cc": compute_capability, "launch_bounds": program.team_size}
        with patch("numba.cuda.dispatcher.get_current_device", lambda: chip):  # asked for by functions, even here
            TEXTS[key] = str(numba_cuda().compile(kernel, types, **how)[0])
    return TEXTS[key]
