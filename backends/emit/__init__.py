"""Printers of typed programs: one per compiler, and the operations that the printed text uses.

A backend passes a `core.lang.tree.Program` to a `ProgramPrinter`: `CpuPython`, `CudaPython` and `SimulatorPython` print
Python for numba, with operations as LLVM. `CPrinter` prints C; its subclasses are tables of a dialect: `OpenClC`,
`IntelC` and `CudaC`. The backend compiles the text.

Backends import a printer where they compile; `backends.show` imports printers by the names in its `DIALECTS`.
Devices, launches and caches do not belong here.
"""
