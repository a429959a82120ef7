"""Reductions of a few words by GPUs of one host: special kernels write into each other's memory."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from backends.cuda import nvrtc
from backends.cuda.driver import architecture, check_driver_call
from backends.cuda.memory import CudaDevice
from backends.cuda.peer_memory import allocation_granularity, exportable_memory, peer_array
from backends.device import Buffer
from core.ranks import Ranks

MAX_MAILBOX_WORDS = 16
"""Most words of a reduction through mailboxes; longer ones go through NCCL, which distributes the work."""

KERNELS = r"""
typedef unsigned long long u64;
typedef unsigned int u32;

__device__ u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

// Before what is timed with sign -1, behind it with 1: the sum is the time between.
extern "C" __global__ void stamp(u64* spent, long long sign) { *spent += sign * nanoseconds(); }

// One block; thread r exchanges words with rank r. A 64-bit word is sent as two, each with one half of it and with the
// number of the reduction in its upper bits: a store of 64 bits arrives whole, so that no fence has to stand between a
// word and the sign of its arrival. A mailbox has space for two reductions, which is enough: a reduction needs all
// ranks, and no rank is more than one ahead.
extern "C" __global__ void allreduce(
    u64* mail, u64 capacity, u64* spent, long long rank, long long ranks, u64* words, long long count, long long least)
{
    extern __shared__ u64 received[];
    const int peer = threadIdx.x;
    const u32 number = (u32)spent[0] + 1;
    const int sent = count > 0 ? count : 1;
    u64 began = 0;
    __threadfence_system();
    __syncthreads();
    if (peer == 0) began = nanoseconds();
    for (int w = 0; w < sent; w++) {
        const u64 mine = count > 0 ? words[w] : 0;
        if (peer < ranks) {
            const u64 side = ((u64)(number & 1) * MOST + w) * ranks;
            volatile u64* to = (volatile u64*)(mail + peer * capacity) + 2 * (side + rank);
            to[0] = (u64)number << 32 | (u32)mine;
            to[1] = (u64)number << 32 | (mine >> 32);
        }
    }
    for (int w = 0; w < sent; w++) {
        if (peer < ranks) {
            const u64 side = ((u64)(number & 1) * MOST + w) * ranks;
            volatile u64* from = (volatile u64*)(mail + rank * capacity) + 2 * (side + peer);
            u64 low, high;
            do { low = from[0]; } while ((u32)(low >> 32) != number);
            do { high = from[1]; } while ((u32)(high >> 32) != number);
            received[peer] = (u64)(u32)low | high << 32;
        }
        __syncthreads();
        if (peer == 0 && count > 0) {
            u64 all = received[0];
            for (int r = 1; r < ranks; r++) all = least ? (received[r] < all ? received[r] : all) : all + received[r];
            words[w] = all;
        }
        __syncthreads();
    }
    if (peer == 0) {
        spent[0] = number;
        spent[1] += nanoseconds() - began;
    }
    __threadfence_system();
}
"""


class CollectiveKernels:
    """`KERNELS` on one device; ``spent``: reductions by mailbox so far, and nanoseconds in collectives, 2 u64."""

    def __init__(self, device: CudaDevice) -> None:
        self.device = device
        self.spent = device.upload(np.zeros(2, np.uint64))
        self.functions = load_functions(int(device.device.index))

    def launch(self, name: str, lanes: int, shared_bytes: int, values: tuple[int, ...]) -> None:
        """Queue one block of a kernel of `KERNELS`; all parameters have 64 bits."""
        from cuda.bindings import driver

        parameters = values, (ctypes.c_int64,) * len(values)
        check_driver_call(driver.cuLaunchKernel(self.functions[name], 1, 1, 1, lanes, 1, 1, shared_bytes,
                                                self.device.raw_stream, parameters, 0))  # fmt: skip

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Add the device time of the block to the time spent in collectives."""
        self.launch("stamp", 1, 0, (self.device.address_of(self.spent, 1), -1))
        yield
        self.launch("stamp", 1, 0, (self.device.address_of(self.spent, 1), 1))

    def seconds(self) -> float:
        return float(self.device.download(self.spent)[1]) * 1e-9


class Mailbox:
    """Words that GPUs of one host write into each other's memory, which all of them reach."""

    def __init__(self, kernels: CollectiveKernels, ranks: Ranks) -> None:
        from cuda.bindings import driver

        self.kernels, self.ranks, self.device = kernels, ranks, kernels.device
        size = int(ranks.size)
        self.capacity = allocation_granularity(exportable_memory(int(self.device.device.index))) // 8
        if 4 * MAX_MAILBOX_WORDS * size > self.capacity:
            raise ValueError(
                f"{size} ranks; expected at most {self.capacity // (4 * MAX_MAILBOX_WORDS)} GPUs on one host"
            )
        self.mail = peer_array(
            self.device, ranks, size * self.capacity, np.uint64, [r * self.capacity for r in range(size + 1)]
        )
        begin = self.device.address_of(self.mail, ranks.rank * self.capacity)
        stream = self.device.raw_stream
        check_driver_call(driver.cuMemsetD8Async(begin, 0, self.capacity * 8, stream))
        check_driver_call(driver.cuStreamSynchronize(stream))
        ranks.barrier()  # no rank writes into a full mailbox

    def queue(self, buffer: Buffer, start: int, count: int, operation: str) -> None:
        """Queue a reduction of ``count`` words of 64 bits; a barrier if there are none."""
        rank, size, place = int(self.ranks.rank), int(self.ranks.size), self.device.address_of
        mail, words, spent = place(self.mail), place(buffer, start), place(self.kernels.spent)
        values = (mail, self.capacity, spent, rank, size, words, count, int(operation == "least"))
        self.kernels.launch("allreduce", -(-size // 32) * 32, 8 * size, values)


def load_functions(device: int) -> dict[str, Any]:
    from cuda.bindings import driver

    module = check_driver_call(driver.cuModuleLoadData(compile_cubin(architecture(device))))
    return {
        name: check_driver_call(driver.cuModuleGetFunction(module, name.encode())) for name in ("stamp", "allreduce")
    }


def compile_cubin(architecture: str) -> bytes:
    return nvrtc.compile_cubin(f"#define MOST {MAX_MAILBOX_WORDS}\n{KERNELS}", architecture, "mailbox")
