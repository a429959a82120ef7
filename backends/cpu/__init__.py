"""Backends of the CPU family: one core, threads and joblib processes, which share machine code and host memory.

`CpuBackend`, `ThreadsBackend` and `JoblibBackend` derive from `HostMemory`, which keeps buffers as NumPy arrays. A
launch becomes machine code by `native`, once for all three; they differ in the threads or processes that call it.

Other backends import `host_memory`; `backends.show` and algorithms import nothing from here.
Text of kernels belongs to `backends.emit`, facts about the processor to `backends.cpu_info`.
"""
