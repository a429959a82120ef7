"""Launches as CUDA's driver takes them: a block of arguments that is packed once, in the layout of numba's kernels.

numba's launches inspect every argument each time, and take some 30 to 60 us for 2 us of the driver.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from backends.cuda.memory import CudaDevice
from backends.device import Buffer, Launch


class PackedKernel:
    """A launch, its arguments in a block of 64-bit words, and the addresses of its parameters in that block.

    To numba an array is seven parameters (`kernel_parameters`), a number is one. Numbers that may change come first in
    the block, so that one call of ``struct`` stores them all.

    Parameters
    ----------
    backend, launch
        The device, and what runs there.
    places
        Of the launch's arguments those that `put` stores.

    """

    def __init__(self, backend: CudaDevice, launch: Launch, places: list[int]) -> None:
        self.backend = backend
        self.executable = launch.executable
        self.teams = launch.teams
        self.launch_kernel = backend.driver.cuLaunchKernel
        parameters = [kernel_parameters(a, backend) for a in launch.arguments]
        order = [*places, *(k for k in range(len(parameters)) if k not in set(places))]
        first_words = dict(zip(order, np.cumsum([0, *(len(parameters[k]) for k in order)]).tolist(), strict=False))
        self.block: Any = np.array([word for k in order for word in parameters[k]] or [0], np.uint64)
        start = self.block.ctypes.data
        words = [first_words[k] + i for k, words in enumerate(parameters) for i in range(len(words))]
        self.pointers = np.array([start + 8 * word for word in words] or [0], np.uint64)
        self.where = int(self.pointers.ctypes.data)
        dtypes = [launch.arguments[k].dtype for k in places]
        self.pack_into = struct.Struct("".join(f"{one.char}{8 - one.itemsize}x" for one in dtypes)).pack_into

    def put(self, numbers: list[Any]) -> None:
        """Store the numbers that may change; the driver copied the block at earlier launches."""
        self.pack_into(self.block, 0, *numbers)

    def start(self, teams: int) -> None:
        """Queue the launch, and time it."""
        self.teams = teams
        first = self.backend.mark()
        self.act()
        self.backend.span("kernel", first)

    def act(self) -> None:
        """Queue the launch."""
        executable = self.executable
        (status,) = self.launch_kernel(
            executable.function, self.teams, 1, 1, executable.team_size, 1, 1, executable.shared,
            self.backend.stream, self.where, 0,
        )  # fmt: skip
        if status:
            raise RuntimeError(f"{executable.kernel.name}: CUDA driver error {status.name}")


def kernel_parameters(argument: Any, backend: CudaDevice) -> list[int]:
    """The words of an argument; of numbers the low bytes count.

    An array's are an owner and a parent, which it does not have on a GPU, how many elements of how many bytes, the
    address, and again for its only dimension how many and the bytes from one to the next.
    """
    if isinstance(argument, Buffer):
        count, size = max(1, argument.size), argument.dtype.itemsize
        return [0, 0, count, size, backend.address_of(argument), count, size]
    word = np.zeros(1, np.uint64)
    word.view(argument.dtype)[0] = argument
    return [int(word[0])]
