"""Launches for CUDA's driver: a block of arguments packed once, in the layout of the kernel's compiler.

numba's own launches inspect every argument each time, which takes 30 to 60 us; the driver needs 2 us.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from backends.cuda.compiler import POINTER_WORDS
from backends.cuda.memory import CudaDevice
from backends.device import Buffer, Launch


class PackedKernel:
    """A launch, its arguments in a block of 64-bit words, and the addresses of its parameters in that block.

    An array has as many parameters as the executable says (`kernel_parameters`), a number one. Variable numbers, the
    arguments at ``places``, come first in the block, so that one call of ``struct`` stores them all.
    """

    def __init__(self, backend: CudaDevice, launch: Launch, places: list[int]) -> None:
        self.backend = backend
        self.executable = launch.executable
        self.teams = launch.teams
        self.launch_kernel = backend.driver.cuLaunchKernel
        words_of_array = self.executable.array_words
        parameters = [kernel_parameters(a, backend, words_of_array) for a in launch.arguments]
        order = [*places, *(k for k in range(len(parameters)) if k not in set(places))]
        first_words = dict(zip(order, np.cumsum([0, *(len(parameters[k]) for k in order)]).tolist(), strict=False))
        block = np.array([word for k in order for word in parameters[k]] or [0], np.uint64)
        self.block, start = block.data, block.ctypes.data
        words = [first_words[k] + i for k, words in enumerate(parameters) for i in range(len(words))]
        self.pointers = np.array([start + 8 * word for word in words] or [0], np.uint64)
        self.where = self.pointers.ctypes.data
        dtypes = [launch.arguments[k].dtype for k in places]
        self.pack_into = struct.Struct("".join(f"{dtype.char}{8 - dtype.itemsize}x" for dtype in dtypes)).pack_into

    def put(self, numbers: list[Any]) -> None:
        """Store the variable numbers; the driver copied the block at earlier launches."""
        self.pack_into(self.block, 0, *numbers)

    def start(self, teams: int) -> None:
        """Queue the launch, and time it."""
        self.teams = teams
        first = self.backend.mark()
        self.act()
        self.backend.span("kernel", first)

    def act(self) -> None:
        executable = self.executable
        (status,) = self.launch_kernel(
            executable.function, self.teams, 1, 1, executable.team_size, 1, 1, executable.shared,
            self.backend.stream, self.where, 0,
        )  # fmt: skip
        if status:
            raise RuntimeError(f"{executable.name}: CUDA driver error {status.name}")


def kernel_parameters(argument: Buffer | np.generic, backend: CudaDevice, array_words: int) -> list[int]:
    """Return the words of an argument; only the low bytes of a number count.

    CUDA C++ takes the address of an array. numba's kernels take seven words: owner and parent (none on a GPU), number
    of elements, bytes of an element, address, and for its only dimension again the number of elements and the stride in
    bytes.
    """
    if isinstance(argument, Buffer):
        address = backend.address_of(argument)
        count, size = max(1, argument.size), argument.dtype.itemsize
        return [address] if array_words == POINTER_WORDS else [0, 0, count, size, address, count, size]
    word = np.zeros(1, np.uint64)
    word.view(argument.dtype)[0] = argument
    return [int(word[0])]
