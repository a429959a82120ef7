"""Compiled kernels of a device, valid while the kernel exists and its globals have the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from backends.device import DeviceInfo
    from core.lang import Kernel

MOST_OF_A_KERNEL = 64
"""Most executables of one kernel, for different constants, team sizes and types; one more replaces the oldest."""


class Executables:
    """Executables by kernel, constants, team size and types."""

    def __init__(self) -> None:
        self.kernels: WeakKeyDictionary[Kernel, tuple[int, dict[tuple[object, ...], object]]] = WeakKeyDictionary()

    def of_kernel(self, kernel: Kernel) -> dict[tuple[object, ...], object]:
        """Return the executables of a kernel's current revision."""
        cached = self.kernels.get(kernel)
        if cached is None or cached[0] != kernel.revision:
            cached = self.kernels[kernel] = kernel.revision, {}
        return cached[1]

    def keep(self, kernel: Kernel, key: tuple[object, ...], executable: object) -> None:
        executables = self.of_kernel(kernel)
        executables[key] = executable
        for oldest in list(executables)[:-MOST_OF_A_KERNEL]:
            executables.pop(oldest, None)


_of_process: dict[tuple[type, DeviceInfo], Executables] = {}


def executables_of_process(backend: type, device: DeviceInfo) -> Executables:
    """Return the executables that all backends of one class and device share."""
    return _of_process.setdefault((backend, device), Executables())
