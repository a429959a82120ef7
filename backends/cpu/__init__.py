"""Backends of the CPU family: one core, threads and joblib processes, which share machine code and host memory.

Other backends import `host_memory`; `backends.show` and algorithms import nothing from here.
Text of kernels belongs to `backends.emit`, facts about the processor to `backends.cpu_info`.
"""
