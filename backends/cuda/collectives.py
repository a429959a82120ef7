"""CUDA devices of several ranks together: NCCL in the stream of the kernels, and on one host peer memory.

Collectives are queued like kernels and become part of CUDA graphs, so that the host does not wait for them. NCCL,
through nccl4py, reduces and moves arrays, within a host and between hosts. Where every rank's GPU reaches the memory of
all others, an array can be common: one range of addresses, mapped on every GPU, whose parts lie with the ranks; and
ranks meet by words that they write into each other's memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.collectives import Collectives, Transfer
from backends.cuda.launch import check_driver_call
from backends.device import Buffer, OutOfMemory
from core.errors import UserError

if TYPE_CHECKING:
    from backends.cuda.backend import CudaBackend

PEERS, NCCL, HOST = "peers", "nccl", "host"
VARIABLE = "ONEKERNEL_CUDA_RANKS"
"""Names the best way that ranks may use, for comparisons: peers (the default), nccl or host."""
MAX_MAILBOX_WORDS = 16
"""Of a reduction through mailboxes; a longer one goes through NCCL, which shares the work out."""
DATATYPES = {"i1": 0, "u1": 1, "i4": 2, "u4": 3, "i8": 4, "u8": 5}
"""NCCL's numbers of integer types, by NumPy's names."""
OPERATIONS = {"sum": 0, "least": 3}
"""NCCL's numbers of operations."""


class CudaCollectives(Collectives):
    """Collectives of ranks that have a GPU each.

    Parameters
    ----------
    backend, ranks, groups
        See `Collectives`; the groups are one if the GPUs reach each other's memory.
    nccl
        The module ``nccl.bindings.nccl``, the same version on all ranks.

    """

    on_device = True

    def __init__(self, backend: CudaBackend, ranks: Any, groups: Sequence[int], nccl: Any) -> None:
        super().__init__(backend, ranks, groups)
        self.cuda = backend
        self.nccl = nccl
        identity = ranks.bcast(bytes(nccl.get_unique_id()) if self.rank == 0 else None)
        self.world = nccl.comm_init_rank_scalable(self.size, self.rank, 1, bytearray(identity), 0)
        self.word = backend.upload(np.zeros(1, np.uint64))
        self.spent = backend.upload(np.zeros(2, np.uint64))  # meetings by mailbox so far, nanoseconds of collectives
        self.functions = load_functions(int(backend.device.index))
        self.mailbox = Mailbox(self) if self.is_one_memory else None

    def shared_array(self, size: int, dtype: Any, bounds: Sequence[int]) -> Buffer:
        """One range of addresses for the memory of all GPUs."""
        return peer_array(self, size, dtype, bounds)

    def meet_now(self) -> None:
        if self.mailbox is not None:
            self.mailbox.queue(self.word, 0, 0, "sum")
        else:
            self.reduce_now(self.word, "sum", 0, 1)

    def reduce_now(self, buffer: Buffer, operation: str, start: int, count: int) -> None:
        if self.mailbox is not None and count <= MAX_MAILBOX_WORDS and buffer.dtype == np.uint64:
            self.mailbox.queue(buffer, start, count, operation)
            return
        pointer, kind = self.place(buffer, start), DATATYPES[buffer.dtype.str[1:]]
        with self.timed():
            self.nccl.all_reduce(pointer, pointer, count, kind, OPERATIONS[operation], self.world, self.cuda.raw_stream)

    def transfer_now(self, buffer: Buffer, transfers: Sequence[Transfer]) -> None:
        with self.timed():
            self.nccl.group_start()
            for one in transfers:
                if self.rank in (one.source, one.to):
                    self.pass_on(buffer, one)
            self.nccl.group_end()

    def send_now(self, buffer: Buffer, start: int, count: int, to: int) -> None:
        with self.timed():
            self.pass_on(buffer, Transfer(self.rank, to, start, count))

    def receive_now(self, buffer: Buffer, start: int, count: int, source: int) -> None:
        with self.timed():
            self.pass_on(buffer, Transfer(source, self.rank, start, count))

    def pass_on(self, buffer: Buffer, one: Transfer) -> None:
        """Queue this rank's side of a message."""
        pointer, size = self.place(buffer, one.start), one.length * buffer.dtype.itemsize
        sends = one.source == self.rank
        (self.nccl.send if sends else self.nccl.recv)(
            pointer, size, DATATYPES["u1"], one.to if sends else one.source, self.world, self.cuda.raw_stream
        )

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Add the time that the device spends in the block to what it has spent in collectives."""
        self.launch("stamp", 1, 0, (self.place(self.spent, 1), -1))
        yield
        self.launch("stamp", 1, 0, (self.place(self.spent, 1), 1))

    def seconds_on_device(self) -> float:
        return float(self.backend.download(self.spent)[1]) * 1e-9

    def launch(self, name: str, lanes: int, shared_bytes: int, values: tuple[int, ...]) -> None:
        """Queue one block of a kernel of `KERNELS`, all of whose parameters have 64 bits."""
        from cuda.bindings import driver

        parameters = values, (ctypes.c_int64,) * len(values)
        check_driver_call(driver.cuLaunchKernel(self.functions[name], 1, 1, 1, lanes, 1, 1, shared_bytes,
        self.cuda.raw_stream,
                                      parameters, 0))  # fmt: skip

    def place(self, buffer: Buffer, start: int) -> int:
        """The address of an element."""
        return self.cuda.address_of(buffer) + start * buffer.dtype.itemsize


def create_collectives(backend: CudaBackend, ranks: Any, links: Sequence[Any]) -> Collectives:
    """The best collectives that all ranks can have; all ranks call this.

    Parameters
    ----------
    backend, ranks
        This rank's device, and the communicator.
    links
        What every rank's `describe_link` says, with its host first.

    """
    apart = range(len(links))
    best = min((link["best"] for _, link in links), key=(HOST, NCCL, PEERS).index)
    places = {(host, link["gpu"]) for host, link in links}
    shared = len(places) < len(links)
    if best == HOST or shared or ranks.survives:
        slow = Collectives(backend, ranks, apart)
        reasons = [link["why"] for _, link in links if link["why"]]
        if ranks.survives:
            reasons = ["a GPU would wait for ever for one whose rank is lost"]
        slow.why_not_faster = "ranks share a GPU, which NCCL refuses" if shared else next(iter(reasons), "")
        return slow
    from nccl.bindings import nccl

    hosts = {host for host, _ in links}
    if best == PEERS and len(hosts) == 1:
        reaches = all(reaches_peer(backend, link["gpu"]) for _, link in links)
        if all(ranks.bcast(ranks.gather(reaches))):
            return CudaCollectives(backend, ranks, [0] * len(links), nccl)
    return CudaCollectives(backend, ranks, apart, nccl)


def describe_link(backend: CudaBackend) -> dict[str, str]:
    """What this rank tells the others of its GPU: which one it is, the best way to it, and why there is no better.

    Raises
    ------
    UserError
        The variable names no way.

    """
    best = os.environ.get(VARIABLE, PEERS)
    if best not in (PEERS, NCCL, HOST):
        raise UserError(f"{VARIABLE}: found {best!r}, expected {PEERS}, {NCCL} or {HOST}")
    why = ""
    if best != HOST:
        try:
            from nccl.bindings import nccl

            nccl.get_version()
        except Exception as error:  # whatever keeps it from loading, the host does its work
            best, why = HOST, f"nccl4py: {error}"
    return {"gpu": gpu_identity(int(backend.device.index)), "best": best, "why": why}


# --- the driver ---


def gpu_identity(index: int) -> str:
    """A GPU's identity on all hosts."""
    from cuda.bindings import driver

    return bytes(check_driver_call(driver.cuDeviceGetUuid(check_driver_call(driver.cuDeviceGet(index)))).bytes).hex()


def reaches_peer(backend: CudaBackend, gpu: str) -> bool:
    """Whether this rank's GPU can read and write the memory of another, which its process has to see."""
    from cuda.bindings import driver

    mine = int(backend.device.index)
    for index in range(check_driver_call(driver.cuDeviceGetCount())):
        if gpu_identity(index) == gpu:
            return index == mine or bool(check_driver_call(driver.cuDeviceCanAccessPeer(mine, index)))
    return False


# --- memory of several GPUs in one range of addresses ---


def peer_array(together: CudaCollectives, size: int, dtype: Any, bounds: Sequence[int]) -> Buffer:
    """Make an array whose parts lie with the ranks, at the same offsets for all of them.

    Pages lie with the rank to which most of their elements belong: bounds say where memory is near, not what is right.
    """
    backend, ranks = together.cuda, together.ranks
    item = np.dtype(dtype).itemsize
    properties = exportable_memory(int(backend.device.index))
    page = allocation_granularity(properties)
    pages = -(-size * item // page)
    cuts = [0, *(min(pages, (bound * item + page // 2) // page) for bound in bounds[1:-1]), pages]
    mine = (cuts[together.rank + 1] - cuts[together.rank]) * page
    handle, problem = None, ""
    try:
        handle = allocate_physical(properties, mine) if mine else None
    except OutOfMemory:
        problem = f"rank {together.rank}: {mine:,} bytes do not fit {backend.device.name}"
    problems = [one for one in ranks.bcast(ranks.gather(problem)) if one]
    if problems:
        raise OutOfMemory("; ".join(problems))
    handles = exchange_handles(together, handle)
    address = map_memory(handles, [cut * page for cut in cuts], int(backend.device.index))
    return backend.at_address(address, size, dtype, MappedRange(address, pages * page))


def exportable_memory(device: int) -> Any:
    """Properties of memory of a device that other processes can map."""
    from cuda.bindings import driver

    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device
    properties.requestedHandleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    return properties


def allocation_granularity(properties: Any) -> int:
    """The unit in which the driver gives such memory out."""
    from cuda.bindings import driver

    kind = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
    return int(check_driver_call(driver.cuMemGetAllocationGranularity(properties, kind)))


def allocate_physical(properties: Any, size: int) -> Any:
    """Memory of the device, not yet at any address."""
    from cuda.bindings import driver

    return check_driver_call(driver.cuMemCreate(size, properties, 0))


def exchange_handles(together: CudaCollectives, mine: Any) -> list[Any]:
    """Every rank's handle of its memory, as this process knows it; None for a rank that has none.

    A handle travels as a file descriptor, which a socket between processes of one host can carry.
    """
    from cuda.bindings import driver

    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    descriptor = None if mine is None else int(check_driver_call(driver.cuMemExportToShareableHandle(mine, kind, 0)))
    others = exchange_descriptors(together.ranks, descriptor)
    if descriptor is not None:
        os.close(descriptor)
    handles = []
    for rank, other in enumerate(others):
        if rank == together.rank or other is None:
            handles.append(mine if rank == together.rank else None)
            continue
        handles.append(check_driver_call(driver.cuMemImportFromShareableHandle(other, kind)))
        os.close(other)
    return handles


def exchange_descriptors(ranks: Any, mine: int | None) -> list[int | None]:
    """Hand a file descriptor to all other ranks of this host, and take theirs; None in place of this rank's own."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        server.bind("")  # a name of the kernel's choice, in no file system
        server.listen(ranks.size)
        everyone = ranks.bcast(ranks.gather((server.getsockname(), mine is not None)))
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
        found: list[int | None] = [None] * ranks.size
        for rank, line in lines.items():
            _, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            found[rank] = descriptors[0]
        return found


def map_memory(handles: Sequence[Any], offsets: Sequence[int], device: int) -> int:
    """Put memory at one range of addresses, which a device may read and write; returns where it begins."""
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
    """Holds a range of addresses until nobody refers to it any more; memory goes with its last mapping."""

    def __init__(self, address: int, size: int) -> None:
        weakref.finalize(self, unmap, address, size).atexit = False


def unmap(address: int, size: int) -> None:
    """Give a range of addresses back, when the device is done with it."""
    from cuda.bindings import driver

    check_driver_call(driver.cuCtxSynchronize())
    check_driver_call(driver.cuMemUnmap(address, size))
    check_driver_call(driver.cuMemAddressFree(address, size))


# --- words in each other's memory ---

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

// One block; thread r talks to rank r. A 64-bit word travels as two, each half of it with the number of the meeting in
// its upper bits: a store of 64 bits arrives whole, so that no fence has to stand between a word and the sign that it
// is there. Every rank has room for two meetings: nobody is more than one ahead, since a meeting needs all ranks.
extern "C" __global__ void meet(
    u64* mail, u64 room, u64* spent, long long rank, long long ranks, u64* words, long long count, long long least)
{
    extern __shared__ u64 heard[];
    const int other = threadIdx.x;
    const u32 number = (u32)spent[0] + 1;
    const int sent = count > 0 ? count : 1;
    u64 began = 0;
    __threadfence_system();
    __syncthreads();
    if (other == 0) began = nanoseconds();
    for (int w = 0; w < sent; w++) {
        const u64 mine = count > 0 ? words[w] : 0;
        if (other < ranks) {
            const u64 side = ((u64)(number & 1) * MOST + w) * ranks;
            volatile u64* to = (volatile u64*)(mail + other * room) + 2 * (side + rank);
            to[0] = (u64)number << 32 | (u32)mine;
            to[1] = (u64)number << 32 | (mine >> 32);
        }
    }
    for (int w = 0; w < sent; w++) {
        if (other < ranks) {
            const u64 side = ((u64)(number & 1) * MOST + w) * ranks;
            volatile u64* from = (volatile u64*)(mail + rank * room) + 2 * (side + other);
            u64 low, high;
            do { low = from[0]; } while ((u32)(low >> 32) != number);
            do { high = from[1]; } while ((u32)(high >> 32) != number);
            heard[other] = (u64)(u32)low | high << 32;
        }
        __syncthreads();
        if (other == 0 && count > 0) {
            u64 all = heard[0];
            for (int r = 1; r < ranks; r++) all = least ? (heard[r] < all ? heard[r] : all) : all + heard[r];
            words[w] = all;
        }
        __syncthreads();
    }
    if (other == 0) {
        spent[0] = number;
        spent[1] += nanoseconds() - began;
    }
    __threadfence_system();
}
"""


class Mailbox:
    """Words that GPUs of one host write into each other's memory, each while it runs a kernel of its own.

    Parameters
    ----------
    together
        The ranks' collectives.

    """

    def __init__(self, together: CudaCollectives) -> None:
        from cuda.bindings import driver

        self.together = together
        size, self.device = together.size, int(together.backend.device.index)
        self.room = allocation_granularity(exportable_memory(self.device)) // 8
        if 4 * MAX_MAILBOX_WORDS * size > self.room:
            raise ValueError(f"{size} ranks; expected at most {self.room // (4 * MAX_MAILBOX_WORDS)} GPUs on one host")
        self.mail = peer_array(together, size * self.room, np.uint64, [r * self.room for r in range(size + 1)])
        begin = together.place(self.mail, together.rank * self.room)
        stream = together.cuda.raw_stream
        check_driver_call(driver.cuMemsetD8Async(begin, 0, self.room * 8, stream))
        check_driver_call(driver.cuStreamSynchronize(stream))
        together.ranks.barrier()  # nobody writes into a mailbox that is not empty

    def queue(self, buffer: Buffer, start: int, count: int, operation: str) -> None:
        """Queue a meeting in which words of 64 bits are reduced; of no words it is a barrier."""
        one = self.together
        lanes = -(-one.size // 32) * 32
        mail, words = one.place(self.mail, 0), one.place(buffer, start)
        values = (mail, self.room, one.place(one.spent, 0), one.rank, one.size, words, count, int(operation == "least"))
        one.launch("meet", lanes, 8 * one.size, values)


def load_functions(device: int) -> dict[str, Any]:
    """The functions of `KERNELS` for a device, by name."""
    from cuda.bindings import driver

    major, minor = (
        check_driver_call(driver.cuDeviceGetAttribute(which, check_driver_call(driver.cuDeviceGet(device))))
        for which in (
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    module = check_driver_call(driver.cuModuleLoadData(compile_cubin(f"sm_{major}{minor}")))
    return {name: check_driver_call(driver.cuModuleGetFunction(module, name.encode())) for name in ("stamp", "meet")}


def compile_cubin(architecture: str) -> bytes:
    """`KERNELS` compiled by NVRTC."""
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch=architecture, define_macro=("MOST", str(MAX_MAILBOX_WORDS)))
    return bytes(Program(KERNELS, "c++", options).compile("cubin").code)
