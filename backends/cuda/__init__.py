"""NVIDIA GPUs: driver, compiler, memory, launches and graphs, collectives of several GPUs, and numba's simulator.

`CudaBackend` derives from `CudaDevice`, which has the memory. `compiler` makes a `CudaExecutable` of a program by
numba-cuda or by NVRTC (`nvrtc`), `launch` packs its arguments in a `PackedKernel`, and `CudaCollectives` moves data
between GPUs.

Only the registry in `backends` imports this package, by the name of the class in `backend` or `simulator`. Modules
import in the order {driver, nvrtc}, {compiler, memory}, {launch, peer_memory, mailbox, collectives}, backend,
simulator.
Printed kernels and LLVM operations belong to `backends.emit`.
"""
