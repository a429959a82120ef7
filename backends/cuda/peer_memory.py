"""Memory of several GPUs of one host in one range of addresses, which all of them read and write."""

from __future__ import annotations

import contextlib
import os
import socket
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from backends.cuda.driver import check_driver_call
from backends.cuda.memory import CudaDevice
from backends.device import Buffer, OutOfMemory
from core.ranks import Ranks, gather_on_all

if TYPE_CHECKING:
    from cuda.bindings.driver import CUmemAllocationProp


def gpu_identity(index: int) -> str:
    """Return an identity of a GPU that is unique over all hosts."""
    from cuda.bindings import driver

    return bytes(check_driver_call(driver.cuDeviceGetUuid(check_driver_call(driver.cuDeviceGet(index)))).bytes).hex()


def reaches_peer(device: CudaDevice, gpu: str) -> bool:
    """Return True if this rank's GPU can access the memory of another, which must be visible to the process."""
    from cuda.bindings import driver

    own_index = int(device.device.index)
    for index in range(check_driver_call(driver.cuDeviceGetCount())):
        if gpu_identity(index) == gpu:
            return index == own_index or bool(check_driver_call(driver.cuDeviceCanAccessPeer(own_index, index)))
    return False


def peer_array(
    device: CudaDevice, ranks: Ranks, size: int, dtype: np.typing.DTypeLike, bounds: Sequence[int]
) -> Buffer:
    """Make an array with a part on each rank's GPU, at the same offsets for all ranks.

    A page lies on the rank with most of its elements: bounds affect only speed, not results.
    """
    rank, index = int(ranks.rank), int(device.device.index)
    item = np.dtype(dtype).itemsize
    properties = exportable_memory(index)
    page = allocation_granularity(properties)
    pages = -(-size * item // page)
    cuts = [0, *(min(pages, (bound * item + page // 2) // page) for bound in bounds[1:-1]), pages]
    own_bytes = (cuts[rank + 1] - cuts[rank]) * page

    def allocated() -> object:
        try:
            return allocate_physical(properties, own_bytes) if own_bytes else None
        except OutOfMemory:
            raise OutOfMemory(f"rank {rank}: {own_bytes:,} bytes do not fit {device.device.name}") from None

    handles = exchange_handles(ranks, ranks.on_all(allocated, is_long=False))
    address = map_memory(handles, [cut * page for cut in cuts], index)
    return device.at_address(address, (size,), dtype, MappedRange(address, pages * page))


def exportable_memory(device: int) -> CUmemAllocationProp:
    """Return properties of device memory that other processes can map."""
    from cuda.bindings import driver

    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device
    properties.requestedHandleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    return properties


def allocation_granularity(properties: CUmemAllocationProp) -> int:
    """Return the unit in which the driver allocates such memory."""
    from cuda.bindings import driver

    kind = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
    return int(check_driver_call(driver.cuMemGetAllocationGranularity(properties, kind)))


def allocate_physical(properties: CUmemAllocationProp, size: int) -> object:
    """Allocate memory of the device without an address."""
    from cuda.bindings import driver

    return check_driver_call(driver.cuMemCreate(size, properties, 0))


def exchange_handles(ranks: Ranks, own: object) -> list[object]:
    """Return every rank's handle of its memory, valid in this process; None for a rank without memory.

    A handle is sent as a file descriptor through a socket between processes of one host.
    """
    from cuda.bindings import driver

    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    descriptor = None if own is None else int(check_driver_call(driver.cuMemExportToShareableHandle(own, kind, 0)))
    others = exchange_descriptors(ranks, descriptor)
    if descriptor is not None:
        os.close(descriptor)
    handles = []
    for rank, other in enumerate(others):
        if rank == ranks.rank or other is None:
            handles.append(own if rank == ranks.rank else None)
            continue
        handles.append(check_driver_call(driver.cuMemImportFromShareableHandle(other, kind)))
        os.close(other)
    return handles


def exchange_descriptors(ranks: Ranks, mine: int | None) -> list[int | None]:
    """Exchange file descriptors with all other ranks of this host; None in this rank's place."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        server.bind("")  # a name of the kernel's choice, in no file system
        server.listen(ranks.size)
        everyone = gather_on_all(ranks, (server.getsockname(), mine is not None))
        lines: dict[int, socket.socket] = {}
        for rank, (name, gives) in enumerate(everyone):
            if rank != ranks.rank and gives:
                lines[rank] = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
                lines[rank].connect(name)
        if mine is not None:
            for _ in range(ranks.size - 1):
                line, _ = server.accept()
                with line:
                    socket.send_fds(line, [b"m"], [mine])
        received: list[int | None] = [None] * ranks.size
        for rank, line in lines.items():
            _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            received[rank] = descriptors[0]
        return received


def map_memory(handles: Sequence[object], offsets: Sequence[int], device: int) -> int:
    """Map memory at one range of addresses that a device may read and write; returns its first address."""
    from cuda.bindings import driver

    total = offsets[-1]
    address = int(check_driver_call(driver.cuMemAddressReserve(total, 0, 0, 0)))
    for handle, begin, end in zip(handles, offsets, offsets[1:], strict=False):
        if handle is not None:
            check_driver_call(driver.cuMemMap(address + begin, end - begin, 0, handle, 0))
            check_driver_call(driver.cuMemRelease(handle))  # the mapping keeps the memory
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = device
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    check_driver_call(driver.cuMemSetAccess(address, total, [access], 1))
    return address


class MappedRange:
    """Range of addresses that is unmapped with the last reference; memory is freed with its last mapping."""

    def __init__(self, address: int, size: int) -> None:
        weakref.finalize(self, unmap, address, size).atexit = False


def unmap(address: int, size: int) -> None:
    """Unmap a range of addresses after all work of the device."""
    from cuda.bindings import driver

    check_driver_call(driver.cuCtxSynchronize())
    check_driver_call(driver.cuMemUnmap(address, size))
    check_driver_call(driver.cuMemAddressFree(address, size))
