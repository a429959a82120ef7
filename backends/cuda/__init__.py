"""NVIDIA GPUs: driver, compiler, memory, launches and graphs, collectives of several GPUs, and numba's simulator.

`CudaBackend` derives from `CudaDevice`, which has the memory. `compiler` makes a `CudaExecutable` of a program,
`launch` packs its arguments in a `PackedKernel`, and `CudaCollectives` moves data between GPUs. `nvrtc` compiles
CUDA C++.

Only the registry in `backends` imports this package, by the name of the class in `backend` or `simulator`.
Modules import in the order {driver, nvrtc}, memory, {launch, peer_memory, mailbox, collectives}, backend, simulator.
Printed kernels and LLVM operations belong to `backends.emit`.
"""
