"""Device assertions and prints: the switch for them, and the messages from the device to the terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.device import Buffer, Device
from core.errors import UserError
from core.lang import device_messages
from core.lang.types import f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.lang import Kernel, tree

VARIABLE = "ONEKERNEL_CHECKS"


def checks_enabled(usual: bool) -> bool:
    """Return True if machine code asserts and prints: ``usual``, unless ``$ONEKERNEL_CHECKS`` is 1 or 0."""
    setting = os.environ.get(VARIABLE, "")
    if setting not in ("", "0", "1"):
        raise UserError(f"{VARIABLE}={setting}: expected 1 (kernels assert and print on every device) or 0 (on none)")
    return setting == "1" if setting else usual


def output_types(kernel: Kernel, float64: bool = True) -> dict[str, Any]:
    """Return the generic type that makes a kernel's machine code assert and print."""
    return {device_messages.MESSAGES: device_messages.MessageSettings(kernel.says, f64 if float64 else f32)}


class DeviceOutput:
    """Hidden arrays for messages of kernels, made when the first kernel that can assert or print is launched."""

    def __init__(self, backend: Device) -> None:
        self.backend = backend
        self.integers: Buffer | None = None
        self.floats: Buffer | None = None
        self.numbers: dict[Any, int] = {}
        self.programs: dict[int, Callable[[], tree.Program]] = {}

    def arguments(self, kernel: Kernel, constants: dict[str, Any], team_size: int, types: dict[str, Any]) -> list[Any]:
        if self.integers is None:
            self.integers = self.backend.upload(np.zeros(device_messages.INTEGERS_SIZE, np.int64))
            self.floats = self.backend.allocate(
                device_messages.FLOATS_SIZE, types[device_messages.MESSAGES].floats.dtype
            )
        key = (kernel, kernel.revision, tuple(constants.values()), team_size, tuple(types.values()))
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        # The tree is needed only for messages; machine code from the cache is launched without one.
        self.programs.setdefault(number, lambda: kernel.specialise(constants, team_size, types))
        return [self.integers, self.floats, i64(number << 32)]

    def report(self) -> None:
        """Wait for all launches, print their messages and raise `KernelError` for a failed assertion."""
        assert self.integers is not None and self.floats is not None
        if not self.backend.read(self.integers, 0, device_messages.FIRST).any():
            return
        integers, floats = self.backend.download(self.integers), self.backend.download(self.floats)
        self.backend.write(self.integers, np.zeros_like(integers))
        device_messages.report_messages(integers, floats, self.programs)
