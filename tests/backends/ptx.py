"""PTX of programs on machines without a GPU."""

from types import SimpleNamespace
from unittest.mock import patch

from backends.cuda import emitted_kernel, numba_cuda, signature
from backends.emit.numba_python import CudaPython


def ptx(program, compute_capability):
    """Compile a program to PTX for a compute capability such as (9, 0); needs the toolkit's wheels."""
    chip = SimpleNamespace(compute_capability=compute_capability)
    cuda = numba_cuda()
    with patch("numba.cuda.dispatcher.get_current_device", lambda: chip):  # asked for by functions, even here
        text, _ = cuda.compile(
            emitted_kernel(program, CudaPython(program).source()).py_func,
            signature(program),
            device=False,
            abi="numba",
            cc=compute_capability,
            launch_bounds=program.team_size,
        )
    return str(text)
