"""NVIDIA GPUs: streams and memory, launches and graphs, collectives of several GPUs, and numba's simulator.

Only the registry in `backends` imports this package, by the name of the class.
Printed kernels and LLVM operations belong to `backends.emit`.
"""
