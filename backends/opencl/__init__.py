"""OpenCL devices through pyopencl: the backend, its launches and the discovery of installed drivers.

`OpenClBackend` compiles printed C to an `OpenClExecutable`. Its launches are `PackedArguments`. `icd` finds drivers.

Only the registry in `backends` imports this package, by the name of the class.
Printed OpenCL C belongs to `backends.emit.opencl_c`.
"""
